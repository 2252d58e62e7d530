"""Consumer groups of kafka-python: rebalance, commit and resume, administration."""

from collections.abc import Iterator

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.structs import OffsetAndMetadata

from tests.clients.group_broker import group_broker, until
from trivium.testing import Broker

RECORDS = 40
POLL_MS = 1000
"""Version 3.0.12 now and then never hears the answer to a sync if a poll ends before it has come."""


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with group_broker() as broker:
        yield broker


@pytest.fixture
def admin(broker: Broker) -> Iterator[KafkaAdminClient]:
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap)
    yield admin
    admin.close()


@pytest.fixture
def topic(broker: Broker, admin: KafkaAdminClient, request: pytest.FixtureRequest) -> str:
    name: str = request.node.name
    admin.create_topics([NewTopic(name, 4, 1)])
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap)
    for number in range(RECORDS):
        producer.send(name, str(number).encode(), partition=number % 4)
    producer.flush(30)
    producer.close()
    return name


def consumer(broker: Broker, topic: str) -> KafkaConsumer:
    member = KafkaConsumer(
        bootstrap_servers=broker.bootstrap,
        group_id=topic,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=6000,
        heartbeat_interval_ms=500,
    )
    # A member that joins before it knows its topic assigns nothing and has to join again at once.
    assert member.partitions_for_topic(topic) == {0, 1, 2, 3}
    member.subscribe([topic])
    return member


def read(member: KafkaConsumer, values: list[bytes]) -> None:
    for records in member.poll(POLL_MS).values():
        values += [record.value for record in records]


def test_members_share_partitions_and_take_over_from_each_other(broker: Broker, topic: str) -> None:
    first = consumer(broker, topic)
    until(lambda: len(first.assignment()) == 4, lambda: first.poll(POLL_MS))
    second = consumer(broker, topic)

    def turn() -> None:
        first.poll(POLL_MS)
        second.poll(POLL_MS)

    until(lambda: len(first.assignment()) == len(second.assignment()) == 2, turn)
    assert len(first.assignment() | second.assignment()) == 4
    first.close()
    until(lambda: len(second.assignment()) == 4, lambda: second.poll(POLL_MS))
    second.close()


def test_group_reads_on_where_it_has_committed(broker: Broker, topic: str) -> None:
    values: list[bytes] = []
    first = consumer(broker, topic)
    until(lambda: len(values) == RECORDS, lambda: read(first, values))
    first.commit()
    first.close()
    broker.restart()
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap)
    producer.send(topic, b"after").get(30)
    producer.close()
    after: list[bytes] = []
    second = consumer(broker, topic)
    until(lambda: bool(after), lambda: read(second, after))
    assert after == [b"after"]
    second.close()


def test_group_is_listed_described_and_deleted(broker: Broker, topic: str, admin: KafkaAdminClient) -> None:
    member = consumer(broker, topic)
    until(lambda: len(member.assignment()) == 4, lambda: member.poll(POLL_MS))
    place = TopicPartition(topic, 2)
    member.commit({place: OffsetAndMetadata(5, "note", -1)})
    [listed] = [group for group in admin.list_groups() if group["group_id"] == topic]
    assert (listed["group_state"], listed["group_type"]) == ("Stable", "classic")
    described = admin.describe_groups([topic])[topic]
    [only] = described["members"]
    assert only["member_assignment"]["assigned_partitions"] == [{"topic": topic, "partitions": [0, 1, 2, 3]}]
    assert admin.list_group_offsets([topic]) == {topic: {place: OffsetAndMetadata(5, "note", -1)}}
    assert member.committed(place) == 5
    member.close()
    admin.delete_groups([topic])
    assert topic not in [group["group_id"] for group in admin.list_groups()]
