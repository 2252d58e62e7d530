"""Writers as Spark uses them, without Spark: rows become records, each batch of a stream counts once (R19).

What arrives is read by a Kafka client, which sees committed records only.
"""

import pickle
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as Place

from tests.spark.connector.reads import lower, schema
from trivium.client.idle_clusters import close_idle
from trivium.client.partitioner import partition_for
from trivium.client.query_batches import abort_leftovers, last_batch
from trivium.records.arrow import SCHEMA
from trivium.spark.connector import topic_writer
from trivium.spark.connector.errors import BadOption, ConnectorError
from trivium.spark.connector.source import TriviumDataSource
from trivium.spark.connector.topic_writer import Sent
from trivium.testing import Broker

PARTITIONS = 3
DEADLINE_S = 60.0


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


@pytest.fixture
def topic(broker: Broker, request: pytest.FixtureRequest) -> str:
    name = str(request.node.name).replace("[", "-").replace("]", "")
    broker.create_topic(name, PARTITIONS)
    return name


@pytest.fixture(autouse=True)
def _no_connections_are_left() -> Iterator[None]:
    yield
    close_idle()


@pytest.fixture
def task(topic: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Say which task writes next, and in which run of the query, which has the topic's name."""

    def become(number: int, run: str = "first") -> None:
        said = {"sql.streaming.queryId": topic, "spark.jobGroup.id": run}
        context = SimpleNamespace(partitionId=lambda: number, getLocalProperty=said.get)
        monkeypatch.setattr("pyspark.TaskContext.get", lambda: context)

    become(0)
    return become


def rows(**columns: list[Any]) -> pa.RecordBatch:
    fields = [SCHEMA.field(name) for name in columns]
    return pa.RecordBatch.from_arrays(
        [pa.array(columns[each.name], each.type) for each in fields], schema=pa.schema(fields)
    )


def source(broker: Broker, **options: object) -> TriviumDataSource:
    return TriviumDataSource(lower({"kafka.bootstrap.servers": broker.bootstrap, **options}))


def write(writer: Any, *batches: pa.RecordBatch) -> Sent:
    """On an executor, from where the message comes back pickled."""
    message = pickle.loads(pickle.dumps(writer)).write(iter(batches))
    sent: Sent = pickle.loads(pickle.dumps(message))
    return sent


def committed(broker: Broker, topic: str) -> list[Any]:
    """What a consumer with isolation.level=read_committed sees, up to the end of each partition."""
    settings = {
        "bootstrap.servers": broker.bootstrap,
        "group.id": "unused",
        "isolation.level": "read_committed",
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
    }
    consumer = Consumer(settings)
    try:
        consumer.assign([Place(topic, partition, 0) for partition in range(PARTITIONS)])
        found, ended = [], 0
        while ended < PARTITIONS:
            message = consumer.poll(DEADLINE_S)
            assert message is not None, "nothing came"
            if message.error():
                ended += 1
            else:
                found.append(message)
        return found
    finally:
        consumer.close()


def values(broker: Broker, topic: str) -> list[bytes]:
    return sorted(message.value() for message in committed(broker, topic))


def test_rows_become_records_with_keys_hashed_as_kafka_does(broker: Broker, topic: str) -> None:
    keys = [b"%d" % number for number in range(100)]
    batch = rows(
        key=keys,
        value=[b"v" + key for key in keys],
        headers=[[{"key": "h", "value": b"1"}]] * 50 + [None] * 50,
        offset=[7] * 100,
    )
    writer = source(broker, topic=topic).writer(schema("key", "value", "headers", "offset"), False)
    writer.commit([write(writer, batch.slice(0, 30), batch.slice(30))])
    found = committed(broker, topic)
    assert sorted(message.key() for message in found) == sorted(keys)
    for message in found:
        assert message.value() == b"v" + message.key()
        assert message.partition() == partition_for(message.key(), PARTITIONS)
        assert message.headers() == ([("h", b"1")] if int(message.key()) < 50 else None)


def test_columns_say_topic_and_partition(broker: Broker, topic: str) -> None:
    other = f"{topic}-other"
    broker.create_topic(other, PARTITIONS)
    batch = rows(
        value=[b"a", b"b", b"c", None],
        key=[b"k", None, b"k", b"k"],
        topic=[topic, topic, other, topic],
        partition=[2, 1, None, 0],
    )
    write(source(broker).writer(schema("key", "value", "topic", "partition"), False), batch)
    placed = {
        (m.topic(), m.partition(), m.value()) for name in (topic, other) for m in committed(broker, name)
    }
    assert placed == {
        (topic, 2, b"a"),
        (topic, 1, b"b"),
        (other, partition_for(b"k", PARTITIONS), b"c"),
        (topic, 0, None),
    }


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"value": [b"a"], "partition": [3]}, "There is no partition 3 in topic .*: it has 3"),
        ({"value": [b"a"], "headers": [[None]]}, "A row cannot be written to .*: a header that is null"),
        ({"value": [b"a"], "topic": [None]}, "A row has no topic"),
    ],
    ids=["partition", "header", "topic"],
)
def test_row_that_is_no_record_is_said_in_a_sentence(
    broker: Broker, topic: str, columns: dict[str, list[Any]], sentence: str
) -> None:
    options = {} if "topic" in columns else {"topic": topic}
    writer = source(broker, **options).writer(schema(*columns), False)
    with pytest.raises(ConnectorError, match=sentence):
        write(writer, rows(**columns))


