"""Topics described, made by being asked for, and turned over page by page (mission 001.13-001.33)."""

from collections.abc import Sequence

import pytest

from tests.core.fakes import World
from tests.core.rights import Denying
from trivium.core.access import OPERATIONS, Access, Operation, Resource
from trivium.core.commands.topics import (
    Cursor,
    DescribedTopic,
    DescribeTopics,
    DescribeTopicsPage,
    TopicsPage,
)
from trivium.core.faults import Fault
from trivium.core.topics import TopicDirectory


def world_with(access: Access | None = None, **settings: str) -> World:
    world = World({name.replace("_", "."): value for name, value in settings.items()})
    world.add(TopicDirectory(world.cluster, world.settings, access or world.access, world.topics).routes)
    return world


def names_and_faults(topics: Sequence[DescribedTopic]) -> list[tuple[str | bytes, Fault | None]]:
    return [(topic.topic, topic.fault) for topic in topics]


# -- made by being asked for ---------------------------------------------------------------------


def test_missing_topic_is_made_and_described_in_the_same_answer() -> None:
    world = world_with(num_partitions="3")
    world.storage.holds_syncs = True
    replies = world.submit(DescribeTopics(["new"], may_create=True))
    assert replies == []
    world.storage.sync()
    (topic,) = replies[0].topics
    assert topic.fault is None
    assert sorted(topic.partitions) == [0, 1, 2]


@pytest.mark.parametrize(
    ("may_create", "enabled"), [(False, "true"), (True, "false")], ids=["by the client", "by the broker"]
)
def test_missing_topic_is_not_made_where_that_is_not_wanted(may_create: bool, enabled: str) -> None:
    world = world_with(auto_create_topics_enable=enabled)
    (topic,) = world.execute(DescribeTopics(["new"], may_create=may_create)).topics
    assert topic.fault is Fault.UNKNOWN_TOPIC
    assert len(world.image.topics) == 0


def test_missing_topics_are_made_each_for_itself() -> None:
    world = world_with()
    world.create_topic("a.b")
    asked = ["good", "a_b", "a b", "__consumer_offsets", "good"]
    answer = world.execute(DescribeTopics(asked, may_create=True))
    assert names_and_faults(answer.topics) == [
        ("good", None),
        ("a_b", Fault.INVALID_TOPIC_NAME),
        ("a b", Fault.INVALID_TOPIC_NAME),
        ("__consumer_offsets", Fault.UNKNOWN_TOPIC),
    ]


def test_missing_topic_that_cannot_be_written_is_unknown() -> None:
    world = world_with()
    world.log("__cluster_metadata").fault = Fault.STORAGE
    (topic,) = world.execute(DescribeTopics(["new"], may_create=True)).topics
    assert topic.fault is Fault.UNKNOWN_TOPIC


def test_missing_topic_that_the_caller_may_not_make_is_refused() -> None:
    world = world_with(Denying((Operation.CREATE, Resource.TOPIC), (Operation.CREATE, Resource.CLUSTER)))
    (topic,) = world.execute(DescribeTopics(["new"], may_create=True)).topics
    assert topic.fault is Fault.NOT_AUTHORIZED_TOPIC
    assert len(world.image.topics) == 0


# -- described -----------------------------------------------------------------------------------


def test_topics_that_the_caller_may_not_see_are_not_among_all() -> None:
    """Promise S11: by name they look like missing ones."""
    world = world_with(Denying((Operation.DESCRIBE, Resource.TOPIC, "secret")))
    secret_id = world.create_topic("secret")
    world.create_topic("open")
    assert names_and_faults(world.execute(DescribeTopics(None)).topics) == [("open", None)]
    by_name, by_id = world.execute(DescribeTopics(["secret", secret_id])).topics
    assert (by_name.fault, by_name.topic_id, by_name.partitions) == (
        Fault.NOT_AUTHORIZED_TOPIC,
        bytes(16),
        {},
    )
    assert (by_id.fault, by_id.name) == (Fault.UNKNOWN_TOPIC_ID, None)


