"""Our node on a directory that a real Kafka wrote, named by its ``server.properties`` (001.22-001.43, R11).

What clients of Kafka saw there, clients see here: topics and their ids, every record, settings, groups.
"""

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Consumer, IsolationLevel, Message, Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, ConfigSource, OffsetSpec, ResourceType

from tests.golden.recording import Recording, unpack
from tests.server.wire import Peer
from trivium.log.files import RealFiles
from trivium.messages.api import ApiKey
from trivium.messages.api.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from trivium.server.clock import SystemClock
from trivium.server.configuration.configuration import Protocol
from trivium.server.configuration.loading import load
from trivium.testing.node_thread import NodeThread

SECONDS_MAX = 30
STOPPED_AT_MS = 1_794_780_400_000
"""When the recording was over. A transaction was left open, with a day to live: it must not time out here."""
LEFT_OUT = "big-segments"
"""Known to the metadata of the recording, but its partition is too large to be kept with the tests."""

PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@localhost:9093
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:9093
inter.broker.listener.name=PLAINTEXT
log.dirs={data}
log.retention.ms=-1
num.network.threads=3
"""


class Booted(NamedTuple):
    address: str
    recording: Recording


@pytest.fixture(scope="module", params=["clean", "killed"])
def booted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Booted]:
    path = tmp_path_factory.mktemp(request.param)
    recording = unpack(request.param, path)
    properties = path / "server.properties"
    properties.write_text(PROPERTIES.format(data=recording.data))
    off = {f"listen.{name}": "off" for name in ("iggy", "rustlog", "console")}
    thread = NodeThread(load(properties, {}, off), RealFiles(), lambda _node, _loop: None)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(SystemClock, "wall_ms", lambda _clock: STOPPED_AT_MS)
        node = thread.start()
        try:
            yield Booted(str(node.addresses[Protocol.KAFKA][0]), recording)
        finally:
            thread.stop()


def admin(booted: Booted) -> AdminClient:
    return AdminClient({"bootstrap.servers": booted.address, "log_level": 2})


Key = tuple[str, int]


def read(address: str, starts: dict[Key, int], isolation_level: str) -> dict[Key, list[Message]]:
    """Everything from these offsets to the ends of the partitions, as a consumer gets it."""
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "unused",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": isolation_level,
            "log_level": 2,
        }
    )
    consumer.assign([TopicPartition(*key, start) for key, start in starts.items()])
    messages: dict[Key, list[Message]] = {key: [] for key in starts}
    unread = set(starts)
    try:
        while unread:
            message = consumer.poll(SECONDS_MAX)
            assert message is not None, f"{unread} were not read to their ends"
            topic, partition, error = message.topic(), message.partition(), message.error()
            assert topic is not None
            assert partition is not None
            if error is None:
                messages[topic, partition].append(message)
            else:
                assert error.name() == "_PARTITION_EOF", error
                unread.discard((topic, partition))
    finally:
        consumer.close()
    return messages


def hexed(value: bytes | None) -> Any:
    """As the manifest spells it: long values by their length and checksum."""
    if value is None or len(value) <= 600:
        return None if value is None else value.hex()
    return (len(value), zlib.crc32(value))


def spelled(value: Any) -> Any:
    return (value["length"], value["crc32"]) if isinstance(value, dict) else value


def partitions(recording: Recording) -> list[tuple[str, int, dict[str, Any]]]:
    return [
        (topic, partition, seen)
        for (topic, partition), seen in recording.partitions()
        if topic != LEFT_OUT and not topic.startswith("__")
    ]


def test_topics_are_there_with_their_ids_and_all_are_led(booted: Booted) -> None:
    """001.28, 001.30."""
    found = admin(booted).list_topics(timeout=SECONDS_MAX).topics
    expected = booted.recording.manifest["topics"]
    assert set(found) == set(expected)
    for name, topic in found.items():
        assert name == LEFT_OUT or len(topic.partitions) == len(expected[name]["partitions"])
        assert {partition.leader for partition in topic.partitions.values()} == {1}
    client = admin(booted)
    names = sorted(expected)
    described = client.describe_topics(TopicCollection(names))
    for name in names:
        topic_id = str(described[name].result(SECONDS_MAX).topic_id)
        # This client spells ids with the other two letters of Base64.
        assert topic_id.replace("/", "_").replace("+", "-") == expected[name]["topic_id"]


def test_every_record_is_read_as_kafka_gave_it(booted: Booted) -> None:
    """001.43."""
    asked = {(topic, partition): seen for topic, partition, seen in partitions(booted.recording)}
    starts = {key: seen["log_start_offset"] for key, seen in asked.items()}
    for key, messages in read(booted.address, starts, "read_uncommitted").items():
        found = [
            (message.offset(), message.timestamp()[1], hexed(message.key()), hexed(message.value()))
            for message in messages
        ]
        expected = [
            (record["offset"], record["timestamp"], spelled(record["key"]), spelled(record["value"]))
            for record in asked[key]["records"]
        ]
        assert found == expected, key


def test_aborted_and_undecided_records_stay_hidden_from_committed_readers(booted: Booted) -> None:
    asked = {
        (topic, partition): seen
        for topic, partition, seen in partitions(booted.recording)
        if seen["not_in_read_committed"]
    }
    starts = {key: seen["log_start_offset"] for key, seen in asked.items()}
    for key, messages in read(booted.address, starts, "read_committed").items():
        hidden = set(asked[key]["not_in_read_committed"])
        assert [message.offset() for message in messages] == [
            record["offset"] for record in asked[key]["records"] if record["offset"] not in hidden
        ], key


def test_offsets_are_those_that_kafka_listed(booted: Booted) -> None:
    asked = partitions(booted.recording)
    keys = [TopicPartition(topic, partition) for topic, partition, _ in asked]
    client = admin(booted)
    first: OffsetSpec = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
    last: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    earliest = client.list_offsets(dict.fromkeys(keys, first))
    latest = client.list_offsets(dict.fromkeys(keys, last))
    stable = client.list_offsets(dict.fromkeys(keys, last), isolation_level=IsolationLevel.READ_COMMITTED)
    for key, (_, _, seen) in zip(keys, asked, strict=True):
        found = [each[key].result(SECONDS_MAX).offset for each in (earliest, latest, stable)]
        names = ("log_start_offset", "high_watermark", "last_stable_offset")
        assert found == [seen[name] for name in names], key


def test_settings_are_those_that_were_made_in_kafka(booted: Booted) -> None:
    topics = booted.recording.manifest["topics"]
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in topics]
    client = admin(booted)
    for resource, described in client.describe_configs(resources).items():
        found = {
            name: entry.value
            for name, entry in described.result(SECONDS_MAX).items()
            if entry.source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value
        }
        assert found == topics[resource.name]["dynamic_configs"], resource.name


def test_groups_go_on_where_they_had_committed(booted: Booted) -> None:
    classic = {
        name: group
        for name, group in booted.recording.manifest["groups"].items()
        if group["type"] == "CLASSIC" and group["offsets"]
    }
    assert classic
    for name, group in classic.items():
        consumer = Consumer({"bootstrap.servers": booted.address, "group.id": name, "log_level": 2})
        expected = {(each["topic"], each["partition"]): each["offset"] for each in group["offsets"]}
        asked = [TopicPartition(topic, partition) for topic, partition in expected]
        found = consumer.committed(asked, timeout=SECONDS_MAX)
        consumer.close()
        assert {(each.topic, each.partition): each.offset for each in found} == expected, name


def test_transactions_are_those_that_kafka_listed(booted: Booted) -> None:
    """What was open is open, until its time is over: the coordinator has read its log."""
    with Peer(booted.address) as peer:
        peer.ask(ListTransactionsRequest(state_filters=[], producer_id_filters=[]), 0)
        _, answer = peer.answer(ApiKey.LIST_TRANSACTIONS, 0)
    assert isinstance(answer, ListTransactionsResponse)
    found = {
        (each.transactional_id, str(each.producer_id), each.transaction_state)
        for each in answer.transaction_states
    }
    _titles, *rows = (line.split() for line in booted.recording.manifest["transactions"])
    assert found == {(name, producer_id, state) for name, _, producer_id, state in rows}


def test_new_records_follow_the_old_ones(booted: Booted) -> None:
    seen = booted.recording.manifest["topics"]["keyed"]["partitions"]["0"]
    end = seen["high_watermark"]
    producer = Producer({"bootstrap.servers": booted.address, "log_level": 2})
    producer.produce("keyed", b"ours", b"key", partition=0, timestamp=STOPPED_AT_MS)
    assert producer.flush(SECONDS_MAX) == 0
    (message,) = read(booted.address, {("keyed", 0): end}, "read_committed")["keyed", 0]
    assert (message.offset(), message.value()) == (end, b"ours")
