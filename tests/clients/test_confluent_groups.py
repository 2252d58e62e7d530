"""Groups of librdkafka: rebalances, static and cooperative members, offsets, administration (003.27)."""

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.clients.confluent_member import RECORDS, Member, shared_topic, turns
from tests.clients.group_broker import group_broker, until
from trivium.testing import Broker


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with group_broker() as broker:
        yield broker


@pytest.fixture
def topic(broker: Broker, request: pytest.FixtureRequest) -> str:
    """A topic of this test with some records in each of its four partitions."""
    return shared_topic(broker, request.node.name)


def joining(broker: Broker, group_id: str, topic: str, **config: Any) -> Member:
    """A classic member that is missed soon."""
    patience = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 100}
    return Member(broker, group_id, topic, **{**patience, **config})


def test_members_share_partitions_and_take_over_from_each_other(broker: Broker, topic: str) -> None:
    first = joining(broker, topic, topic)
    until(lambda: first.partitions == {0, 1, 2, 3}, first.poll)
    second = joining(broker, topic, topic)
    until(lambda: len(first.partitions) == len(second.partitions) == 2, turns(first, second))
    assert first.partitions | second.partitions == {0, 1, 2, 3}
    first.consumer.close()
    until(lambda: second.partitions == {0, 1, 2, 3}, second.poll)
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


def test_cooperative_member_keeps_what_it_does_not_give_away(broker: Broker, topic: str) -> None:
    strategy = {"partition_assignment_strategy": "cooperative-sticky"}
    first = joining(broker, topic, topic, **strategy)
    until(lambda: first.partitions == {0, 1, 2, 3}, first.poll)
    second = joining(broker, topic, topic, **strategy)
    until(lambda: len(first.partitions) == len(second.partitions) == 2, turns(first, second))
    assert set(first.revoked) == second.partitions
    first.consumer.close()
    until(lambda: second.partitions == {0, 1, 2, 3}, second.poll)
    assert second.revoked == []
    second.consumer.close()


def test_static_member_comes_back_and_nobody_notices(broker: Broker, topic: str) -> None:
    """KIP-345"""
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


def test_member_that_dies_is_replaced_after_its_session(broker: Broker, topic: str) -> None:
    # A static member that closes says nothing: to the group it is as if it had died.
    dying = joining(broker, topic, topic, group_instance_id="one", session_timeout_ms=500)
    until(lambda: dying.partitions == {0, 1, 2, 3}, dying.poll)
    dying.consumer.close()
    heir = joining(broker, topic, topic, session_timeout_ms=500)
    until(lambda: heir.partitions == {0, 1, 2, 3}, heir.poll)
    heir.consumer.close()


def test_group_goes_on_after_the_broker_was_killed(broker: Broker, topic: str) -> None:
    """R1: a commit that was acknowledged is there."""
    member = joining(broker, topic, topic)
    until(lambda: len(member.values) == RECORDS, member.poll)
    member.consumer.commit(asynchronous=False)
    broker.kill()
    broker.start()
    places = [TopicPartition(topic, partition) for partition in range(4)]
    committed = member.consumer.committed(places, timeout=30)
    assert [each.offset for each in committed] == [RECORDS // 4] * 4
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    producer.produce(topic, "after")
    producer.flush(30)
    until(lambda: "after" in member.values, member.poll_in_trouble)
    member.consumer.close()


# -- administration --------------------------------------------------------------------------------


@pytest.fixture
def admin(broker: Broker) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap})


def test_group_is_listed_and_described(broker: Broker, topic: str, admin: AdminClient) -> None:
    member = joining(broker, topic, topic, client_id="reader", group_instance_id="one")
    until(lambda: member.partitions == {0, 1, 2, 3}, member.poll)
    listed = {each.group_id: each for each in admin.list_consumer_groups().result(30).valid}
    assert listed[topic].state.name == "STABLE"
    described = admin.describe_consumer_groups([topic])[topic].result(30)
    assert (described.state.name, described.partition_assignor) == ("STABLE", "range")
    [only] = described.members
    assert (only.client_id, only.group_instance_id) == ("reader", "one")
    assert {each.partition for each in only.assignment.topic_partitions} == {0, 1, 2, 3}
    member.consumer.close()


def test_lag_is_what_is_left_to_read(broker: Broker, topic: str, admin: AdminClient) -> None:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": topic})
    consumer.commit(offsets=[TopicPartition(topic, 1, 10, "note")], asynchronous=False)
    asked = ConsumerGroupTopicPartitions(topic)
    found = admin.list_consumer_group_offsets([asked])[topic].result(30)
    [place] = found.topic_partitions
    assert (place.topic, place.partition, place.offset, place.metadata) == (topic, 1, 10, "note")
    _, end = consumer.get_watermark_offsets(TopicPartition(topic, 1), timeout=30)
    assert end - place.offset == RECORDS // 4 - 10
    consumer.close()


def test_offsets_of_an_empty_group_are_set_by_an_administrator(
    broker: Broker, topic: str, admin: AdminClient
) -> None:
    wanted = ConsumerGroupTopicPartitions(topic, [TopicPartition(topic, 0, 7)])
    result = admin.alter_consumer_group_offsets([wanted])[topic].result(30)
    assert [each.error for each in result.topic_partitions] == [None]
    member = joining(broker, topic, topic)
    until(lambda: len(member.values) == RECORDS - 7, member.poll)
    member.consumer.close()


def test_empty_group_is_deleted_and_a_busy_one_is_not(broker: Broker, topic: str, admin: AdminClient) -> None:
    member = joining(broker, topic, topic)
    until(lambda: bool(member.partitions), member.poll)
    member.consumer.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
    busy = admin.delete_consumer_groups([topic])[topic].exception(30)
    assert busy is not None
    assert busy.args[0].name() == "NON_EMPTY_GROUP"
    member.consumer.close()
    admin.delete_consumer_groups([topic])[topic].result(30)
    gone = admin.delete_consumer_groups([topic])[topic].exception(30)
    assert gone is not None
    assert gone.args[0].name() == "GROUP_ID_NOT_FOUND"