def test_operations_are_told_if_asked_for() -> None:
    world = world_with(Denying((Operation.WRITE, Resource.TOPIC), (Operation.ALTER, Resource.CLUSTER)))
    world.create_topic("a")
    plain = world.execute(DescribeTopics(["a"]))
    assert (plain.topics[0].operations, plain.cluster_operations) == (None, None)
    asked = world.execute(DescribeTopics(["a"], with_operations=True, with_cluster_operations=True))
    assert asked.topics[0].operations == OPERATIONS[Resource.TOPIC] - {Operation.WRITE}
    assert asked.cluster_operations == OPERATIONS[Resource.CLUSTER] - {Operation.ALTER}


def test_partition_in_a_failed_directory_is_told_to_be_offline() -> None:
    world = world_with()
    world.create_topic("a", 2)
    world.storage.offline.add(("a", 1))
    (topic,) = world.execute(DescribeTopics(["a"])).topics
    assert topic.offline == {1}


def test_topic_of_the_broker_itself_is_internal() -> None:
    """Mission 001.21."""
    world = world_with()
    world.create_topic("__consumer_offsets")
    (topic,) = world.execute(DescribeTopics(["__consumer_offsets"])).topics
    assert topic.is_internal


# -- page by page --------------------------------------------------------------------------------


def turn_over(world: World, partitions_max: int) -> list[tuple[str, int]]:
    """All partitions, one page after the other."""
    seen, cursor = [], None
    for _ in range(100):
        page: TopicsPage = world.execute(DescribeTopicsPage(None, partitions_max, cursor))
        assert sum(len(topic.partitions) for topic in page.topics) <= partitions_max
        seen += [(str(topic.topic), index) for topic in page.topics for index in topic.partitions]
        cursor = page.cursor_next
        if cursor is None:
            return seen
    raise AssertionError("the pages never end")


@pytest.mark.parametrize("partitions_max", [1, 2, 3, 4, 5, 100])
def test_pages_of_any_size_show_every_partition_once_and_in_order(partitions_max: int) -> None:
    world = world_with()
    for name, partitions in (("c", 1), ("a", 3), ("b", 4)):
        world.create_topic(name, partitions)
    expected = [("a", index) for index in range(3)] + [("b", index) for index in range(4)] + [("c", 0)]
    assert turn_over(world, partitions_max) == expected


def test_page_is_no_larger_than_the_broker_allows() -> None:
    world = world_with(max_request_partition_size_limit="2")
    world.create_topic("a", 5)
    page = world.execute(DescribeTopicsPage(None, 100))
    assert (len(page.topics[0].partitions), page.cursor_next) == (2, Cursor("a", 2))


def test_page_goes_on_behind_a_topic_that_was_deleted_in_between() -> None:
    world = world_with()
    world.create_topic("a")
    world.create_topic("c")
    page = world.execute(DescribeTopicsPage(None, 5, Cursor("b", 0)))
    assert names_and_faults(page.topics) == [("c", None)]


def test_page_puts_topics_that_the_caller_may_not_see_behind_all_others() -> None:
    world = world_with(Denying((Operation.DESCRIBE, Resource.TOPIC, "a")))
    world.create_topic("a")
    world.create_topic("b")
    named = world.execute(DescribeTopicsPage(["a", "b"], 5))
    assert names_and_faults(named.topics) == [("b", None), ("a", Fault.NOT_AUTHORIZED_TOPIC)]
    assert names_and_faults(world.execute(DescribeTopicsPage(None, 5)).topics) == [("b", None)]


@pytest.mark.parametrize("cursor", [Cursor("b", 0), Cursor("a", -1)])
def test_page_at_a_place_that_there_is_not_is_refused(cursor: Cursor) -> None:
    world = world_with()
    world.create_topic("a")
    page = world.execute(DescribeTopicsPage(["a"], 5, cursor))
    assert names_and_faults(page.topics) == [("a", Fault.INVALID_REQUEST)]
