"""Becoming a member of a classic group, and staying one (mission 003.27)."""

import pytest

from tests.core.groups.coordinated import INITIAL_DELAY_MS, RANGE, REBALANCE_MS, Coordinated, subscription
from trivium.core.commands.groups import Joined, JoinedMember, Protocol
from trivium.core.faults import Fault


@pytest.fixture
def groups() -> Coordinated:
    return Coordinated()


def test_newcomer_gets_an_id_first_and_joins_again_with_it(groups: Coordinated) -> None:
    [told] = groups.join(wants_member_id=True)
    assert told == Joined("client-1", Fault.MEMBER_ID_REQUIRED)
    reply = groups.join(told.member_id, wants_member_id=True)
    groups.pass_time(INITIAL_DELAY_MS)
    assert reply == [
        Joined(
            "client-1",
            generation=1,
            protocol_type="consumer",
            protocol_name="range",
            leader="client-1",
            members=[JoinedMember("client-1", None, subscription("t"))],
        )
    ]


def test_given_id_lapses_after_its_session_timeout(groups: Coordinated) -> None:
    [told] = groups.join(wants_member_id=True)
    groups.pass_time(10_001)
    assert groups.join(told.member_id, wants_member_id=True) == [
        Joined(told.member_id, Fault.UNKNOWN_MEMBER_ID)
    ]


def test_rebalance_waits_for_an_id_that_was_given_out(groups: Coordinated) -> None:
    [first] = groups.stable()
    [told] = groups.join(wants_member_id=True)
    assert groups.beat(first) is None
    second = groups.join(told.member_id)
    [third] = groups.join(wants_member_id=True)
    assert groups.beat(first) is Fault.REBALANCE_IN_PROGRESS
    first_again = groups.join(first.member_id)
    assert not second
    groups.leave(third)
    assert second[0].generation == first_again[0].generation == 2


def test_first_rebalance_waits_for_more_members_as_long_as_some_come(groups: Coordinated) -> None:
    first = groups.join()
    groups.pass_time(INITIAL_DELAY_MS - 1)
    second = groups.join()
    groups.pass_time(1)
    assert not first
    assert not second
    groups.pass_time(INITIAL_DELAY_MS)
    assert first[0].generation == second[0].generation == 1
    assert len(first[0].members) == 2


def test_first_rebalance_waits_no_longer_than_the_rebalance_timeout(groups: Coordinated) -> None:
    first = groups.join(rebalance_timeout_ms=4000)
    for _ in range(3):
        groups.pass_time(1900)
        groups.join(rebalance_timeout_ms=4000)
    assert first[0].generation == 1


def test_second_member_makes_a_new_generation_with_the_first_as_leader(groups: Coordinated) -> None:
    [first] = groups.stable()
    second = groups.join(protocols=[Protocol("range", subscription("t", "u"))])
    assert groups.beat(first) is Fault.REBALANCE_IN_PROGRESS
    again = groups.join(first.member_id)
    assert again[0].leader == second[0].leader == first.member_id
    assert again[0].members == [
        JoinedMember(first.member_id, None, subscription("t")),
        JoinedMember(second[0].member_id, None, subscription("t", "u")),
    ]
    assert second[0].members == ()


