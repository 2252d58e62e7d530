"""The tour's shop writes what it says through three doors, and its pipeline has no mistakes. No Spark."""

import io
from pathlib import Path

from demo.shop import CLICKS, ORDERS, Shop
from demo.summary import show_plot
from demo.tour import DOORS, PIPELINE
from rich.console import Console

from trivium.pipeline import load
from trivium.pipeline.checking import check
from trivium.testing import Broker


def test_shop_writes_everything_through_three_protocols() -> None:
    with Broker(settings=DOORS) as broker:
        said = list(Shop(broker).write())
        assert [sentence.split(":")[0] for sentence in said[:3]] == ["Kafka", "RustLog", "Iggy"]
        assert "that are no JSON" in said[3]
        assert len(broker.records("orders")) == ORDERS + 1
        assert len(broker.records("clicks")) == CLICKS


def test_pipeline_of_the_tour_has_nothing_wrong() -> None:
    assert Path(PIPELINE).exists()
    assert check(load(PIPELINE)) == []


def test_plot_has_a_bar_for_each_point() -> None:
    text = io.StringIO()
    show_plot(Console(file=text, width=100), [("10:00", 1.0), ("10:01", 2.0), ("10:02", 0.0)], "title")
    lines = text.getvalue().splitlines()
    assert [line.count("█") for line in lines] == [0, 24, 48, 0]
    assert lines[2].endswith("2.00")
