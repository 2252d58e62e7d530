"""Offsets and groups that are forgotten: in time, with their topic, or because somebody says so."""

import pytest

from tests.core.groups.coordinated import CALLER, INITIAL_DELAY_MS, Coordinated, subscription
from trivium.core.commands.groups import DeletedGroup, DeleteGroups, Joined, Protocol
from trivium.core.commands.offsets import FetchOffsets, GroupOffsetsWanted
from trivium.core.faults import Fault

MINUTE_MS = 60_000
RETENTION_MS = 10 * MINUTE_MS


@pytest.fixture
def groups() -> Coordinated:
    return Coordinated(
        {"offsets.retention.minutes": "10", "offsets.retention.check.interval.ms": str(MINUTE_MS)}
    )


def keep_beating(groups: Coordinated, member: Joined, milliseconds: int) -> None:
    for _ in range(milliseconds // 5000):
        groups.pass_time(5000)
        assert groups.beat(member) is None


def test_offsets_of_a_simple_consumer_expire_and_its_group_with_them(groups: Coordinated) -> None:
    groups.commit(42)
    groups.pass_time(RETENTION_MS - MINUTE_MS)
    assert groups.offsets() == {("t", 0): 42}
    groups.pass_time(2 * MINUTE_MS)
    assert groups.offsets() == {}
    assert groups.state == "Dead"
    groups.restart()
    assert groups.state == "Dead"


def test_commit_again_keeps_an_offset(groups: Coordinated) -> None:
    for _ in range(5):
        groups.commit(42)
        groups.pass_time(RETENTION_MS - MINUTE_MS)
    assert groups.offsets() == {("t", 0): 42}


def test_offsets_of_a_group_are_kept_from_when_it_became_empty(groups: Coordinated) -> None:
    [member] = groups.stable()
    groups.commit(42, member)
    keep_beating(groups, member, 2 * RETENTION_MS)
    groups.leave(member)
    groups.pass_time(RETENTION_MS - MINUTE_MS)
    assert groups.offsets() == {("t", 0): 42}
    groups.pass_time(2 * MINUTE_MS)
    assert groups.offsets() == {}


def test_offsets_of_topics_that_members_left_expire_alone(groups: Coordinated) -> None:
    groups.world.create_topic("u")
    groups.commit(1)
    groups.commit(2, topic="u")
    reply = groups.join(protocols=[Protocol("range", subscription("u"))])
    groups.pass_time(INITIAL_DELAY_MS)
    groups.sync(reply[0])
    keep_beating(groups, reply[0], RETENTION_MS + MINUTE_MS)
    assert groups.offsets() == {("u", 0): 2}


def test_offsets_of_busy_members_with_unreadable_subscriptions_are_kept(groups: Coordinated) -> None:
    groups.commit(1)
    reply = groups.join(protocols=[Protocol("range", b"?")])
    groups.pass_time(INITIAL_DELAY_MS)
    groups.sync(reply[0])
    keep_beating(groups, reply[0], RETENTION_MS + MINUTE_MS)
    assert groups.offsets() == {("t", 0): 1}


def test_offset_with_its_own_retention_expires_by_it(groups: Coordinated) -> None:
    groups.commit(1, retention_ms=2 * MINUTE_MS)
    groups.commit(2, partition=1, retention_ms=30 * MINUTE_MS)
    groups.pass_time(3 * MINUTE_MS)
    assert groups.offsets() == {("t", 1): 2}
    groups.restart()
    groups.pass_time(RETENTION_MS + MINUTE_MS)
    assert groups.offsets() == {("t", 1): 2}
    groups.pass_time(30 * MINUTE_MS)
    assert groups.offsets() == {}


def test_time_of_a_commit_may_be_given(groups: Coordinated) -> None:
    groups.commit(1, committed_at_ms=groups.world.clock.wall_ms() - RETENTION_MS)
    groups.pass_time(MINUTE_MS)
    assert groups.offsets() == {}


def test_age_counts_over_a_restart(groups: Coordinated) -> None:
    groups.commit(1)
    groups.pass_time(RETENTION_MS // 2)
    groups.restart()
    groups.pass_time(RETENTION_MS // 2 + MINUTE_MS)
    assert groups.offsets() == {}


@pytest.mark.parametrize("jump_ms", [31_536_000_000, -31_536_000_000])
def test_clock_jump_expires_no_offset(groups: Coordinated, jump_ms: int) -> None:
    """R10"""
    groups.commit(1)
    groups.world.clock.jump(jump_ms)
    groups.commit(2, partition=1)
    groups.pass_time(2 * MINUTE_MS)
    assert groups.offsets() == {("t", 0): 1, ("t", 1): 2}
    groups.world.clock.jump(-jump_ms)
    groups.pass_time(2 * MINUTE_MS)
    assert groups.offsets() == {("t", 0): 1, ("t", 1): 2}


def test_commit_under_a_clock_that_ran_ahead_is_kept_no_longer_than_others(groups: Coordinated) -> None:
    """R10"""
    groups.world.clock.jump(31_536_000_000)
    groups.commit(1)
    groups.world.clock.jump(-31_536_000_000)
    groups.restart()
    groups.pass_time(RETENTION_MS + MINUTE_MS)
    assert groups.offsets() == {}


def test_expiry_that_cannot_be_written_is_tried_again(groups: Coordinated) -> None:
    groups.commit(1)
    groups.pass_time(RETENTION_MS - MINUTE_MS)
    groups.log.fault = Fault.STORAGE
    groups.pass_time(2 * MINUTE_MS)
    assert groups.offsets() == {("t", 0): 1}
    groups.log.fault = None
    groups.pass_time(MINUTE_MS)
    assert groups.offsets() == {}


def test_newcomer_with_a_given_id_keeps_its_empty_group(groups: Coordinated) -> None:
    [told] = groups.join(wants_member_id=True, session_timeout_ms=20 * MINUTE_MS)
    groups.pass_time(2 * MINUTE_MS)
    assert not groups.join(told.member_id)


# -- with the topic --------------------------------------------------------------------------------


def test_deleted_topic_takes_its_offsets_along(groups: Coordinated) -> None:
    groups.world.create_topic("u")
    groups.commit(1)
    groups.commit(2, topic="u")
    groups.delete_topic("t")
    assert groups.offsets() == {("u", 0): 2}
    groups.world.create_topic("t", 4)
    groups.restart()
    assert groups.offsets() == {("u", 0): 2}


def test_topic_that_was_made_anew_owes_nothing_to_its_namesake(groups: Coordinated) -> None:
    """A crash may come between the end of a topic and the end of its offsets."""
    groups.commit(1)
    groups.world.cluster.removed.clear()
    groups.delete_topic("t")
    groups.world.create_topic("t", 4)
    groups.restart()
    assert groups.offsets() == {}


# -- by DeleteGroups -------------------------------------------------------------------------------


def test_deleted_group_takes_its_offsets_along(groups: Coordinated) -> None:
    [member] = groups.stable()
    groups.commit(42, member)
    groups.leave(member)
    assert groups.world.execute(DeleteGroups(["g"])) == [DeletedGroup("g")]
    for _ in range(2):
        assert groups.offsets() == {}
        assert groups.state == "Dead"
        groups.restart()
    [result] = groups.world.execute(FetchOffsets([GroupOffsetsWanted("g", [("t", 0)])]), CALLER)
    assert result.offsets[0].offset == -1


def test_groups_are_deleted_each_with_its_own_answer(groups: Coordinated) -> None:
    groups.stable()
    groups.commit(1, group_id="simple")
    results = groups.world.execute(DeleteGroups(["g", "simple", "unknown", "simple"]))
    assert results == [
        DeletedGroup("g", Fault.NON_EMPTY_GROUP),
        DeletedGroup("simple"),
        DeletedGroup("unknown", Fault.GROUP_ID_NOT_FOUND),
    ]
    assert groups.world.execute(DeleteGroups([])) == []


def test_deletion_is_answered_when_it_is_durable(groups: Coordinated) -> None:
    groups.commit(1, group_id="a")
    groups.commit(1, group_id="b")
    groups.world.storage.holds_syncs = True
    replies = groups.world.submit(DeleteGroups(["a", "b"]))
    assert replies == []
    groups.world.storage.sync()
    assert replies == [[DeletedGroup("a"), DeletedGroup("b")]]


def test_deletion_that_cannot_be_written_deletes_nothing(groups: Coordinated) -> None:
    groups.commit(1)
    groups.log.fault = Fault.STORAGE
    assert groups.world.execute(DeleteGroups(["g"])) == [DeletedGroup("g", Fault.NOT_COORDINATOR)]
    assert groups.offsets() == {("t", 0): 1}
