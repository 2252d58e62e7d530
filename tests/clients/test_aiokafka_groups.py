"""Consumer groups of aiokafka: rebalance, commit and resume, administration."""

import asyncio
from collections.abc import Iterator

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from tests.clients.group_broker import PATIENCE_SECONDS, group_broker
from trivium.testing import Broker

RECORDS = 40


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with group_broker() as broker:
        yield broker


async def fill(broker: Broker, topic: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap)
    await admin.start()
    await admin.create_topics([NewTopic(topic, 4, 1)])
    await admin.close()
    producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap)
    await producer.start()
    for number in range(RECORDS):
        await producer.send(topic, str(number).encode(), partition=number % 4)
    await producer.stop()


async def consumer(broker: Broker, topic: str) -> AIOKafkaConsumer:
    member = AIOKafkaConsumer(
        topic,
        bootstrap_servers=broker.bootstrap,
        group_id=topic,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=6000,
        heartbeat_interval_ms=100,
        metadata_max_age_ms=1000,
    )
    await member.start()
    return member


async def share(broker: Broker, topic: str) -> None:
    first = await consumer(broker, topic)
    assert len(first.assignment()) == 4
    second = await consumer(broker, topic)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not len(first.assignment()) == len(second.assignment()) == 2:
            await asyncio.sleep(0.02)
        await first.stop()
        while len(second.assignment()) != 4:
            await asyncio.sleep(0.02)
    await second.stop()


async def resume(broker: Broker, topic: str) -> None:
    first = await consumer(broker, topic)
    async with asyncio.timeout(PATIENCE_SECONDS):
        for _ in range(RECORDS):
            await first.getone()
    await first.commit()
    await first.stop()
    second = await consumer(broker, topic)
    places = [TopicPartition(topic, partition) for partition in range(4)]
    assert [await second.committed(place) for place in places] == [RECORDS // 4] * 4
    assert [await second.position(place) for place in places] == [RECORDS // 4] * 4
    await second.stop()


async def look(broker: Broker, topic: str) -> None:
    member = await consumer(broker, topic)
    await member.commit({TopicPartition(topic, 2): 5})
    admin = AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap)
    await admin.start()
    assert (topic, "consumer") in await admin.list_consumer_groups()
    [described] = await admin.describe_consumer_groups([topic])
    assert "Stable" in str(described)
    offsets = await admin.list_consumer_group_offsets(topic)
    assert {place.partition: found.offset for place, found in offsets.items()} == {2: 5}
    await member.stop()
    await admin.close()


def test_members_share_partitions_and_take_over_from_each_other(broker: Broker) -> None:
    asyncio.run(fill(broker, "aio-members"))
    asyncio.run(share(broker, "aio-members"))


def test_group_reads_on_where_it_has_committed(broker: Broker) -> None:
    asyncio.run(fill(broker, "aio-resume"))
    asyncio.run(resume(broker, "aio-resume"))


def test_group_is_listed_and_described(broker: Broker) -> None:
    asyncio.run(fill(broker, "aio-look"))
    asyncio.run(look(broker, "aio-look"))
