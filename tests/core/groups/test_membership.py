"""Heartbeats, leaving, and sessions that end."""

import pytest

from tests.core.groups.coordinated import INITIAL_DELAY_MS, SESSION_MS, Coordinated
from trivium.core.commands.groups import Heartbeat, Joined, LeaveGroup, Leaver, Left, LeftMember
from trivium.core.faults import Fault


@pytest.fixture
def groups() -> Coordinated:
    return Coordinated()


def test_heartbeat_keeps_a_session_alive(groups: Coordinated) -> None:
    [member] = groups.stable()
    for _ in range(5):
        groups.pass_time(SESSION_MS - 1)
        assert groups.beat(member) is None


def test_member_that_is_not_heard_of_expires_and_the_group_is_empty(groups: Coordinated) -> None:
    [member] = groups.stable()
    groups.pass_time(SESSION_MS)
    assert groups.beat(member) is Fault.UNKNOWN_MEMBER_ID
    assert groups.state == "Empty"


def test_expired_member_makes_the_others_rebalance(groups: Coordinated) -> None:
    first, second = groups.stable(2)
    groups.pass_time(SESSION_MS - 1)
    groups.beat(first)
    groups.pass_time(1)
    assert groups.beat(first) is Fault.REBALANCE_IN_PROGRESS
    [again] = groups.join(first.member_id)
    assert (again.generation, len(again.members)) == (2, 1)
    assert groups.beat(second) is Fault.UNKNOWN_MEMBER_ID


def test_heartbeat_of_another_generation_is_refused(groups: Coordinated) -> None:
    [member] = groups.stable()
    assert groups.beat(member, generation=0) is Fault.ILLEGAL_GENERATION
    assert groups.beat(member, generation=2) is Fault.ILLEGAL_GENERATION


def test_heartbeat_before_the_sync_is_good(groups: Coordinated) -> None:
    reply = groups.join()
    groups.pass_time(INITIAL_DELAY_MS)
    assert groups.beat(reply[0]) is None


def test_heartbeat_where_there_is_no_group_is_refused_and_makes_no_topic(groups: Coordinated) -> None:
    assert groups.beat(Joined("nobody", generation=1)) is Fault.UNKNOWN_MEMBER_ID
    assert groups.world.execute(Heartbeat("", "nobody", None, 1)) is Fault.INVALID_GROUP_ID
    assert "__consumer_offsets" not in groups.world.image.topics.by_name


def test_member_that_leaves_makes_the_others_rebalance_at_once(groups: Coordinated) -> None:
    first, second = groups.stable(2)
    assert groups.leave(second).members == [LeftMember(second.member_id, None)]
    assert groups.beat(first) is Fault.REBALANCE_IN_PROGRESS


def test_last_member_that_leaves_leaves_an_empty_group_of_a_new_generation(groups: Coordinated) -> None:
    [member] = groups.stable()
    groups.leave(member)
    assert groups.state == "Empty"
    reply = groups.join()
    groups.pass_time(INITIAL_DELAY_MS)
    assert reply[0].generation == 3


def test_several_leave_each_with_its_own_answer(groups: Coordinated) -> None:
    first, second = groups.stable(2)
    [pending] = groups.join(wants_member_id=True)
    left = groups.leave(first, Leaver("nobody"), pending)
    assert [member.fault for member in left.members] == [None, Fault.UNKNOWN_MEMBER_ID, None]
    assert groups.beat(second) is Fault.REBALANCE_IN_PROGRESS


def test_leaving_no_group_is_refused_member_by_member(groups: Coordinated) -> None:
    assert groups.leave(Leaver("nobody")) == Left(
        members=[LeftMember("nobody", None, Fault.UNKNOWN_MEMBER_ID)]
    )
    assert groups.world.execute(LeaveGroup("", [])) == Left(Fault.INVALID_GROUP_ID)


def test_nobody_leaves_and_nothing_happens(groups: Coordinated) -> None:
    [member] = groups.stable()
    groups.leave(Leaver("nobody"))
    assert groups.beat(member) is None


def test_member_that_leaves_while_it_waits_is_answered(groups: Coordinated) -> None:
    groups.stable()
    [told] = groups.join(wants_member_id=True)
    waiting = groups.join(told.member_id)
    groups.leave(told)
    assert waiting == [Joined("", Fault.UNKNOWN_MEMBER_ID)]


def test_leaving_completes_a_rebalance_that_waits_for_the_leaver_only(groups: Coordinated) -> None:
    first, second = groups.stable(2)
    again = groups.join(first.member_id)
    assert not again
    groups.leave(second)
    assert again[0].generation == 2
