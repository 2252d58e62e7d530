"""Making topics and partitions (mission 001.44). What Kafka says to every mistake is in ``tests/golden``."""

import pytest

from tests.core.fakes import World
from tests.core.rights import Denying
from trivium.core.access import Access, Operation, Resource
from trivium.core.commands.topics import (
    CreatedPartitions,
    CreatedTopic,
    CreatePartitions,
    CreateTopics,
    NewPartitions,
    NewTopic,
)
from trivium.core.faults import Fault
from trivium.core.topic_creation import PARTITIONS_PER_REQUEST_MAX, TopicCreation


def world_with(access: Access | None = None, **settings: str) -> World:
    world = World({name.replace("_", "."): value for name, value in settings.items()})
    creation = world.topics
    if access is not None:
        creation = TopicCreation(
            world.cluster, world.settings, access, lambda: bytes(15) + b"\x09", world.timers
        )
    world.add(creation.routes)
    return world


def faults(results: list[CreatedTopic] | list[CreatedPartitions]) -> list[Fault | None]:
    return [result.fault for result in results]


def test_topic_gets_the_partitions_of_the_broker_where_it_names_none() -> None:
    world = world_with(num_partitions="3")
    (made,) = world.execute(CreateTopics([NewTopic("a")]))
    assert made.partitions == 3
    assert sorted(world.image.topics.by_name["a"].partitions) == [0, 1, 2]


def test_topic_of_a_default_replication_that_one_broker_cannot_give_is_refused() -> None:
    world = world_with(default_replication_factor="3")
    (refused,) = world.execute(CreateTopics([NewTopic("a")]))
    assert refused.fault is Fault.INVALID_REPLICATION_FACTOR


def test_topics_of_one_request_are_made_in_one_batch_and_told_of_when_durable() -> None:
    world = world_with()
    world.storage.holds_syncs = True
    replies = world.submit(CreateTopics([NewTopic("a", 1), NewTopic("b", 0), NewTopic("c", 2)]))
    assert replies == []
    world.storage.sync()
    assert faults(replies[0]) == [None, Fault.INVALID_PARTITIONS, None]
    assert world.log("__cluster_metadata").log_end_offset == len(["a", "a-0", "c", "c-0", "c-1"])


def test_topics_whose_records_cannot_be_written_do_not_exist() -> None:
    world = world_with()
    world.log("__cluster_metadata").fault = Fault.STORAGE
    results = world.execute(CreateTopics([NewTopic("a", 1), NewTopic("b", 0)]))
    assert faults(results) == [Fault.STORAGE, Fault.INVALID_PARTITIONS]
    assert len(world.image.topics) == 0


def test_topics_whose_sync_fails_are_refused() -> None:
    world = world_with()
    world.storage.holds_syncs = True
    replies = world.submit(CreateTopics([NewTopic("a", 1)]))
    world.storage.sync(Fault.STORAGE)
    assert faults(replies[0]) == [Fault.STORAGE]


def test_names_that_collide_in_one_request_make_one_topic() -> None:
    world = world_with()
    results = world.execute(CreateTopics([NewTopic("a.b"), NewTopic("a_b")]))
    assert faults(results) == [None, Fault.INVALID_TOPIC_NAME]
    assert list(world.image.topics.by_name) == ["a.b"]


def test_topic_that_is_only_checked_is_not_made() -> None:
    world = world_with()
    (checked,) = world.execute(CreateTopics([NewTopic("a", 2)], validate_only=True))
    assert (checked.fault, checked.partitions) == (None, 2)
    assert len(world.image.topics) == 0
    assert world.log("__cluster_metadata").log_end_offset == 0


def test_request_for_more_partitions_than_the_limit_is_refused_as_a_whole() -> None:
    world = world_with()
    most = PARTITIONS_PER_REQUEST_MAX
    results = world.execute(CreateTopics([NewTopic("a", most - 1), NewTopic("b", 2)]))
    assert faults(results) == [Fault.POLICY_VIOLATION] * 2
    assert faults(world.execute(CreateTopics([NewTopic("a", most - 1), NewTopic("b", 1)]))) == [None, None]


def test_topic_that_the_caller_may_not_make_is_refused() -> None:
    world = world_with(Denying((Operation.CREATE, Resource.TOPIC, "a"), (Operation.CREATE, Resource.CLUSTER)))
    results = world.execute(CreateTopics([NewTopic("a"), NewTopic("b")]))
    assert faults(results) == [Fault.NOT_AUTHORIZED_TOPIC, None]


def test_right_to_make_things_in_the_cluster_is_enough() -> None:
    world = world_with(Denying((Operation.CREATE, Resource.TOPIC)))
    assert faults(world.execute(CreateTopics([NewTopic("a")]))) == [None]


