"""A change of the metadata is decided by its append: what storage does after it cannot halve it."""

import pytest

from tests.core.fakes import World
from trivium.core.commands.topics import NewTopic
from trivium.core.faults import Fault, Refused
from trivium.core.metadata_topics import Topic
from trivium.messages.stored.metadata_topics import RemoveTopicRecord


class Unwilling:
    """A storage that refuses one verb, the first time it hears it."""

    def __init__(self, world: World, verb: str, error: Exception) -> None:
        self._carry_out = getattr(world.storage, verb)
        self._error: Exception | None = error
        setattr(world.storage, verb, self)

    def __call__(self, *arguments: object) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error
        self._carry_out(*arguments)


def test_partition_that_storage_refuses_keeps_none_of_the_others_back() -> None:
    world = World()
    told: list[Topic] = []
    world.cluster.created.append(told.append)
    Unwilling(world, "create", Refused(Fault.STORAGE))
    heard: list[Fault | None] = []
    world.cluster.commit(world.topics.new_topic_records(NewTopic("t", 3, 1, {})), heard.append)
    assert heard == [None]
    assert [topic.name for topic in told] == ["t"]
    assert sorted(world.storage.logs) == [("__cluster_metadata", 0), ("t", 1), ("t", 2)]


def test_topic_is_deleted_whole_though_storage_refuses_one_of_its_partitions() -> None:
    world = World()
    topic_id = world.create_topic("t", 3)
    gone: list[Topic] = []
    world.cluster.removed.append(gone.append)
    Unwilling(world, "delete", Refused(Fault.STORAGE))
    world.cluster.commit([(RemoveTopicRecord(topic_id=topic_id), 0)], lambda _fault: None)
    assert [topic.name for topic in gone] == ["t"]
    assert sorted(world.storage.logs) == [("__cluster_metadata", 0), ("t", 0)]
    with pytest.raises(Refused):
        world.cluster.partition("t", 0)


def test_bug_in_storage_is_reported_and_whoever_waits_is_still_answered() -> None:
    world = World()
    Unwilling(world, "create", ZeroDivisionError())
    heard: list[Fault | None] = []
    with pytest.raises(ZeroDivisionError):
        world.cluster.commit(world.topics.new_topic_records(NewTopic("t", 1, 1, {})), heard.append)
    assert heard == [None]
    assert "t" in world.image.topics.by_name


def test_removal_of_an_unknown_topic_changes_nothing() -> None:
    world = World()
    end = world.cluster.metadata_offset_end
    with pytest.raises(KeyError):
        world.cluster.commit([(RemoveTopicRecord(topic_id=bytes(16)), 0)], lambda _fault: None)
    assert world.cluster.metadata_offset_end == end
