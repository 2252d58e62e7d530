"""Clients that speak as they did years ago, and ones that do not wait for answers (001.49, 003.1, 003.18)."""

import struct
from typing import Any

import pytest

from tests.clients.clients import CLIENTS, LIBRDKAFKA, SECONDS_MAX
from tests.server.wire import Peer, framed
from trivium.messages.api import ApiKey
from trivium.messages.api.metadata import MetadataRequest, MetadataRequestTopic
from trivium.messages.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from trivium.records.batch import build_batch
from trivium.records.record import Record
from trivium.testing import Broker

VALUES = [b"%d" % number for number in range(50)]

BROKER_VERSIONS = [(0, 9), (0, 10, 0), (0, 11), (1, 1), (2, 3), (2, 8), (3, 9), (4, 0)]
"""What a client may believe its broker to be: it then speaks no newer than that."""


def ids(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


@pytest.mark.parametrize("version", BROKER_VERSIONS, ids=ids)
def test_kafka_python_of_any_age_writes_and_reads_in_a_group(
    version: tuple[int, ...], trivium_session_broker: Broker, trivium_topic: str
) -> None:
    """Up to 0.10 records travel in message sets of the old formats, and come back to newer readers alike."""
    from kafka import KafkaConsumer, KafkaProducer

    bootstrap = trivium_session_broker.bootstrap
    producer = KafkaProducer(
        bootstrap_servers=bootstrap, api_version=version, compression_type="gzip", enable_idempotence=False
    )
    for value in VALUES:
        producer.send(trivium_topic, value, b"key")
    producer.flush(SECONDS_MAX)
    producer.close()
    consumer = KafkaConsumer(
        trivium_topic,
        bootstrap_servers=bootstrap,
        api_version=version,
        group_id=trivium_topic,
        auto_offset_reset="earliest",
        consumer_timeout_ms=SECONDS_MAX * 1_000,
    )
    seen = [next(consumer) for _ in VALUES]
    consumer.commit()
    consumer.close()
    assert [(record.offset, record.key, record.value) for record in seen] == [
        (offset, b"key", value) for offset, value in enumerate(VALUES)
    ]
    for make in CLIENTS:
        records = make().consume(bootstrap, trivium_topic, len(VALUES))
        assert [record.value for record in records] == VALUES


@pytest.mark.parametrize("version", [(0, 9), (0, 10, 0), (0, 11)], ids=ids)
def test_old_reader_gets_what_a_new_client_has_written(
    version: tuple[int, ...], trivium_session_broker: Broker, trivium_topic: str
) -> None:
    from kafka import KafkaConsumer, TopicPartition

    trivium_session_broker.produce(trivium_topic, [("key", value) for value in VALUES], headers=[("h", b"1")])
    consumer = KafkaConsumer(
        bootstrap_servers=trivium_session_broker.bootstrap,
        api_version=version,
        group_id=None,
        auto_offset_reset="earliest",
        consumer_timeout_ms=SECONDS_MAX * 1_000,
    )
    # Not by naming the topic above: kafka-python 3.0 then forgets to ask for it if its first question for
    # metadata is still on the way, and asks again after five minutes.
    consumer.assign([TopicPartition(trivium_topic, 0)])
    seen = [next(consumer) for _ in VALUES]
    consumer.close()
    assert [(record.offset, record.value) for record in seen] == list(enumerate(VALUES))


@pytest.mark.parametrize("fallback", ["0.9.0.1", "0.10.2.0"])
def test_librdkafka_without_version_request_writes_and_reads(
    fallback: str, trivium_session_broker: Broker, trivium_topic: str
) -> None:
    """It asks for no versions at all, and speaks as brokers of that age understood it."""
    from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

    settings: dict[str, Any] = {
        "bootstrap.servers": trivium_session_broker.bootstrap,
        "api.version.request": False,
        "broker.version.fallback": fallback,
        **LIBRDKAFKA,
    }
    producer = Producer(settings)
    for value in VALUES:
        producer.produce(trivium_topic, value)
    assert producer.flush(SECONDS_MAX) == 0
    consumer = Consumer({**settings, "group.id": "unused"})
    consumer.assign([TopicPartition(trivium_topic, 0, OFFSET_BEGINNING)])
    messages: list[Any] = consumer.consume(len(VALUES), SECONDS_MAX)
    consumer.close()
    assert [message.value() for message in messages] == VALUES


def test_requests_sent_at_once_are_answered_in_their_order(
    trivium_session_broker: Broker, trivium_topic: str
) -> None:
    """001.49, 003.1: pipelining. Writes and questions in one piece of bytes, cut where it hurts."""
    count = 150
    frames = bytearray()
    for number in range(count):
        frames += framed(produce(trivium_topic, b"%d" % number), 9, 2 * number)
        topics = [MetadataRequestTopic(name=trivium_topic)]
        frames += framed(MetadataRequest(topics=topics), 9, 2 * number + 1)
    with Peer(trivium_session_broker.bootstrap) as peer:
        for start in range(0, len(frames), 1_001):
            peer.socket.sendall(frames[start : start + 1_001])
        for number in range(count):
            correlation_id, written = answer(peer, ApiKey.PRODUCE)
            assert correlation_id == 2 * number
            assert written.responses[0].partition_responses[0].base_offset == number
            correlation_id, told = answer(peer, ApiKey.METADATA)
            assert correlation_id == 2 * number + 1
            assert told.topics[0].name == trivium_topic
    found = [record.value for record in trivium_session_broker.records(trivium_topic)]
    assert found == [b"%d" % number for number in range(count)]


def answer(peer: Peer, key: ApiKey) -> tuple[int, Any]:
    return peer.answer(key, 9)


def produce(topic: str, value: bytes) -> ProduceRequest:
    records = build_batch([Record(0, 1_700_000_000_000, None, value)])
    return ProduceRequest(
        acks=-1,
        timeout_ms=10_000,
        topic_data=[
            TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=records)])
        ],
    )


def test_unknown_version_of_a_request_ends_its_connection_and_no_other(
    trivium_session_broker: Broker,
) -> None:
    """003.18: whoever ignores what ApiVersions says is not guessed at."""
    with Peer(trivium_session_broker.bootstrap) as bystander:
        with Peer(trivium_session_broker.bootstrap) as peer:
            head = struct.pack(">hhih", ApiKey.METADATA, 99, 1, -1)
            peer.socket.sendall(struct.pack(">i", len(head)) + head)
            assert peer.socket.recv(1) == b""
        bystander.ask(MetadataRequest(topics=None), 9)
        assert bystander.answer(ApiKey.METADATA, 9)[0] == 1