def test_member_that_does_not_join_again_in_time_is_left_out(groups: Coordinated) -> None:
    first, second = groups.stable(2)
    groups.join(first.member_id)
    for _ in range(REBALANCE_MS // 6000):
        assert groups.state == "PreparingRebalance"
        assert groups.beat(second) is Fault.REBALANCE_IN_PROGRESS
        groups.pass_time(6000)
    assert groups.state == "CompletingRebalance"
    assert [member.member_id for member in groups.describe().members] == [first.member_id]


def test_leader_that_does_not_join_in_time_is_replaced(groups: Coordinated) -> None:
    first, second = groups.stable(2)
    third = groups.join()
    again = groups.join(second.member_id)
    for _ in range(REBALANCE_MS // 6000):
        groups.pass_time(6000)
        groups.beat(first)
    assert again[0].leader == third[0].leader == second.member_id


def test_protocol_that_most_prefer_and_all_know_is_chosen(groups: Coordinated) -> None:
    replies = [
        groups.join(protocols=[Protocol(name, b"") for name in names])
        for names in (["sticky", "range", "own"], ["range", "sticky"], ["range", "sticky"])
    ]
    groups.pass_time(INITIAL_DELAY_MS * 3)
    assert {reply[0].protocol_name for reply in replies} == {"range"}


def test_member_without_a_common_protocol_is_refused(groups: Coordinated) -> None:
    groups.stable()
    assert groups.join(protocols=[Protocol("sticky", b"")]) == [Joined("", Fault.INCONSISTENT_GROUP_PROTOCOL)]
    assert groups.join(protocol_type="connect") == [Joined("", Fault.INCONSISTENT_GROUP_PROTOCOL)]
    assert groups.state == "Stable"


@pytest.mark.parametrize(("protocol_type", "protocols"), [("", RANGE), ("consumer", ())])
def test_newcomer_without_a_protocol_makes_no_group(
    groups: Coordinated, protocol_type: str, protocols: tuple[Protocol, ...]
) -> None:
    replies = groups.join(protocol_type=protocol_type, protocols=protocols)
    assert replies == [Joined("", Fault.INCONSISTENT_GROUP_PROTOCOL)]
    assert groups.state == "Dead"


def test_empty_group_takes_another_protocol_type(groups: Coordinated) -> None:
    [member] = groups.stable()
    groups.leave(member)
    reply = groups.join(protocol_type="connect", protocols=[Protocol("v1", b"x")])
    groups.pass_time(INITIAL_DELAY_MS)
    assert (reply[0].protocol_type, reply[0].protocol_name, reply[0].generation) == ("connect", "v1", 3)


@pytest.mark.parametrize("session_timeout_ms", [5999, 1_800_001])
def test_session_timeout_outside_the_brokers_limits_is_refused(
    groups: Coordinated, session_timeout_ms: int
) -> None:
    replies = groups.join(session_timeout_ms=session_timeout_ms)
    assert replies == [Joined("", Fault.INVALID_SESSION_TIMEOUT)]


def test_unknown_member_id_is_refused(groups: Coordinated) -> None:
    assert groups.join("nobody") == [Joined("nobody", Fault.UNKNOWN_MEMBER_ID)]
    groups.stable()
    assert groups.join("nobody") == [Joined("nobody", Fault.UNKNOWN_MEMBER_ID)]


def test_group_without_a_name_is_refused(groups: Coordinated) -> None:
    assert groups.join(group_id="") == [Joined("", Fault.INVALID_GROUP_ID)]


def test_full_group_refuses_newcomers_and_keeps_its_members() -> None:
    groups = Coordinated({"group.max.size": "2"})
    first, second = groups.stable(2)
    assert groups.join() == [Joined("", Fault.GROUP_MAX_SIZE_REACHED)]
    assert groups.state == "Stable"
    # The limit holds for those who join a rebalance, whoever they were before.
    again = groups.join(first.member_id)
    groups.join(second.member_id)
    assert again[0].generation == 2


def test_member_that_waits_in_a_full_group_may_ask_again() -> None:
    groups = Coordinated({"group.max.size": "2"})
    ids = [groups.join(wants_member_id=True)[0].member_id for _ in range(2)]
    waiting = [groups.join(member_id) for member_id in ids]
    again = groups.join(ids[0])
    groups.pass_time(INITIAL_DELAY_MS * 2)
    assert waiting[1][0].generation == again[0].generation == 1


def test_leader_that_joins_again_begins_a_rebalance(groups: Coordinated) -> None:
    leader, other = groups.stable(2)
    again = groups.join(leader.member_id)
    assert not again
    assert groups.beat(other) is Fault.REBALANCE_IN_PROGRESS


def test_follower_that_joins_again_unchanged_is_told_the_present_generation(groups: Coordinated) -> None:
    _leader, other = groups.stable(2)
    [again] = groups.join(other.member_id)
    assert (again.generation, again.members) == (1, ())
    assert groups.state == "Stable"


def test_follower_that_joins_again_with_another_subscription_begins_a_rebalance(groups: Coordinated) -> None:
    _leader, other = groups.stable(2)
    assert not groups.join(other.member_id, protocols=[Protocol("range", subscription("u"))])
    assert groups.state == "PreparingRebalance"


def test_lost_answer_is_given_again_before_the_sync(groups: Coordinated) -> None:
    reply = groups.join()
    groups.pass_time(INITIAL_DELAY_MS)
    assert groups.join(reply[0].member_id) == reply


def test_request_that_was_given_up_is_answered_when_its_client_asks_again(groups: Coordinated) -> None:
    [first] = groups.stable()
    [told] = groups.join(wants_member_id=True)
    given_up = groups.join(told.member_id)
    again = groups.join(told.member_id)
    assert given_up == [Joined(told.member_id, Fault.REBALANCE_IN_PROGRESS)]
    groups.join(first.member_id)
    assert again[0].generation == 2


def test_newcomer_that_waits_too_long_is_dropped(groups: Coordinated) -> None:
    [first] = groups.stable()
    waiting = groups.join(rebalance_timeout_ms=1_000_000)
    for _ in range(300_000 // 6000 + 1):
        groups.pass_time(6000)
        groups.beat(first)
    assert waiting == [Joined("", Fault.UNKNOWN_MEMBER_ID)]


def test_group_that_cannot_be_written_is_not_made(groups: Coordinated) -> None:
    groups.commit(1, group_id="other")
    groups.log.fault = Fault.STORAGE
    assert groups.join() == [Joined("", Fault.NOT_COORDINATOR)]
    groups.log.fault = None
    assert groups.state == "Dead"


def test_clock_jump_expires_nobody(groups: Coordinated) -> None:
    """R10"""
    [member] = groups.stable()
    for jump_ms in (3_600_000, -7_200_000, 31_536_000_000):
        groups.world.clock.jump(jump_ms)
        groups.pass_time(1000)
        assert groups.beat(member) is None
