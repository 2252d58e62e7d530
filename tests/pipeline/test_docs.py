"""``docs/pipelines.md``: its examples are right and equal, and its tables name every key."""

import re
from pathlib import Path

from trivium.pipeline import Definition, load
from trivium.pipeline.building import FLOW_KEYS, SOURCE_KEYS
from trivium.pipeline.checking import check
from trivium.pipeline.expectation import Otherwise
from trivium.pipeline.record_format import FormatKind
from trivium.pipeline.schema import METADATA
from trivium.pipeline.sink import SinkMode, ValueFormat
from trivium.pipeline.source import NewColumns
from trivium.pipeline.table import TableFormat

PAGE = Path(__file__).parents[2].joinpath("docs", "pipelines.md").read_text()


def example(language: str, suffix: str, folder: Path) -> Definition:
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    file = folder / f"orders{suffix}"
    file.write_text(text)
    return load(file)


def test_examples_are_right_and_say_the_same(tmp_path: Path) -> None:
    toml, python = example("toml", ".toml", tmp_path), example("python", ".py", tmp_path)
    assert check(toml) == check(python) == []
    assert toml.sources == python.sources
    for one, other in zip(toml.flows, python.flows, strict=True):
        assert (one.name, one.expectations, one.sink, one.trigger) == (
            other.name,
            other.expectations,
            other.sink,
            other.trigger,
        )


def test_page_names_every_key_and_word() -> None:
    prose = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
    words = set(re.findall(r"[a-z_-]+", " ".join(re.findall(r"`[^`]+`", prose))))
    assert set(SOURCE_KEYS) | set(FLOW_KEYS) <= words
    assert set(METADATA.names) <= words
    for choices in (FormatKind, TableFormat, ValueFormat, NewColumns, Otherwise):
        assert {str(each) for each in choices} <= words
    assert str(SinkMode.UPSERT) in words
