"""Groups of librdkafka with ``group.protocol=consumer`` (KIP-848), alone and beside classic members."""

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupType, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.clients.confluent_member import RECORDS, Member, shared_topic, turns
from tests.clients.group_broker import until
from trivium.testing import Broker

SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "100",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "100",
    "group.consumer.min.session.timeout.ms": "100",
    "offsets.topic.num.partitions": "3",
}
"""A group finds together as fast as its members speak."""


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(settings=SETTINGS) as broker:
        yield broker


@pytest.fixture
def admin(broker: Broker) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap})


@pytest.fixture
def topic(broker: Broker, request: pytest.FixtureRequest) -> str:
    """A topic of this test with some records in each of its four partitions."""
    return shared_topic(broker, request.node.name)


def joining(broker: Broker, group_id: str, topic: str, **config: Any) -> Member:
    return Member(broker, group_id, topic, group_protocol="consumer", **config)


def classic(broker: Broker, group_id: str, topic: str, **config: Any) -> Member:
    return Member(
        broker,
        group_id,
        topic,
        group_protocol="classic",
        session_timeout_ms=6000,
        heartbeat_interval_ms=100,
        **config,
    )


def test_members_share_partitions_and_take_over_from_each_other(broker: Broker, topic: str) -> None:
    first = joining(broker, topic, topic)
    until(lambda: first.partitions == {0, 1, 2, 3}, first.poll)
    second = joining(broker, topic, topic)
    until(lambda: len(first.partitions) == len(second.partitions) == 2, turns(first, second))
    assert first.partitions | second.partitions == {0, 1, 2, 3}
    assert set(first.revoked) == second.partitions
    first.consumer.close()
    until(lambda: second.partitions == {0, 1, 2, 3}, second.poll)
    assert second.revoked == []
    second.consumer.close()


def test_group_reads_on_where_it_has_committed(broker: Broker, topic: str) -> None:
    first = joining(broker, topic, topic)
    until(lambda: len(first.values) == RECORDS, first.poll)
    first.consumer.commit(asynchronous=False)
    first.consumer.close()
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    producer.produce(topic, "after")
    producer.flush(30)
    second = joining(broker, topic, topic)
    until(lambda: bool(second.values), second.poll)
    assert second.values == ["after"]
    second.consumer.close()


def test_static_member_comes_back_and_nobody_notices(broker: Broker, topic: str) -> None:
    returning = joining(broker, topic, topic, group_instance_id="one")
    staying = joining(broker, topic, topic, group_instance_id="two")
    until(lambda: len(returning.partitions) == len(staying.partitions) == 2, turns(returning, staying))
    before, revoked = returning.partitions, list(staying.revoked)
    returning.consumer.close()
    returning = joining(broker, topic, topic, group_instance_id="one")
    until(lambda: bool(returning.partitions), turns(returning, staying))
    assert returning.partitions == before
    assert staying.revoked == revoked
    returning.consumer.close()
    staying.consumer.close()


def test_pattern_finds_topics_that_come_later(broker: Broker, topic: str, admin: AdminClient) -> None:
    member = joining(broker, topic, f"^{topic}.*")
    until(lambda: member.partitions == {0, 1, 2, 3}, member.poll)
    later = f"{topic}-later"
    admin.create_topics([NewTopic(later, 1, 1)])[later].result(30)
    until(lambda: len(member.consumer.assignment()) == 5, member.poll)
    member.consumer.close()


@pytest.mark.parametrize("strategy", ["range", "cooperative-sticky"])
def test_classic_group_moves_to_the_new_protocol_and_back_while_it_reads(
    broker: Broker, strategy: str
) -> None:
    topic = f"moving-{strategy}"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(topic, 4, 1)])[topic].result(30)
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(RECORDS):
        producer.produce(topic, str(number), partition=number % 4)
    assert producer.flush(30) == 0

    def kind() -> ConsumerGroupType:
        [found] = [each for each in admin.list_consumer_groups().result(30).valid if each.group_id == topic]
        found_type: ConsumerGroupType = found.type
        return found_type

    old = classic(broker, topic, topic, partition_assignment_strategy=strategy)
    until(lambda: old.partitions == {0, 1, 2, 3}, old.poll)
    assert kind() is ConsumerGroupType.CLASSIC
    new = joining(broker, topic, topic)
    until(lambda: len(old.partitions) == len(new.partitions) == 2, turns(old, new))
    assert old.partitions | new.partitions == {0, 1, 2, 3}
    assert kind() is ConsumerGroupType.CONSUMER
    for member in (old, new):
        place = TopicPartition(topic, min(member.partitions), 1)
        assert member.consumer.commit(offsets=[place], asynchronous=False)[0].error is None
    third = classic(broker, topic, topic, partition_assignment_strategy=strategy)
    until(lambda: bool(third.partitions), turns(old, new, third))
    new.consumer.close()
    until(lambda: len(old.partitions) == len(third.partitions) == 2, turns(old, third))
    assert kind() is ConsumerGroupType.CLASSIC
    old.consumer.close()
    third.consumer.close()


def test_group_goes_on_after_the_broker_was_killed(broker: Broker, topic: str) -> None:
    """R1, R15: members keep their partitions, and a commit that was acknowledged is there."""
    first, second = joining(broker, topic, topic), joining(broker, topic, topic)
    until(lambda: len(first.partitions) == len(second.partitions) == 2, turns(first, second))
    until(lambda: len(first.values) + len(second.values) >= RECORDS, turns(first, second))
    held = first.partitions, second.partitions
    for member in (first, second):
        member.consumer.commit(asynchronous=False)
    broker.kill()
    broker.start()
    committed = first.consumer.committed([TopicPartition(topic, each) for each in range(4)], timeout=30)
    assert [each.offset for each in committed] == [RECORDS // 4] * 4
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for partition in range(4):
        producer.produce(topic, f"after-{partition}", partition=partition)
    producer.flush(30)

    def turn() -> None:
        first.poll_in_trouble()
        second.poll_in_trouble()

    until(lambda: sum(value.startswith("after") for value in first.values + second.values) == 4, turn)
    assert (first.partitions, second.partitions) == held
    first.consumer.close()
    second.consumer.close()


def test_group_is_listed_described_and_deleted(broker: Broker, topic: str, admin: AdminClient) -> None:
    member = joining(broker, topic, topic, client_id="reader", group_remote_assignor="range")
    until(lambda: member.partitions == {0, 1, 2, 3}, member.poll)
    listed = {each.group_id: each for each in admin.list_consumer_groups().result(30).valid}
    assert (listed[topic].state.name, listed[topic].type) == ("STABLE", ConsumerGroupType.CONSUMER)
    described = admin.describe_consumer_groups([topic])[topic].result(30)
    assert (described.state.name, described.partition_assignor) == ("STABLE", "range")
    [only] = described.members
    assert only.client_id == "reader"
    assert {each.partition for each in only.assignment.topic_partitions} == {0, 1, 2, 3}
    busy = admin.delete_consumer_groups([topic])[topic].exception(30)
    assert busy is not None
    assert busy.args[0].name() == "NON_EMPTY_GROUP"
    member.consumer.close()
    admin.delete_consumer_groups([topic])[topic].result(30)
