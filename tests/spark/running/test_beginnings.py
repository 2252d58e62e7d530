"""A topic that was made anew between two runs of a flow is not taken for the one that the flow has read."""

import json
from pathlib import Path

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from tests.spark.connector.reads import DEFAULT, schema, values
from trivium.client.admin_topics import delete_topics
from trivium.client.door import Door
from trivium.client.topology import TopicPartition
from trivium.pipeline import Pipeline, parquet
from trivium.pipeline.definition import Definition
from trivium.pipeline.source import Expired, TopicSource
from trivium.spark.connector.errors import MadeAnew
from trivium.spark.running.beginnings import Positions, beginning, topics_file
from trivium.spark.running.errors import CannotRun
from trivium.spark.running.topics import FILE_OPTION, TopicsOfFlow
from trivium.spark.running.topics_reader import TopicsReader, kept_ids
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


def reader(definition: Definition, broker: Broker) -> TopicsReader:
    (flow,), (source,) = definition.flows, definition.sources
    assert isinstance(source, TopicSource)
    options = {
        "kafka.bootstrap.servers": broker.bootstrap,
        "subscribepattern": "orders.*",
        "startingoffsets": "earliest",
        "failondataloss": str(source.expired is not Expired.SKIP),
        FILE_OPTION: topics_file(definition, flow, source),
    }
    return TopicsOfFlow(options).streamReader(schema(*DEFAULT))


@pytest.mark.parametrize("expired", ["fail", "skip"])
def test_topic_made_anew_since_the_last_run_is_named(tmp_path: Path, expired: str) -> None:
    definition = shop(tmp_path, expired)
    with Broker() as broker:
        broker.produce("orders", [b"a"])
        start(definition, broker)
        has_run(definition)
        broker.produce("orders2", [b"a"])
        assert start(definition, broker) == {TopicPartition("orders", 0): 0, TopicPartition("orders2", 0): -2}
        reader(definition, broker).latestOffset({"orders": {"0": 1}, "orders2": {"0": 1}}, ReadAllAvailable())
        with Door(broker.bootstrap).connect() as cluster:
            delete_topics(cluster, ["orders2"])
        broker.produce("orders2", [b"b", b"c"])
        if expired == "skip":
            assert start(definition, broker) is not None
            return
        for _ in range(2):
            with pytest.raises(CannotRun, match=r"Topic orders2 was deleted and made anew .* Reset the flow"):
                start(definition, broker)


def remake(broker: Broker, topic: str, *values: bytes) -> None:
    with Door(broker.bootstrap).connect() as cluster:
        delete_topics(cluster, [topic])
    broker.produce(topic, list(values))


@pytest.mark.parametrize("count", [1, 3, 5])
def test_topic_made_anew_is_read_from_its_beginning_where_that_is_wanted(tmp_path: Path, count: int) -> None:
    """Whatever its length; and each time until Spark has written down that it went back."""
    definition, everything = shop(tmp_path, "skip"), ReadAllAvailable()
    with Broker() as broker:
        broker.produce("orders", [b"a", b"b", b"c"])
        first = reader(definition, broker)
        read = first.latestOffset(first.initialOffset(), everything)
        remake(broker, "orders", *[b"%d" % number for number in range(count)])
        for _ in range(2):  # Killed before Spark wrote down the answer, it asks with the old offsets again.
            again = reader(definition, broker)
            for _ in range(2):
                assert again.latestOffset(read, everything) == {"orders": {"0": 0}}
        assert reader(definition, broker).latestOffset({"orders": {"0": 0}}, everything) == {
            "orders": {"0": count}
        }
        end = reader(definition, broker).latestOffset({"orders": {"0": count}}, everything)
        assert end == {"orders": {"0": count}}, "it goes back once"


def test_batch_that_is_done_again_takes_nothing_from_a_topic_made_anew(tmp_path: Path) -> None:
    """Killed between the plan of a batch and its end; what the new topic has comes once, behind it."""
    everything, planned = ReadAllAvailable(), {"orders": {"0": 3}}
    with Broker() as broker:
        broker.produce("orders", [b"a", b"b", b"c"])
        definition = shop(tmp_path, "skip")
        first = reader(definition, broker)
        begin = first.initialOffset()
        assert first.latestOffset(begin, everything) == planned
        assert values(reader(definition, broker), first.partitions(begin, planned)) == [b"a", b"b", b"c"]
        remake(broker, "orders", b"d", b"e", b"f", b"g")
        again = reader(definition, broker)
        assert values(again, again.partitions(begin, planned)) == []
        assert again.latestOffset(planned, everything) == begin
        end = again.latestOffset(begin, everything)
        assert values(again, again.partitions(begin, end)) == [b"d", b"e", b"f", b"g"]
        remake(broker, "orders", b"h")
        strict = reader(shop(tmp_path, "fail"), broker)
        with pytest.raises(MadeAnew, match="Topic orders was deleted and made anew before orders-0"):
            values(strict, strict.partitions(begin, end))


def test_readers_of_one_source_go_back_each_from_where_it_is(tmp_path: Path) -> None:
    """A query that reads a source twice looks at its ends twice; a record may have come in between."""
    definition, everything = shop(tmp_path, "skip"), ReadAllAvailable()
    with Broker() as broker:
        broker.produce("orders", [b"a", b"b"])
        early, late = reader(definition, broker), reader(definition, broker)
        begin = early.initialOffset()
        assert late.initialOffset() == begin
        left = [early.latestOffset(begin, everything)]
        broker.produce("orders", [b"c"])
        left.append(late.latestOffset(begin, everything))
        assert left == [{"orders": {"0": 2}}, {"orders": {"0": 3}}]
        remake(broker, "orders", *[b"%d" % number for number in range(5)])
        assert reader(definition, broker).latestOffset(left[0], everything) == begin
        again = [reader(definition, broker), reader(definition, broker)]
        for each, at in zip(again, left, strict=True):
            assert each.latestOffset(at, everything) == begin
        for each in (*again, reader(definition, broker), reader(definition, broker)):
            assert each.latestOffset(begin, everything) == {"orders": {"0": 5}}
            assert each.latestOffset({"orders": {"0": 5}}, everything) == {"orders": {"0": 5}}


@pytest.mark.parametrize("topic", ["orders", "ids"])
def test_state_of_an_older_version_tells_a_topic_made_anew(tmp_path: Path, topic: str) -> None:
    definition = shop(tmp_path, "fail")
    (flow,), (source,) = definition.flows, definition.sources
    assert isinstance(source, TopicSource)
    file = Path(topics_file(definition, flow, source))
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({topic: "0f" * 16}))
    assert kept_ids(str(file)).is_other(topic, bytes(16))
    assert not kept_ids(str(file)).is_other(topic, b"\x0f" * 16)


def test_flow_that_begins_anew_takes_the_topics_as_they_are(tmp_path: Path) -> None:
    definition = shop(tmp_path, "fail")
    with Broker() as broker:
        for _ in range(2):
            broker.produce("orders", [b"a"])
            assert start(definition, broker) == {TopicPartition("orders", 0): 0}
            with Door(broker.bootstrap).connect() as cluster:
                delete_topics(cluster, ["orders"])
