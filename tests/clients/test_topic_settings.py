"""What a topic's settings do to those who write and read it, changed under a producer at work."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from trivium.records.batch import iter_batches
from trivium.records.compression import Compression
from trivium.testing.broker import Broker

PATIENCE_SECONDS = 20
HOUR_MS = 3_600_000


class Topic:
    """A topic of one partition with everything that is needed to change, write and look at it."""

    def __init__(self, broker: Broker, data: Path, name: str) -> None:
        self._name = name
        self._directory = data / f"{name}-0"
        self._admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        self._bootstrap = broker.bootstrap
        self._producer = Producer({"bootstrap.servers": broker.bootstrap, "acks": "all", "retries": 0})
        broker.create_topic(name, 1)

    def set(self, name: str, value: str) -> None:
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, self._name, incremental_configs=[entry])
        for future in self._admin.incremental_alter_configs([resource]).values():
            future.result(PATIENCE_SECONDS)

    def write(self, value: bytes, key: bytes | None = b"k", timestamp_ms: int = 0) -> str | None:
        """None, or the name of the error that the producer was told."""
        errors: list[KafkaError | None] = []
        self._producer.produce(
            self._name, value, key, timestamp=timestamp_ms, on_delivery=lambda error, _: errors.append(error)
        )
        assert self._producer.flush(PATIENCE_SECONDS) == 0
        return None if errors[0] is None else errors[0].name()

    def first(self) -> Message:
        consumer = Consumer({"bootstrap.servers": self._bootstrap, "group.id": "reader"})
        try:
            consumer.assign([TopicPartition(self._name, 0, 0)])
            message = consumer.poll(PATIENCE_SECONDS)
            assert message is not None
            assert message.error() is None
            return message
        finally:
            consumer.close()

    def start_offset(self) -> int:
        consumer = Consumer({"bootstrap.servers": self._bootstrap, "group.id": "reader"})
        try:
            return int(consumer.get_watermark_offsets(TopicPartition(self._name, 0), PATIENCE_SECONDS)[0])
        finally:
            consumer.close()

    def segments(self) -> list[Path]:
        return sorted(self._directory.glob("*.log"))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def broker(data: Path) -> Iterator[Broker]:
    quick = {"log.initial.task.delay.ms": 10, "log.retention.check.interval.ms": 10}
    with Broker(data, quick) as made:
        yield made


@pytest.fixture
def topic(broker: Broker, data: Path, request: pytest.FixtureRequest) -> Topic:
    return Topic(broker, data, request.node.name)


def wait_until(has_happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not has_happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def test_max_message_bytes_refuses_what_is_larger(topic: Topic) -> None:
    assert topic.write(bytes(5000)) is None
    topic.set("max.message.bytes", "1000")
    assert topic.write(bytes(5000)) == "MSG_SIZE_TOO_LARGE"
    assert topic.write(bytes(500)) is None


def test_message_timestamp_type_makes_the_clock_of_the_broker_count(topic: Topic) -> None:
    topic.set("message.timestamp.type", "LogAppendTime")
    assert topic.write(b"v", timestamp_ms=1_000_000) is None
    kind, timestamp_ms = topic.first().timestamp()
    assert kind == TIMESTAMP_LOG_APPEND_TIME
    assert timestamp_ms != 1_000_000


def test_message_timestamp_after_max_ms_refuses_the_future(topic: Topic) -> None:
    in_half_an_hour = now_ms() + HOUR_MS // 2
    assert topic.write(b"v", timestamp_ms=in_half_an_hour) is None
    topic.set("message.timestamp.after.max.ms", "1000")
    assert topic.write(b"v", timestamp_ms=in_half_an_hour) == "INVALID_TIMESTAMP"


def test_message_timestamp_before_max_ms_refuses_the_past(topic: Topic) -> None:
    an_hour_ago = now_ms() - HOUR_MS
    assert topic.write(b"v", timestamp_ms=an_hour_ago) is None
    topic.set("message.timestamp.before.max.ms", "1000")
    assert topic.write(b"v", timestamp_ms=an_hour_ago) == "INVALID_TIMESTAMP"


def test_compression_type_compresses_what_came_uncompressed(topic: Topic) -> None:
    topic.set("compression.type", "zstd")
    assert topic.write(bytes(1000)) is None
    stored = topic.segments()[0].read_bytes()
    assert [header.compression for _, header in iter_batches(stored)] == [Compression.ZSTD]
    assert topic.first().value() == bytes(1000)


def test_min_insync_replicas_asks_no_more_than_the_partition_has(topic: Topic) -> None:
    """As Kafka does since 4.0: a topic with one replica is not stopped by a default for three."""
    topic.set("min.insync.replicas", "2")
    assert topic.write(b"v") is None


def test_cleanup_policy_compact_refuses_records_without_key(topic: Topic) -> None:
    assert topic.write(b"v", key=None) is None
    topic.set("cleanup.policy", "compact")
    assert topic.write(b"v", key=None) == "INVALID_RECORD"


def test_segment_bytes_begins_a_new_segment(topic: Topic) -> None:
    for _ in range(2):
        assert topic.write(bytes(800_000)) is None
    assert len(topic.segments()) == 1
    topic.set("segment.bytes", "1048576")
    assert topic.write(bytes(800_000)) is None
    assert len(topic.segments()) == 2


def test_segment_ms_begins_a_new_segment(topic: Topic) -> None:
    begun_ms = now_ms() - HOUR_MS
    topic.write(b"v", timestamp_ms=begun_ms)
    topic.write(b"v", timestamp_ms=begun_ms + 5000)
    assert len(topic.segments()) == 1
    topic.set("segment.ms", "1000")
    topic.write(b"v", timestamp_ms=begun_ms + 6000)
    assert len(topic.segments()) > 1


def test_retention_ms_lets_old_records_go(topic: Topic) -> None:
    assert topic.write(b"v", timestamp_ms=now_ms() - HOUR_MS) is None
    assert topic.start_offset() == 0
    topic.set("retention.ms", "1000")
    wait_until(lambda: topic.start_offset() == 1)


def test_retention_bytes_lets_what_is_too_much_go(topic: Topic) -> None:
    topic.set("segment.bytes", "1048576")
    for _ in range(3):
        assert topic.write(bytes(800_000)) is None
    assert topic.start_offset() == 0
    topic.set("retention.bytes", "1000000")
    wait_until(lambda: topic.start_offset() > 0)
