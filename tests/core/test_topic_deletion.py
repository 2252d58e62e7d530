"""Taking topics and records away. What Kafka says to every mistake is in ``tests/golden``."""

import pytest

from tests.core.fakes import World
from tests.core.rights import Denying
from trivium.core.access import Access, Operation, Resource
from trivium.core.commands.topics import (
    HIGH_WATERMARK,
    DeletedTopic,
    DeleteRecords,
    DeleteRecordsPart,
    DeleteTopics,
)
from trivium.core.faults import Fault
from trivium.core.topic_deletion import TopicDeletion
from trivium.records.batch import build_batch, iter_batches
from trivium.records.record import Record


def world_with(access: Access | None = None, **settings: str) -> World:
    world = World({name.replace("_", "."): value for name, value in settings.items()})
    world.add(TopicDeletion(world.cluster, world.settings, access or world.access, world.timers).routes)
    return world


def ten_records(world: World, topic: str) -> None:
    batch = bytearray(build_batch([Record(number, 0, b"k", b"v") for number in range(10)]))
    world.cluster.partition(topic, 0).log.append(batch, list(iter_batches(batch)), 0)


def test_topic_that_is_deleted_takes_its_logs_and_settings_along() -> None:
    world = world_with()
    topic_id = world.create_topic("a", 2, retention_ms="5")
    assert world.execute(DeleteTopics(["a"])) == [DeletedTopic("a", topic_id)]
    assert "a" not in world.image.topics.by_name
    assert world.image.configs.of_topic("a") == {}
    assert ("a", 0) not in world.storage.logs


def test_deletion_is_told_of_when_it_is_durable() -> None:
    world = world_with()
    topic_id = world.create_topic("a")
    world.storage.holds_syncs = True
    replies = world.submit(DeleteTopics([topic_id]))
    assert replies == []
    world.storage.sync()
    assert replies == [[DeletedTopic("a", topic_id)]]


def test_deletion_that_is_not_durable_in_time_is_told_so_once() -> None:
    world = world_with()
    world.create_topic("a")
    world.storage.holds_syncs = True
    replies = world.submit(DeleteTopics(["a"], timeout_ms=5))
    world.pass_time(5)
    world.storage.sync()
    assert replies == [[DeletedTopic("a", fault=Fault.TIMED_OUT)]]


def test_deletion_that_may_take_no_time_is_not_begun() -> None:
    world = world_with()
    world.create_topic("a")
    (refused,) = world.execute(DeleteTopics(["a"], timeout_ms=0))
    assert refused.fault is Fault.TIMED_OUT
    assert "a" in world.image.topics.by_name


def test_topic_whose_removal_cannot_be_written_stays() -> None:
    world = world_with()
    topic_id = world.create_topic("a")
    world.log("__cluster_metadata").fault = Fault.STORAGE
    assert world.execute(DeleteTopics(["a"])) == [DeletedTopic("a", topic_id, Fault.STORAGE)]
    assert "a" in world.image.topics.by_name


def test_deletion_that_is_disabled_is_refused_for_every_topic() -> None:
    world = world_with(delete_topic_enable="false")
    topic_id = world.create_topic("a")
    results = world.execute(DeleteTopics(["a", topic_id]))
    assert [result.fault for result in results] == [Fault.TOPIC_DELETION_DISABLED] * 2
    assert "a" in world.image.topics.by_name


def test_topic_of_the_broker_itself_is_not_deleted() -> None:
    world = world_with()
    world.create_topic("__consumer_offsets")
    (refused,) = world.execute(DeleteTopics(["__consumer_offsets"]))
    assert refused.fault is Fault.INVALID_REQUEST
    assert "__consumer_offsets" in world.image.topics.by_name


def test_topic_named_and_given_by_id_is_not_deleted_whatever_comes_first() -> None:
    world = world_with()
    topic_id = world.create_topic("a")
    refs: list[str | bytes] = ["a", topic_id]
    for order in (refs, refs[::-1]):
        (refused,) = world.execute(DeleteTopics(order))
        assert (refused.name, refused.topic_id, refused.fault) == ("a", topic_id, Fault.INVALID_REQUEST)
    assert "a" in world.image.topics.by_name


ON_CLUSTER = ((Operation.DELETE, Resource.CLUSTER), (Operation.DESCRIBE, Resource.CLUSTER))


