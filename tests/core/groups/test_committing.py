"""Committing, looking up and deleting offsets (mission 003.28, X.3)."""

import pytest

from tests.core.groups.coordinated import CALLER, INITIAL_DELAY_MS, Coordinated, subscription
from trivium.core.commands.groups import Joined, Protocol
from trivium.core.commands.offsets import (
    CommitOffsets,
    CommittedPart,
    DeletedOffsets,
    DeleteOffsets,
    FetchOffsets,
    FoundOffset,
    GroupOffsets,
    GroupOffsetsWanted,
    OffsetToCommit,
)
from trivium.core.faults import Fault


@pytest.fixture
def groups() -> Coordinated:
    return Coordinated()


def committed(fault: Fault | None = None, topic: str | bytes = "t") -> list[list[CommittedPart]]:
    return [[CommittedPart(topic, 0, fault)]]


def fetch(groups: Coordinated, *parts: tuple[str | bytes, int], group_id: str = "g") -> list[FoundOffset]:
    [result] = groups.world.execute(FetchOffsets([GroupOffsetsWanted(group_id, parts)]), CALLER)
    assert result.fault is None
    return list(result.offsets)


# -- committing ------------------------------------------------------------------------------------


def test_simple_consumer_commits_without_being_a_member(groups: Coordinated) -> None:
    topic_id = groups.world.image.topics.by_name["t"].topic_id
    assert groups.commit(42, metadata="note") == committed()
    assert fetch(groups, ("t", 0)) == [FoundOffset("t", 0, None, 42, 3, "note", topic_id)]
    assert groups.describe().state == "Empty"


def test_member_commits_and_a_later_commit_may_go_back(groups: Coordinated) -> None:
    [member] = groups.stable()
    assert groups.commit(42, member) == committed()
    assert groups.commit(7, member) == committed()
    assert groups.offsets() == {("t", 0): 7}


def test_topic_is_named_by_id_and_found_by_name(groups: Coordinated) -> None:
    topic_id = groups.world.image.topics.by_name["t"].topic_id
    assert groups.commit(42, topic=topic_id) == committed(topic=topic_id)
    assert groups.offsets() == {("t", 0): 42}
    [found] = fetch(groups, (topic_id, 0))
    assert (found.topic, found.offset) == (topic_id, 42)


def test_commit_is_answered_when_it_is_durable(groups: Coordinated) -> None:
    groups.commit(1)
    groups.world.storage.holds_syncs = True
    reply = groups.commit(42)
    assert reply == []
    assert groups.offsets() == {("t", 0): 42}
    groups.world.storage.sync()
    assert reply == committed()


def test_commit_that_cannot_be_written_changes_nothing(groups: Coordinated) -> None:
    groups.commit(1)
    groups.log.fault = Fault.STORAGE
    assert groups.commit(42) == committed(Fault.NOT_COORDINATOR)
    assert groups.offsets() == {("t", 0): 1}


def test_commit_of_another_generation_is_refused(groups: Coordinated) -> None:
    [member] = groups.stable()
    assert groups.commit(42, member, generation=5) == committed(Fault.ILLEGAL_GENERATION)
    assert groups.offsets() == {}


def test_commit_of_an_unknown_member_is_refused(groups: Coordinated) -> None:
    groups.stable()
    nobody = Joined("nobody", generation=1)
    assert groups.commit(42, nobody) == committed(Fault.UNKNOWN_MEMBER_ID)


def test_simple_consumer_is_refused_while_the_group_has_members(groups: Coordinated) -> None:
    groups.stable()
    assert groups.commit(42) == committed(Fault.UNKNOWN_MEMBER_ID)


def test_commit_to_a_group_that_is_not_there_is_refused(groups: Coordinated) -> None:
    member = Joined("somebody", generation=1)
    assert groups.commit(42, member) == committed(Fault.GROUP_ID_NOT_FOUND)


def test_member_may_commit_until_it_joins_the_next_generation(groups: Coordinated) -> None:
    first, second = groups.stable(2)
    groups.join()
    assert groups.commit(42, first) == committed()
    again = [groups.join(first.member_id), groups.join(second.member_id)]
    assert groups.commit(43, again[0][0]) == committed(Fault.REBALANCE_IN_PROGRESS)
    assert groups.commit(43, first) == committed(Fault.ILLEGAL_GENERATION)


def test_commit_keeps_a_session_alive(groups: Coordinated) -> None:
    [member] = groups.stable()
    for offset in range(5):
        groups.pass_time(9000)
        assert groups.commit(offset, member) == committed()


def test_unknown_topics_and_partitions_are_refused_one_by_one(groups: Coordinated) -> None:
    parts: list[tuple[str | bytes, int]] = [("t", 0), ("t", 9), ("unknown", 0), (b"x" * 16, 0)]
    command = CommitOffsets("g", [OffsetToCommit(topic, index, 5) for topic, index in parts])
    assert [part.fault for part in groups.world.execute(command)] == [
        None,
        Fault.UNKNOWN_TOPIC,
        Fault.UNKNOWN_TOPIC,
        Fault.UNKNOWN_TOPIC_ID,
    ]
    assert groups.offsets() == {("t", 0): 5}


