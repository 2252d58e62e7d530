"""A topic that was made anew between two runs of a flow is not taken for the one that the flow has read."""

import json
from pathlib import Path

import pytest

from trivium.client.admin_topics import delete_topics
from trivium.client.door import Door
from trivium.client.topology import TopicPartition
from trivium.pipeline import Pipeline, parquet
from trivium.pipeline.definition import Definition
from trivium.pipeline.source import TopicSource
from trivium.spark.running.beginnings import Positions, beginning
from trivium.spark.running.errors import CannotRun
from trivium.testing import Broker


def shop(folder: Path, expired: str) -> Definition:
    p = Pipeline("shop", state=str(folder / "state"))
    p.source("orders", pattern="orders.*", schema="id BIGINT", expired=expired)
    p.sql("clean", "SELECT * FROM orders", sink=parquet(str(folder / "clean")))
    return p.definition()


def start(definition: Definition, broker: Broker) -> Positions | None:
    (flow,), (source,) = definition.flows, definition.sources
    assert isinstance(source, TopicSource)
    return beginning(definition, flow, source, Door(broker.bootstrap))


def has_run(definition: Definition) -> None:
    checkpoint = Path(definition.checkpoint_of(definition.flows[0]))
    checkpoint.mkdir(parents=True, exist_ok=True)
    (checkpoint / "metadata").write_text(json.dumps({"id": "q1"}))


@pytest.mark.parametrize("expired", ["fail", "skip"])
def test_topic_made_anew_since_the_last_run_is_named(tmp_path: Path, expired: str) -> None:
    definition = shop(tmp_path, expired)
    with Broker() as broker:
        broker.produce("orders", [b"a"])
        start(definition, broker)
        has_run(definition)
        broker.produce("orders2", [b"a"])
        assert start(definition, broker) == {TopicPartition("orders", 0): 0, TopicPartition("orders2", 0): -2}
        with Door(broker.bootstrap).connect() as cluster:
            delete_topics(cluster, ["orders2"])
        broker.produce("orders2", [b"b", b"c"])
        if expired == "skip":
            assert start(definition, broker) is not None
            return
        for _ in range(2):
            with pytest.raises(CannotRun, match=r"Topic orders2 was deleted and made anew .* Reset the flow"):
                start(definition, broker)


def test_flow_that_begins_anew_takes_the_topics_as_they_are(tmp_path: Path) -> None:
    definition = shop(tmp_path, "fail")
    with Broker() as broker:
        for _ in range(2):
            broker.produce("orders", [b"a"])
            assert start(definition, broker) == {TopicPartition("orders", 0): 0}
            with Door(broker.bootstrap).connect() as cluster:
                delete_topics(cluster, ["orders"])
