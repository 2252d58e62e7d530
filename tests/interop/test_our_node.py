"""A directory that our node made from nothing is booted by a real Kafka, and then by us again (R11, 001.22).

Everything goes over the wire: topics, records, settings and committed offsets are made by clients of one
broker and found by clients of the other.
"""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType
from confluent_kafka.cimpl import NewTopic
from tests.interop.kafka import Kafka

from trivium.log.names import parse_metadata_snapshot
from trivium.testing import Broker

pytestmark = pytest.mark.interop

SETTINGS = {"offsets.topic.num.partitions": "1", "num.partitions": "1"}

SNAPSHOT_SECONDS = 30
"""A node asks itself every ten whether the metadata should be summed up."""

Values = dict[str, list[bytes]]


def admin(address: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": address})


def create(address: str, topic: str, partitions: int = 1, **config: str) -> None:
    settings = {name.replace("_", "."): value for name, value in config.items()}
    client = admin(address)
    for created in client.create_topics([NewTopic(topic, partitions, 1, config=settings)]).values():
        created.result(30)


def delete(address: str, topic: str) -> None:
    client = admin(address)
    client.delete_topics([topic])[topic].result(30)


def produce(address: str, topic: str, *values: bytes, **options: str) -> None:
    producer = Producer({"bootstrap.servers": address, **options})
    for value in values:
        producer.produce(topic, value, b"key")
    assert producer.flush(30) == 0


def commit(address: str, topic: str, offset: int) -> None:
    consumer = Consumer({"bootstrap.servers": address, "group.id": "readers"})
    consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    consumer.close()


def committed(address: str, topic: str) -> int:
    consumer = Consumer({"bootstrap.servers": address, "group.id": "readers"})
    try:
        offset = consumer.committed([TopicPartition(topic, 0)], timeout=30)[0].offset
        assert isinstance(offset, int)
        return offset
    finally:
        consumer.close()


def consume(address: str, topic: str) -> list[bytes]:
    """Everything in the first partition."""
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "unused",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    values: list[bytes] = []
    try:
        while (message := consumer.poll(30)) is not None:
            error = message.error()
            if error is not None:
                assert error.name() == "_PARTITION_EOF", error
                return values
            value = message.value()
            assert value is not None
            values.append(value)
    finally:
        consumer.close()
    raise AssertionError(f"{topic} was not read to its end")


def setting(address: str, topic: str, name: str) -> str | None:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    client = admin(address)
    entries = client.describe_configs([resource])[resource].result(30)
    value = entries[name].value
    assert value is None or isinstance(value, str)
    return value


def alter(address: str, topic: str, name: str, value: str) -> None:
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    client = admin(address)
    client.incremental_alter_configs([resource])[resource].result(30)


def topics(address: str) -> dict[str, int]:
    """Topics by name, with the number of their partitions that have a leader."""
    found = admin(address).list_topics(timeout=30).topics
    return {
        name: sum(partition.leader >= 0 for partition in topic.partitions.values())
        for name, topic in found.items()
        if not name.startswith("__")
    }


@pytest.fixture(scope="module", params=["stopped cleanly", "died", "with a snapshot"])
def ours(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What our node made of an empty directory."""
    data = tmp_path_factory.mktemp("ours") / "data"
    settings = dict(SETTINGS)
    if request.param == "with a snapshot":
        settings["metadata.log.max.record.bytes.between.snapshots"] = "1"
        settings["metadata.max.retention.bytes"] = "0"
    broker = Broker(data=data, settings=settings)
    broker.start()
    address = broker.bootstrap
    create(address, "orders", 3, retention_ms="-1")
    create(address, "state", cleanup_policy="compact")
    create(address, "gone")
    produce(address, "orders", *(b"%d" % number for number in range(100)), **{"compression.type": "lz4"})
    produce(address, "state", b"first", b"second", **{"enable.idempotence": "true"})
    produce(address, "gone", b"gone")
    commit(address, "orders", 5)
    alter(address, "state", "segment.ms", "123456")
    delete(address, "gone")
    create(address, "gone", 2)
    if request.param == "died":
        broker.kill()
    else:
        if request.param == "with a snapshot":
            wait_for_snapshot(data)
        broker.stop()
    return data


def wait_for_snapshot(data: Path) -> None:
    until = time.monotonic() + SNAPSHOT_SECONDS
    while time.monotonic() < until:
        names = [path.name for path in (data / "__cluster_metadata-0").iterdir()]
        if any(parse_metadata_snapshot(name) for name in names) and f"{0:020d}.log" not in names:
            return
        time.sleep(0.1)
    raise AssertionError("no snapshot was taken")


@pytest.fixture(scope="module")
def before(ours: Path) -> Values:
    """Every record as our own node gives it."""
    with Broker(data=ours, settings=SETTINGS) as broker:
        return {topic: consume(broker.bootstrap, topic) for topic in ("orders", "state", "gone")}


@pytest.fixture(scope="module")
def booted(kafka: Kafka, ours: Path, before: Values) -> Iterator[str]:
    with kafka.broker(ours, "unused: the directory has its own") as address:
        yield address


def test_kafka_finds_topics_records_settings_and_offsets(booted: str, before: Values) -> None:
    assert topics(booted) == {"orders": 3, "state": 1, "gone": 2}
    assert {topic: consume(booted, topic) for topic in before} == before
    assert before["state"] == [b"first", b"second"]
    assert before["gone"] == []
    assert committed(booted, "orders") == 5
    assert setting(booted, "orders", "retention.ms") == "-1"
    assert setting(booted, "state", "cleanup.policy") == "compact"
    assert setting(booted, "state", "segment.ms") == "123456"


def test_we_go_on_where_kafka_stopped(kafka: Kafka, ours: Path, before: Values, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(ours, data)
    with kafka.broker(data, "unused") as address:
        create(address, "from-kafka")
        produce(address, "from-kafka", b"hello")
        produce(address, "state", b"third")
        commit(address, "orders", 7)
        alter(address, "orders", "retention.ms", "86400000")
        everything = {topic: consume(address, topic) for topic in topics(address)}
    with Broker(data=data, settings=SETTINGS) as broker:
        assert {topic: consume(broker.bootstrap, topic) for topic in topics(broker.bootstrap)} == everything
        assert everything["state"] == [b"first", b"second", b"third"]
        assert committed(broker.bootstrap, "orders") == 7
        assert setting(broker.bootstrap, "orders", "retention.ms") == "86400000"
        produce(broker.bootstrap, "from-kafka", b"goodbye")
        assert consume(broker.bootstrap, "from-kafka") == [b"hello", b"goodbye"]


def test_kafkas_dump_tool_reads_our_metadata_and_its_snapshots(kafka: Kafka, ours: Path) -> None:
    metadata = ours / "__cluster_metadata-0"
    files = [*metadata.glob("*.log"), *metadata.glob("*.checkpoint")]
    text = kafka.dump("--cluster-metadata-decoder", files=files)
    assert "REGISTER_BROKER_RECORD" in text
    assert '"name":"metadata.version","featureLevel":30' in text