def test_metadata_may_be_as_long_as_the_setting_says() -> None:
    groups = Coordinated({"offset.metadata.max.bytes": "4"})
    assert groups.commit(1, metadata="four") == committed()
    assert groups.commit(2, metadata="fives") == committed(Fault.OFFSET_METADATA_TOO_LARGE)
    assert groups.offsets() == {("t", 0): 1}


def test_group_without_a_name_may_commit(groups: Coordinated) -> None:
    assert groups.commit(42, group_id="") == committed()
    assert groups.offsets("") == {("t", 0): 42}


def test_many_offsets_are_written_in_batches_of_the_allowed_size(groups: Coordinated) -> None:
    groups.world.create_topic("wide", 1000)
    groups.commit(0)
    metadata = "m" * 4000
    parts = [OffsetToCommit("wide", index, index, -1, metadata) for index in range(1000)]
    results = groups.world.execute(CommitOffsets("g", parts))
    assert not any(part.fault for part in results)
    groups.restart()
    assert groups.offsets() == {("t", 0): 0} | {("wide", index): index for index in range(1000)}


# -- looking up ------------------------------------------------------------------------------------


def test_what_was_never_committed_is_minus_one(groups: Coordinated) -> None:
    assert [found.offset for found in fetch(groups, ("t", 0), ("unknown", 3))] == [-1, -1]
    groups.commit(42)
    assert [found.offset for found in fetch(groups, ("t", 1), ("t", 0))] == [-1, 42]


def test_unknown_topic_id_is_refused(groups: Coordinated) -> None:
    assert fetch(groups, (b"x" * 16, 0)) == [FoundOffset(b"x" * 16, 0, Fault.UNKNOWN_TOPIC_ID)]


def test_several_groups_are_looked_up_at_once(groups: Coordinated) -> None:
    groups.commit(1, group_id="a")
    groups.commit(2, group_id="b")
    wanted = [GroupOffsetsWanted(name, [("t", 0)]) for name in ("a", "b", "c")]
    results = groups.world.execute(FetchOffsets(wanted))
    assert [group.offsets[0].offset for group in results] == [1, 2, -1]


def test_group_whose_partition_cannot_be_read_is_refused_alone() -> None:
    groups = Coordinated({"offsets.topic.num.partitions": "2"})
    groups.commit(1, group_id="a")
    groups.commit(2, group_id="b")
    groups.world.log("__consumer_offsets", 1).fault = Fault.STORAGE
    groups.restart()
    wanted = [GroupOffsetsWanted(name, [("t", 0)]) for name in ("a", "b")]
    broken, whole = groups.world.execute(FetchOffsets(wanted))
    assert broken == GroupOffsets("a", Fault.NOT_COORDINATOR)
    assert whole.offsets[0].offset == 2


# -- deleting --------------------------------------------------------------------------------------


def test_offsets_of_topics_that_nobody_reads_can_be_deleted(groups: Coordinated) -> None:
    groups.world.create_topic("u")
    groups.commit(1)
    groups.commit(2, topic="u")
    reply = groups.join(protocols=[Protocol("range", subscription("u"))])
    groups.pass_time(INITIAL_DELAY_MS)
    groups.sync(reply[0])
    parts = [("t", 0), ("u", 0), ("t", 1), ("t", 9), ("unknown", 0)]
    result = groups.world.execute(DeleteOffsets("g", parts))
    assert [part.fault for part in result.parts] == [
        None,
        Fault.GROUP_SUBSCRIBED_TO_TOPIC,
        None,
        Fault.UNKNOWN_TOPIC,
        Fault.UNKNOWN_TOPIC,
    ]
    assert groups.offsets() == {("u", 0): 2}
    groups.restart()
    assert groups.offsets() == {("u", 0): 2}


def test_offsets_of_no_group_cannot_be_deleted(groups: Coordinated) -> None:
    result = groups.world.execute(DeleteOffsets("nobody", [("t", 0)]))
    assert result == DeletedOffsets(Fault.GROUP_ID_NOT_FOUND)


def test_offsets_of_a_group_whose_subscriptions_are_unreadable_cannot_be_deleted(groups: Coordinated) -> None:
    groups.commit(1)
    groups.join(protocols=[Protocol("range", b"?")])
    groups.pass_time(INITIAL_DELAY_MS)
    result = groups.world.execute(DeleteOffsets("g", [("t", 0)]))
    assert result.parts == [CommittedPart("t", 0, Fault.GROUP_SUBSCRIBED_TO_TOPIC)]


def test_offsets_of_a_busy_group_of_another_kind_cannot_be_deleted(groups: Coordinated) -> None:
    groups.commit(1)
    groups.join(protocol_type="connect", protocols=[Protocol("v1", b"")])
    result = groups.world.execute(DeleteOffsets("g", [("t", 0)]))
    assert result == DeletedOffsets(Fault.NON_EMPTY_GROUP)
