"""A broker that is away for a while keeps a batch waiting and ends no query: tasks, their commit, and reads
in a process that has not been connected before."""

from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pyarrow as pa
import pytest
from pyspark.sql.types import BinaryType, StructField, StructType

from tests.spark.connector.reads import broker_options, stream, values
from trivium.client.door import Door
from trivium.client.errors import Unreachable
from trivium.client.idle_clusters import close_idle
from trivium.spark.connector.broker_origin import forget_origins
from trivium.spark.connector.source import TriviumDataSource
from trivium.spark.sinks.outlets import TaskPlace
from trivium.spark.sinks.topic_outlet import TopicOutlet
from trivium.spark.tables.batch import Batch
from trivium.testing import Broker

AWAY_S = 1.0


@pytest.fixture
def stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    """With a topic; and the few seconds that every call waits are over at once."""
    monkeypatch.setattr("trivium.client.cluster.UNREACHABLE_PATIENCE_S", 0.05)
    with Broker(tmp_path) as broker:
        broker.produce("out", [b"first"])
        stop(broker)
        yield broker
        close_idle()
        forget_origins()


def stop(broker: Broker) -> None:
    broker.stop()
    close_idle()
    forget_origins()


def soon(broker: Broker) -> None:
    Timer(AWAY_S, broker.start).start()


def test_task_and_commit_of_a_topic_wait_for_their_broker(stopped: Broker) -> None:
    outlet = TopicOutlet("out", Door(stopped.bootstrap))
    rows = pa.RecordBatch.from_pydict({"value": pa.array([b"second"], pa.binary())})
    soon(stopped)
    task = outlet.open(TaskPlace("q", 0, 0))
    task.write(rows)
    part = task.close()
    stop(stopped)
    soon(stopped)
    outlet.commit(Batch("shop.out", "q", 0), [part])
    reader = stream(broker_options(stopped.bootstrap, "out", **{"kafka.isolation.level": "read_committed"}))
    assert values(reader, reader.partitions({"out": {"0": 0}}, {"out": {"0": 2}})) == [b"first", b"second"]


def test_read_waits_for_its_broker(stopped: Broker) -> None:
    reader = stream(broker_options(stopped.bootstrap, "out"))
    soon(stopped)
    assert values(reader, reader.partitions({"out": {"0": 0}}, {"out": {"0": 1}})) == [b"first"]


def test_batch_is_not_begun_where_nobody_listens(stopped: Broker) -> None:
    """A wrong address is told before any task waits for it."""
    options = {"kafka.bootstrap.servers": stopped.bootstrap, "topic": "out"}
    with pytest.raises(Unreachable, match="Nothing listens"):
        TriviumDataSource(options).writer(StructType([StructField("value", BinaryType())]), False)


def test_start_does_not_wait(stopped: Broker) -> None:
    with pytest.raises(Unreachable, match="Nothing listens"):
        TopicOutlet("out", Door(stopped.bootstrap)).make_ready(None)
