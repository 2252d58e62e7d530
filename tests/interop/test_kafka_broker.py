"""A real Kafka broker boots on partitions that our log wrote, and we read on where it stopped (R11).

Kafka makes the topics, because it alone knows its metadata log; then the two write in turns.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from tests.golden.reading import read_committed, read_uncommitted
from tests.interop.kafka import Kafka
from tests.interop.our_logs import HOUR_MS, NOW, SETTINGS, Written, survivors, write

from trivium.cli.inspect_metadata import load_metadata
from trivium.log.cleaner import compact
from trivium.log.compaction_plan import plan_compaction
from trivium.log.directory import LogDirectory
from trivium.log.files import RealFiles
from trivium.log.settings import LogSettings
from trivium.messages.stored.group_log import GROUP_LOG
from trivium.messages.stored.offsets import OffsetCommitKey, OffsetCommitValue

pytestmark = pytest.mark.interop

CLUSTER_ID = "dHJpdml1bS1pbnRlcm9wMQ"

YEARS_MS = 10 * 365 * 24 * HOUR_MS

CONFIGS = {
    "append-time": {"message.timestamp.type": "LogAppendTime"},
    # Ours is compacted by our own cleaner; Kafka's has to leave it alone.
    "compacted": {"cleanup.policy": "compact", "min.compaction.lag.ms": str(YEARS_MS)},
}


@dataclass(frozen=True)
class Shared:
    """A directory after Kafka made the topics and we filled them."""

    path: Path
    written: dict[str, list[Written]]


def open_ours(path: Path) -> LogDirectory:
    return LogDirectory.open(
        RealFiles(),
        str(path),
        node_id=1,
        cluster_id=CLUSTER_ID,
        new_id=lambda: UUID(int=1),
        settings_for=lambda topic: SETTINGS.get(topic, LogSettings()),
        now_ms=NOW,
    )


def create_topics(address: str) -> None:
    topics = [NewTopic(topic, 1, 1, config=CONFIGS.get(topic, {})) for topic in SETTINGS]
    admin = AdminClient({"bootstrap.servers": address})
    for created in admin.create_topics(topics).values():
        created.result(30)


@pytest.fixture(scope="module", params=["stopped cleanly", "died"])
def shared(request: pytest.FixtureRequest, kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """Ended either way: with the mark of a clean stop, or as a dead process leaves it."""
    path = tmp_path_factory.mktemp("shared") / "data"
    path.mkdir()
    with kafka.broker(path, CLUSTER_ID) as address:
        create_topics(address)
    image = load_metadata(RealFiles(), str(path), NOW)
    assert image is not None
    directory = open_ours(path)
    written = {}
    for topic in SETTINGS:
        log = directory.logs[topic, 0]
        leader_epoch = image.topics.by_name[topic].partitions[0].leader_epoch
        written[topic] = list(write(topic, log, leader_epoch))
        log.sync()
        plan = plan_compaction(log, NOW + 100 * HOUR_MS)
        if plan is not None:
            directory.install(compact(RealFiles(), plan, NOW + 100 * HOUR_MS))
            written[topic] = survivors(written[topic], plan.offset_end)
    if request.param == "died":
        shutil.copytree(path, path.with_name("left-behind"))
        directory.close()
        path = path.with_name("left-behind")
        assert not (path / ".kafka_cleanshutdown").exists()
    else:
        directory.close()
    return Shared(path, written)


@pytest.fixture(scope="module")
def booted(kafka: Kafka, shared: Shared) -> Iterator[str]:
    with kafka.broker(shared.path, CLUSTER_ID) as address:
        yield address


def consume(address: str, topic: str, isolation_level: str) -> list[Message]:
    """Everything in a topic, read by a client of Kafka until it has reached the end."""
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "unused",
            "enable.auto.commit": False,
            "isolation.level": isolation_level,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    messages: list[Message] = []
    try:
        while (message := consumer.poll(30)) is not None:
            error = message.error()
            if error is not None:
                assert error.name() == "_PARTITION_EOF", error
                return messages
            messages.append(message)
    finally:
        consumer.close()
    raise AssertionError(f"{topic} was not read to its end")


def as_written(message: Message) -> Written:
    offset, key, value, headers = message.offset(), message.key(), message.value(), message.headers() or ()
    assert offset is not None
    return Written(offset, message.timestamp()[1], key, value, tuple(headers))  # type: ignore[arg-type]


@pytest.mark.parametrize("topic", SETTINGS)
def test_client_of_kafka_reads_every_record_that_we_wrote(booted: str, shared: Shared, topic: str) -> None:
    found = [as_written(message) for message in consume(booted, topic, "read_uncommitted")]
    assert found == [each._replace(is_committed=True) for each in shared.written[topic]]


def test_client_of_kafka_that_reads_committed_never_sees_what_we_aborted(booted: str, shared: Shared) -> None:
    found = [as_written(message) for message in consume(booted, "transactions", "read_committed")]
    assert found == [each for each in shared.written["transactions"] if each.is_committed]
    assert len(found) < len(shared.written["transactions"])


def test_we_read_every_record_that_kafka_wrote_behind_ours(
    kafka: Kafka, shared: Shared, tmp_path: Path
) -> None:
    path = tmp_path / "data"
    shutil.copytree(shared.path, path)
    with kafka.broker(path, CLUSTER_ID) as address:
        produce_behind(address)
        expected = {topic: consume(address, topic, "read_uncommitted") for topic in SETTINGS}
        committed = consume(address, "transactions", "read_committed")
    directory = open_ours(path)
    assert directory.opening.clean
    assert [recovery.notes for recovery in directory.opening.recoveries if recovery.notes] == []
    for topic, messages in expected.items():
        log = directory.logs[topic, 0]
        found = [Written(*each.record) for each in read_uncommitted(log)]
        assert found == [as_written(message) for message in messages], topic
        assert len(found) == len(shared.written[topic]) + PRODUCED[topic]
    ours = [Written(*each.record) for each in read_committed(directory.logs["transactions", 0])]
    assert ours == [as_written(message) for message in committed]
    assert committed_offset(directory) == 17
    directory.close()


PRODUCED = {"codecs": 5, "append-time": 0, "transactions": 6, "segments": 1, "compacted": 1}
"""Records that ``produce_behind`` adds."""


def produce_behind(address: str) -> None:
    """Let Kafka's own clients write behind our records: all codecs, transactions, a committed offset."""
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        producer = Producer({"bootstrap.servers": address, "compression.type": codec})
        producer.produce("codecs", b"more " * 100, codec.encode(), headers=[("codec", codec.encode())])
        assert producer.flush(30) == 0
    for commits in (True, False):
        producer = Producer({"bootstrap.servers": address, "transactional.id": "interop"})
        producer.init_transactions(30)
        producer.begin_transaction()
        for number in range(3):
            producer.produce("transactions", b"%d" % number, b"committed" if commits else b"aborted")
        producer.flush(30)
        (producer.commit_transaction if commits else producer.abort_transaction)(30)
    producer = Producer({"bootstrap.servers": address, "enable.idempotence": True})
    producer.produce("segments", b"one more", b"k1")
    producer.produce("compacted", b"one more", b"k1")
    assert producer.flush(30) == 0
    consumer = Consumer({"bootstrap.servers": address, "group.id": "interop"})
    consumer.commit(offsets=[TopicPartition("codecs", 0, 17)], asynchronous=False)
    consumer.close()


def committed_offset(directory: LogDirectory) -> int | None:
    """What the group has committed, as Kafka's coordinator wrote it down."""
    offset = None
    for _, record in read_committed(directory.logs["__consumer_offsets", 0]):
        assert record.key is not None
        key = GROUP_LOG.decode_key(record.key)
        if isinstance(key, OffsetCommitKey) and (key.group, key.topic) == ("interop", "codecs"):
            value = GROUP_LOG.decode_value(key, record.value)
            assert isinstance(value, OffsetCommitValue)
            offset = value.offset
    return offset
