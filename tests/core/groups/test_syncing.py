"""Handing out and fetching assignments."""

import pytest

from tests.core.groups.coordinated import INITIAL_DELAY_MS, REBALANCE_MS, SESSION_MS, Coordinated
from trivium.core.commands.groups import Joined, Protocol, Synced
from trivium.core.faults import Fault


@pytest.fixture
def groups() -> Coordinated:
    return Coordinated()


def pair(groups: Coordinated) -> tuple[Joined, Joined]:
    """Leader and follower of a generation that has begun."""
    replies = [groups.join(), groups.join()]
    groups.pass_time(INITIAL_DELAY_MS * 2)
    return replies[0][0], replies[1][0]


def test_followers_wait_for_the_leaders_assignments(groups: Coordinated) -> None:
    leader, follower = pair(groups)
    waiting = groups.sync(follower)
    assert not waiting
    given = groups.sync(leader, {leader.member_id: b"mine", follower.member_id: b"yours"})
    assert given == [Synced(None, "consumer", "range", b"mine")]
    assert waiting == [Synced(None, "consumer", "range", b"yours")]
    assert groups.state == "Stable"


def test_member_that_the_leader_forgot_gets_nothing_to_do(groups: Coordinated) -> None:
    leader, follower = pair(groups)
    groups.sync(leader, {leader.member_id: b"mine"})
    assert groups.sync(follower) == [Synced(None, "consumer", "range", b"")]


def test_late_sync_in_a_stable_group_is_answered_at_once(groups: Coordinated) -> None:
    leader, follower = pair(groups)
    groups.sync(leader, {follower.member_id: b"yours"})
    assert groups.sync(follower)[0].assignment == b"yours"
    assert groups.sync(follower)[0].assignment == b"yours"


def test_late_sync_in_a_stable_group_begins_the_session_anew(groups: Coordinated) -> None:
    """R15: what a member is given now nobody else has before it has been silent for a session."""
    leader, follower = pair(groups)
    groups.sync(leader, {follower.member_id: b"yours"})
    groups.pass_time(SESSION_MS - 1)
    assert groups.beat(leader) is None
    groups.sync(follower)
    groups.pass_time(SESSION_MS - 1)
    assert groups.beat(follower) is None


def test_request_that_was_given_up_is_answered_when_its_client_asks_again(groups: Coordinated) -> None:
    leader, follower = pair(groups)
    given_up, again = groups.sync(follower), groups.sync(follower)
    assert given_up == [Synced(Fault.REBALANCE_IN_PROGRESS)]
    groups.sync(leader, {follower.member_id: b"yours"})
    assert again[0].assignment == b"yours"


def test_nobody_gets_an_assignment_before_it_is_durable(groups: Coordinated) -> None:
    leader, follower = pair(groups)
    groups.world.storage.holds_syncs = True
    replies = [groups.sync(follower), groups.sync(leader, {follower.member_id: b"yours"})]
    assert replies == [[], []]
    assert groups.state == "CompletingRebalance"
    groups.world.storage.sync()
    assert replies[0][0].assignment == b"yours"


def test_assignment_that_was_overtaken_by_a_rebalance_is_not_handed_out(groups: Coordinated) -> None:
    leader, follower = pair(groups)
    groups.world.storage.holds_syncs = True
    replies = [groups.sync(follower), groups.sync(leader, {follower.member_id: b"yours"})]
    groups.join()
    groups.world.storage.sync()
    assert replies == [[Synced(Fault.REBALANCE_IN_PROGRESS)], [Synced(Fault.REBALANCE_IN_PROGRESS)]]
    assert groups.state == "PreparingRebalance"


def test_assignment_of_the_generation_before_is_not_handed_out_in_the_next(groups: Coordinated) -> None:
    leader, follower = pair(groups)
    groups.world.storage.holds_syncs = True
    groups.sync(leader, {leader.member_id: b"old", follower.member_id: b"old"})
    again = groups.join(leader.member_id, protocols=[Protocol("range", b"changed")])
    groups.join(follower.member_id)
    assert again[0].generation == 2
    waiting = groups.sync(again[0]._replace(member_id=follower.member_id))
    groups.world.storage.sync()
    assert waiting == []
    assert groups.state == "CompletingRebalance"


def test_assignment_that_cannot_be_written_begins_a_rebalance(groups: Coordinated) -> None:
    leader, follower = pair(groups)
    waiting = groups.sync(follower)
    groups.log.fault = Fault.STORAGE
    assert groups.sync(leader, {}) == [Synced(Fault.NOT_COORDINATOR)]
    assert waiting == [Synced(Fault.NOT_COORDINATOR)]
    assert groups.state == "PreparingRebalance"


def test_generation_that_was_never_assigned_leaves_nobody_with_an_old_assignment(groups: Coordinated) -> None:
    leader, follower = groups.stable(2)
    groups.join(leader.member_id)
    groups.join(follower.member_id)
    groups.join()
    assert {member.assignment for member in groups.describe().members} == {b""}


def test_sync_of_another_generation_is_refused(groups: Coordinated) -> None:
    leader, _ = pair(groups)
    assert groups.sync(leader, generation=0) == [Synced(Fault.ILLEGAL_GENERATION)]


def test_sync_of_somebody_unknown_is_refused(groups: Coordinated) -> None:
    leader, _ = pair(groups)
    assert groups.sync(leader._replace(member_id="nobody")) == [Synced(Fault.UNKNOWN_MEMBER_ID)]
    assert groups.sync(leader, group_id="other") == [Synced(Fault.UNKNOWN_MEMBER_ID)]


def test_sync_during_a_rebalance_is_refused(groups: Coordinated) -> None:
    leader, _ = groups.stable(2)
    groups.join()
    assert groups.sync(leader) == [Synced(Fault.REBALANCE_IN_PROGRESS)]


@pytest.mark.parametrize(
    ("protocol_type", "protocol_name"), [("connect", "range"), ("consumer", "sticky"), ("connect", None)]
)
def test_sync_with_another_protocol_is_refused(
    groups: Coordinated, protocol_type: str | None, protocol_name: str | None
) -> None:
    leader, _ = pair(groups)
    replies = groups.sync(leader, protocol_type=protocol_type, protocol_name=protocol_name)
    assert replies == [Synced(Fault.INCONSISTENT_GROUP_PROTOCOL)]


def test_sync_that_names_no_protocol_is_served(groups: Coordinated) -> None:
    leader, _ = pair(groups)
    assert groups.sync(leader, protocol_type=None, protocol_name=None)[0].fault is None


def test_member_that_never_syncs_is_removed_and_the_others_rebalance(groups: Coordinated) -> None:
    leader, lazy = pair(groups)
    groups.sync(leader)
    for _ in range(REBALANCE_MS // 5000):
        groups.pass_time(5000)
        beats = groups.beat(leader), groups.beat(lazy)
    assert beats == (Fault.REBALANCE_IN_PROGRESS, Fault.UNKNOWN_MEMBER_ID)


def test_waiting_member_does_not_expire(groups: Coordinated) -> None:
    leader, follower = pair(groups)
    waiting = groups.sync(follower)
    for _ in range(5):
        groups.pass_time(9000)
        groups.beat(leader)
    groups.sync(leader, {follower.member_id: b"yours"})
    assert waiting[0].assignment == b"yours"