def test_topic_that_the_caller_may_see_and_not_delete_is_refused_by_name() -> None:
    world = world_with(Denying(*ON_CLUSTER, (Operation.DELETE, Resource.TOPIC)))
    topic_id = world.create_topic("a")
    assert world.execute(DeleteTopics([topic_id])) == [
        DeletedTopic("a", topic_id, Fault.NOT_AUTHORIZED_TOPIC)
    ]


def test_topic_that_the_caller_may_not_see_looks_like_one_that_is_missing() -> None:
    """Promise S11."""
    world = world_with(
        Denying(*ON_CLUSTER, (Operation.DELETE, Resource.TOPIC), (Operation.DESCRIBE, Resource.TOPIC))
    )
    topic_id = world.create_topic("a")
    there, missing, by_id = world.execute(DeleteTopics(["a", "missing", topic_id]))[::-1]
    assert (there.fault, missing.fault) == (Fault.NOT_AUTHORIZED_TOPIC,) * 2
    assert by_id == DeletedTopic(None, topic_id, Fault.NOT_AUTHORIZED_TOPIC)


# -- records -------------------------------------------------------------------------------------


def test_records_before_an_offset_are_gone_when_the_answer_comes() -> None:
    world = world_with()
    world.create_topic("a")
    ten_records(world, "a")
    world.storage.holds_syncs = True
    command = DeleteRecords([DeleteRecordsPart("a", 0, 4), DeleteRecordsPart("a", 7, 1)])
    replies = world.submit(command)
    assert replies == []
    world.storage.sync()
    assert [(part.fault, part.low_watermark) for part in replies[0]] == [(None, 4), (Fault.UNKNOWN_TOPIC, -1)]


def test_records_that_are_gone_already_are_told_of_at_once() -> None:
    world = world_with()
    world.create_topic("a")
    ten_records(world, "a")
    world.execute(DeleteRecords([DeleteRecordsPart("a", 0, 4)]))
    world.storage.holds_syncs = True
    (part,) = world.execute(DeleteRecords([DeleteRecordsPart("a", 0, 2)]))
    assert (part.fault, part.low_watermark) == (None, 4)


def test_all_records_are_those_below_the_high_watermark() -> None:
    world = world_with()
    world.create_topic("a")
    ten_records(world, "a")
    (part,) = world.execute(DeleteRecords([DeleteRecordsPart("a", 0, HIGH_WATERMARK)]))
    assert (part.fault, part.low_watermark) == (None, 10)


def test_records_whose_deletion_cannot_be_made_durable_are_told_so() -> None:
    world = world_with()
    world.create_topic("a")
    ten_records(world, "a")
    world.storage.holds_syncs = True
    replies = world.submit(DeleteRecords([DeleteRecordsPart("a", 0, 4)]))
    world.storage.sync(Fault.STORAGE)
    assert [(part.fault, part.low_watermark) for part in replies[0]] == [(Fault.STORAGE, -1)]


def test_records_whose_deletion_is_not_durable_in_time_are_told_so() -> None:
    world = world_with()
    world.create_topic("a")
    ten_records(world, "a")
    world.storage.holds_syncs = True
    replies = world.submit(DeleteRecords([DeleteRecordsPart("a", 0, 4)], timeout_ms=5))
    world.pass_time(5)
    world.storage.sync()
    assert [[part.fault for part in parts] for parts in replies] == [[Fault.TIMED_OUT]]


def test_records_are_deleted_also_without_time_to_wait_for_it() -> None:
    world = world_with()
    world.create_topic("a")
    ten_records(world, "a")
    (part,) = world.execute(DeleteRecords([DeleteRecordsPart("a", 0, 4)], timeout_ms=0))
    assert (part.fault, part.low_watermark) == (None, 4)


def test_records_of_the_broker_itself_are_not_deleted() -> None:
    world = world_with()
    world.create_topic("__consumer_offsets")
    (part,) = world.execute(DeleteRecords([DeleteRecordsPart("__consumer_offsets", 0, 0)]))
    assert part.fault is Fault.INVALID_TOPIC_NAME


@pytest.mark.parametrize("topic", ["a", "missing"])
def test_records_that_the_caller_may_not_delete_are_refused_alike(topic: str) -> None:
    world = world_with(Denying((Operation.DELETE, Resource.TOPIC)))
    world.create_topic("a")
    (part,) = world.execute(DeleteRecords([DeleteRecordsPart(topic, 0, 0)]))
    assert part.fault is Fault.NOT_AUTHORIZED_TOPIC


def test_deletion_of_no_records_is_answered() -> None:
    assert world_with().execute(DeleteRecords([])) == []