@pytest.mark.usefixtures("task")
def test_large_rows_go_in_several_batches_compressed(broker: Broker, topic: str) -> None:
    options = {"topic": topic, "kafka.compression.type": "lz4"}
    large = rows(value=[b"%06d" % number * 10_000 for number in range(60)])
    writer = source(broker, **options).streamWriter(schema("value"), False)
    writer.commit([write(writer, large)], 0)
    assert values(broker, topic) == sorted(large.column("value").to_pylist())


def test_batch_of_a_stream_counts_once_and_together(
    broker: Broker, topic: str, task: Callable[..., None]
) -> None:
    """R19: tasks of one batch count together; a batch that is done again after a crash counts once."""
    writer = source(broker, topic=topic).streamWriter(schema("value"), False)

    def attempt(batch: int, tasks: int = 2, run: str = "first") -> list[Any]:
        done = []
        for number in range(tasks):
            task(number, run)
            done.append(write(writer, rows(value=[b"%d-%d" % (batch, number)])))
        return done

    first = attempt(0)
    assert values(broker, topic) == []
    writer.commit([*first, Sent(), None], 0)
    assert values(broker, topic) == [b"0-0", b"0-1"]

    writer.commit(attempt(0), 0)  # The driver died before Spark noted the commit: all of it again.
    assert values(broker, topic) == [b"0-0", b"0-1"]

    attempt(1, tasks=3)  # The driver died before the commit, and the next run has fewer tasks.
    writer.commit(attempt(1, run="second"), 1)
    assert values(broker, topic) == [b"0-0", b"0-1", b"1-0", b"1-1"]
    with broker._connect() as cluster:
        assert last_batch(cluster, topic) == 1
        assert abort_leftovers(cluster, topic) == [], "the third task's transaction would hold back readers"

    failed = attempt(2, tasks=3, run="second")
    writer.abort([*failed[:2], None], 2)  # Spark has no message of a task that has failed.
    writer.commit([], 3)
    assert values(broker, topic) == [b"0-0", b"0-1", b"1-0", b"1-1"]
    writer.commit(attempt(3, tasks=1, run="second"), 3)
    assert values(broker, topic) == [b"0-0", b"0-1", b"1-0", b"1-1", b"3-0"]
    with broker._connect() as cluster:
        assert abort_leftovers(cluster, topic) == [], "what the failed task has written holds back readers"


@pytest.mark.usefixtures("task")
def test_broker_without_batches_of_queries_is_written_at_least_once(
    broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topic_writer, "offers_batches", lambda _cluster: False)
    writer = source(broker, topic=topic).streamWriter(schema("value"), False)
    assert write(writer, rows(value=[b"a"])) == Sent()
    assert values(broker, topic) == [b"a"]
    strict = source(broker, topic=topic, deliveryGuarantee="exactly-once")
    with pytest.raises(BadOption, match="does not commit batches of queries"):
        write(strict.streamWriter(schema("value"), False), rows(value=[b"b"]))


@pytest.mark.usefixtures("task")
def test_at_least_once_on_request_is_seen_at_once(broker: Broker, topic: str) -> None:
    options = {"topic": topic, "deliveryGuarantee": "at-least-once", "kafka.acks": "1"}
    writer = source(broker, **options).streamWriter(schema("value"), False)
    assert write(writer, rows(value=[b"a"])) == Sent()
    assert values(broker, topic) == [b"a"]
