"""Clients that use more than they may get all in the end, or an error where Kafka has one: KIP-599."""

import asyncio
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import aiokafka
import kafka
import kafka.admin
import kafka.errors
import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from tests.clients.clients import LIBRDKAFKA
from tests.server.wire import PRODUCE_VERSION, Peer, create_topic, framed, produce
from trivium.messages.api import ApiKey
from trivium.messages.api.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    EntityData,
    OpData,
)
from trivium.messages.api.api_versions import ApiVersionsRequest
from trivium.testing.broker import Broker

SECONDS_MAX = 60
RECORDS = 12
RECORD_BYTES = 1_000
READ_PER_SECOND = 4_000.0
"""So the first seconds' worth is a third of all there is."""


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    settings = {"quota.window.num": "2", "quota.window.size.seconds": "1"}
    with Broker(settings=settings) as made:
        create_topic(made.bootstrap, "t")
        with Peer(made.bootstrap) as peer:
            for number in range(RECORDS):
                peer.ask(produce("t", bytes([number]) * RECORD_BYTES), PRODUCE_VERSION)
                peer.frame()
            limits = {
                "slow": ("consumer_byte_rate", READ_PER_SECOND),
                "maker": ("controller_mutation_rate", 0.1),
            }
            entries = [
                AlterClientQuotasRequestEntryData(
                    entity=[EntityData(entity_type="client-id", entity_name=client_id)],
                    ops=[OpData(key=key, value=value, remove=False)],
                )
                for client_id, (key, value) in limits.items()
            ]
            peer.ask(AlterClientQuotasRequest(entries=entries, validate_only=False), 1)
            _, answer = peer.answer(ApiKey.ALTER_CLIENT_QUOTAS, 1)
            assert [each.error_code for each in answer.entries] == [0, 0]  # type: ignore[attr-defined]
        yield made


def by_confluent(bootstrap: str) -> list[bytes]:
    consumer = Consumer(
        {**LIBRDKAFKA, "bootstrap.servers": bootstrap, "group.id": "unused", "client.id": "slow"}
    )
    try:
        consumer.assign([TopicPartition("t", 0, OFFSET_BEGINNING)])
        seen: list[bytes] = []
        deadline = time.monotonic() + SECONDS_MAX
        while len(seen) < RECORDS and time.monotonic() < deadline:
            message = consumer.poll(1)
            if message is not None and not message.error():
                seen.append(message.value() or b"")
        return seen
    finally:
        consumer.close()


def by_kafka_python(bootstrap: str) -> list[bytes]:
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=bootstrap, client_id="slow", consumer_timeout_ms=SECONDS_MAX * 1000
    )
    try:
        part = kafka.TopicPartition("t", 0)
        consumer.assign([part])
        consumer.seek_to_beginning(part)
        return [record.value for _, record in zip(range(RECORDS), consumer, strict=False)]
    finally:
        consumer.close()


def by_aiokafka(bootstrap: str) -> list[bytes]:
    async def read() -> list[bytes]:
        consumer = aiokafka.AIOKafkaConsumer(bootstrap_servers=bootstrap, client_id="slow")
        await consumer.start()
        try:
            part = aiokafka.TopicPartition("t", 0)
            consumer.assign([part])
            await consumer.seek_to_beginning(part)
            return [(await consumer.getone()).value for _ in range(RECORDS)]
        finally:
            await consumer.stop()

    return asyncio.run(asyncio.wait_for(read(), SECONDS_MAX))


@pytest.mark.parametrize("read", [by_confluent, by_kafka_python, by_aiokafka])
def test_consumer_over_its_quota_reads_all_in_the_end(
    broker: Broker, read: Callable[[str], list[bytes]]
) -> None:
    """Answers without records and a time to wait are nothing that a client stumbles over."""
    assert read(broker.bootstrap) == [bytes([number]) * RECORD_BYTES for number in range(RECORDS)]


@pytest.mark.skipif(sys.platform != "linux", reason="others have one address for themselves")
def test_address_over_its_quota_of_connections_is_turned_away_and_others_come_in(broker: Broker) -> None:
    """By the address that a peer comes from; this machine has many."""
    limit = AlterClientQuotasRequestEntryData(
        entity=[EntityData(entity_type="ip", entity_name="127.0.0.2")],
        ops=[OpData(key="connection_creation_rate", value=1.0, remove=False)],
    )
    with Peer(broker.bootstrap) as peer:
        peer.ask(AlterClientQuotasRequest(entries=[limit], validate_only=False), 1)
        _, answer = peer.answer(ApiKey.ALTER_CLIENT_QUOTAS, 1)
        assert [each.error_code for each in answer.entries] == [0]  # type: ignore[attr-defined]
    with ExitStack() as crowd:
        taken = [crowd.enter_context(_from("127.0.0.2", broker.bootstrap)) for _ in range(20)]
        ends = [_is_turned_away(peer) for peer in taken]
        assert not ends[0]
        assert any(ends)
        assert not _is_turned_away(crowd.enter_context(_from("127.0.0.3", broker.bootstrap)))


def _from(address: str, bootstrap: str) -> socket.socket:
    host, port = bootstrap.rsplit(":", 1)
    return socket.create_connection((host, int(port)), SECONDS_MAX, source_address=(address, 0))


def _is_turned_away(peer: socket.socket) -> bool:
    try:
        peer.sendall(framed(ApiVersionsRequest(), 0, 1))
        return not peer.recv(1)
    except ConnectionError:
        return True


def test_administrator_over_its_quota_is_refused_by_name(broker: Broker) -> None:
    maker = kafka.admin.KafkaAdminClient(bootstrap_servers=broker.bootstrap, client_id="maker")
    other = kafka.admin.KafkaAdminClient(bootstrap_servers=broker.bootstrap)
    try:
        maker.create_topics([kafka.admin.NewTopic("many", 20, 1)])
        with pytest.raises(kafka.errors.ThrottlingQuotaExceededError):
            maker.create_topics([kafka.admin.NewTopic("one-more", 1, 1)])
        assert "many" in other.list_topics()
        assert "one-more" not in other.list_topics()
    finally:
        maker.close()
        other.close()