def test_settings_of_a_new_topic_are_hidden_from_who_may_not_see_them() -> None:
    world = world_with(Denying((Operation.DESCRIBE_CONFIGS, Resource.TOPIC)))
    (made,) = world.execute(CreateTopics([NewTopic("a")]))
    assert made.fault is None
    assert made.configs is None


def test_settings_of_a_new_topic_are_stored_and_told() -> None:
    world = world_with()
    (made,) = world.execute(CreateTopics([NewTopic("a", configs={"retention.ms": "5"})]))
    assert world.image.configs.of_topic("a") == {"retention.ms": "5"}
    assert made.configs is not None
    assert {entry.name: entry.value for entry in made.configs}["retention.ms"] == "5"


def test_topic_that_is_not_durable_in_time_is_told_so_once_and_exists_all_the_same() -> None:
    world = world_with()
    world.storage.holds_syncs = True
    replies = world.submit(CreateTopics([NewTopic("a"), NewTopic("b")], timeout_ms=1000))
    world.pass_time(999)
    assert replies == []
    world.pass_time(1)
    assert faults(replies[0]) == [Fault.TIMED_OUT] * 2
    world.storage.sync()
    assert len(replies) == 1
    assert "a" in world.image.topics.by_name


def test_topic_that_is_durable_in_time_leaves_no_timer_behind() -> None:
    world = world_with()
    world.storage.holds_syncs = True
    replies = world.submit(CreateTopics([NewTopic("a")], timeout_ms=1000))
    world.storage.sync()
    assert faults(replies[0]) == [None]
    assert world.timers.next_due_ms is None


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_topic_that_may_take_no_time_is_not_made(timeout_ms: int) -> None:
    world = world_with()
    assert faults(world.execute(CreateTopics([NewTopic("a")], timeout_ms=timeout_ms))) == [Fault.TIMED_OUT]
    world.create_topic("b")
    command = CreatePartitions([NewPartitions("b", 2)], timeout_ms=timeout_ms)
    assert faults(world.execute(command)) == [Fault.TIMED_OUT]
    assert {name: len(topic.partitions) for name, topic in world.image.topics.by_name.items()} == {"b": 1}


# -- partitions ----------------------------------------------------------------------------------


def test_new_partitions_are_there_at_once_and_told_of_when_durable() -> None:
    world = world_with()
    world.create_topic("a", 1)
    world.storage.holds_syncs = True
    replies = world.submit(CreatePartitions([NewPartitions("a", 3)]))
    assert replies == []
    world.storage.sync()
    assert faults(replies[0]) == [None]
    assert world.cluster.partition("a", 2).log.log_end_offset == 0


def test_partitions_that_are_not_durable_in_time_are_told_so() -> None:
    world = world_with()
    world.create_topic("a", 1)
    world.storage.holds_syncs = True
    replies = world.submit(CreatePartitions([NewPartitions("a", 3)], timeout_ms=5))
    world.pass_time(5)
    assert faults(replies[0]) == [Fault.TIMED_OUT]


def test_partitions_that_are_only_checked_are_not_made() -> None:
    world = world_with()
    world.create_topic("a", 1)
    assert faults(world.execute(CreatePartitions([NewPartitions("a", 3)], validate_only=True))) == [None]
    assert len(world.image.topics.by_name["a"].partitions) == 1


def test_request_for_more_new_partitions_than_the_limit_makes_those_within_it() -> None:
    world = world_with()
    world.create_topic("a", 1)
    world.create_topic("b", 1)
    wanted = [NewPartitions("a", PARTITIONS_PER_REQUEST_MAX + 1), NewPartitions("b", 2)]
    assert faults(world.execute(CreatePartitions(wanted))) == [None, Fault.POLICY_VIOLATION]


@pytest.mark.parametrize("fault", [Fault.STORAGE, Fault.INTERNAL])
def test_partitions_whose_records_cannot_be_written_do_not_exist(fault: Fault) -> None:
    world = world_with()
    world.create_topic("a", 1)
    world.log("__cluster_metadata").fault = fault
    wanted = [NewPartitions("a", 2), NewPartitions("unknown", 2)]
    assert faults(world.execute(CreatePartitions(wanted))) == [fault, Fault.UNKNOWN_TOPIC]
    assert len(world.image.topics.by_name["a"].partitions) == 1


def test_partitions_of_a_topic_that_the_caller_may_not_alter_are_refused() -> None:
    world = world_with(Denying((Operation.ALTER, Resource.TOPIC)))
    world.create_topic("a", 1)
    assert faults(world.execute(CreatePartitions([NewPartitions("a", 2)]))) == [Fault.NOT_AUTHORIZED_TOPIC]
