"""Consumer groups in ``__consumer_offsets``: what a start finds is what was there, compacted or not."""

from collections.abc import Sequence

import pytest

from tests.core.groups.consumer.consuming import AWAY, Consuming, settle
from trivium.core.faults import Fault
from trivium.core.groups.consumer.group import ConsumerGroup
from trivium.core.groups.consumer.member import MemberState
from trivium.core.groups.consumer.records import holding_from
from trivium.core.groups.consumer.replaying import replay
from trivium.core.groups.moment import Moment
from trivium.messages.schema import Message
from trivium.messages.stored.consumer_groups import (
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupTargetAssignmentMetadataValue,
    TopicPartitions,
)
from trivium.messages.stored.group_log import GROUP_LOG
from trivium.records.batch import build_batch, check_batch
from trivium.records.record import Record

NOW = Moment(0, 0)
Stored = Sequence[tuple[bytes, bytes | None]]


@pytest.fixture
def groups() -> Consuming:
    return Consuming()


def lively(groups: Consuming) -> None:
    """A group with a past: members of all kinds, some gone, one away, one giving up, one waiting."""
    one, two = groups.consumer("one"), groups.consumer("two", instance_id="name", assignor="range")
    regex = groups.consumer("regex", topic_names=None, topic_regex="t.*", rack_id="r1")
    for member in (one, two, regex):
        member.join()
    settle(one, two, regex)
    two.leave(AWAY)
    one.leave()
    settle(regex)
    groups.consumer("late").join()
    regex.beat()


def stored(groups: Consuming) -> list[tuple[bytes, bytes | None]]:
    return [(key or b"", value) for _, key, value in groups.log.records()]


def compacted(records: Stored) -> list[tuple[bytes, bytes | None]]:
    """The last record of every key, in the order of the log."""
    last = {key: at for at, (key, _) in enumerate(records)}
    return [record for at, record in enumerate(records) if last[record[0]] == at]


def put_back(groups: Consuming, records: Stored) -> None:
    batch = bytearray(build_batch([Record(at, 0, key, value) for at, (key, value) in enumerate(records)]))
    groups.log._batches[:] = [(check_batch(batch), bytes(batch))]
    groups.log.log_end_offset = len(records)


def test_group_after_a_restart_is_what_it_was(groups: Consuming) -> None:
    lively(groups)
    before = groups.described()
    assert {member.member_id for member in before.members} == {"two", "regex", "late"}
    groups.restart()
    assert groups.described() == before


@pytest.mark.parametrize("without_tombstones", [False, True])
def test_group_after_compaction_is_what_it_was(groups: Consuming, without_tombstones: bool) -> None:
    lively(groups)
    before = groups.described()
    kept = compacted(stored(groups))
    assert len(kept) < len(stored(groups))
    put_back(groups, [record for record in kept if record[1] is not None or not without_tombstones])
    groups.restart()
    after = groups.described()
    assert sorted(after.members) == sorted(before.members)
    assert after._replace(members=()) == before._replace(members=())


def test_group_compacted_anywhere_and_replayed_from_there_is_what_it_was(groups: Consuming) -> None:
    """The cleaner may have come to any place when the broker stops."""
    lively(groups)
    records = stored(groups)
    expected = sorted(groups.described().members)
    for cleaned in range(len(records)):
        put_back(groups, [*compacted(records[:cleaned]), *records[cleaned:]])
        groups.restart()
        assert sorted(groups.described().members) == expected, cleaned


def test_deleted_group_leaves_nothing_behind(groups: Consuming) -> None:
    lively(groups)
    for member in groups.described().members:
        groups.consumer(member.member_id, **({"instance_id": "name"} if member.instance_id else {})).leave()
    groups.commit(5)
    assert groups.delete("g") is None
    assert [key for key, value in compacted(stored(groups)) if value is not None] == []
    groups.restart()
    assert groups.described().fault is Fault.GROUP_ID_NOT_FOUND


def test_records_are_those_that_kafka_writes(groups: Consuming) -> None:
    """Types, order and values as a dump of Kafka 4.3.1 shows them; the hash is our own."""
    groups.consumer("one").join()
    found: list[Message | None] = []
    for key, value in stored(groups):
        decoded = GROUP_LOG.decode_key(key)
        found.append(GROUP_LOG.decode_value(decoded, value))
    names = [type(value).__name__.removeprefix("ConsumerGroup") for value in found]
    assert names == [
        "MemberMetadataValue",
        "MetadataValue",
        "TargetAssignmentMemberValue",
        "TargetAssignmentMetadataValue",
        "CurrentMemberAssignmentValue",
    ]
    profile, _, _, target, current = found
    assert isinstance(profile, ConsumerGroupMemberMetadataValue)
    assert (profile.subscribed_topic_regex, profile.classic_member_metadata) == ("", None)
    assert isinstance(target, ConsumerGroupTargetAssignmentMetadataValue)
    assert target.assignment_timestamp == groups.world.clock.wall_ms()
    assert isinstance(current, ConsumerGroupCurrentMemberAssignmentValue)
    [parts] = current.assigned_partitions
    assert (parts.partitions, parts.assignment_epochs) == ([0, 1, 2, 3], [2, 2, 2, 2])


def test_record_without_epochs_of_partitions_has_the_members(groups: Consuming) -> None:
    """As Kafka wrote it before 4.3."""
    topic_id = bytes(15) + b"\x09"
    old = [TopicPartitions(topic_id=topic_id, partitions=[1, 2], assignment_epochs=None)]
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=7,
        previous_member_epoch=6,
        state=0,
        assigned_partitions=old,
        partitions_pending_revocation=[],
    )
    assert holding_from(value).assigned == {(topic_id, 1): 7, (topic_id, 2): 7}


def test_state_of_a_later_kafka_lets_nothing_go_early(groups: Consuming) -> None:
    parts = [TopicPartitions(topic_id=bytes(16), partitions=[1], assignment_epochs=[3])]
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=7,
        previous_member_epoch=6,
        state=9,
        assigned_partitions=[],
        partitions_pending_revocation=parts,
    )
    assert holding_from(value).state is MemberState.UNREVOKED_PARTITIONS


def test_end_of_a_member_that_is_not_there_is_nothing(groups: Consuming) -> None:
    lively(groups)
    group = ConsumerGroup("g")
    for key, value in stored(groups):
        if value is None:
            replay(group, GROUP_LOG.decode_key(key), None, NOW)
    assert not group.members
