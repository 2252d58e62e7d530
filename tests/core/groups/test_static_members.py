"""Static members (KIP-345): a name of one's own, a place that waits for its owner."""

from typing import Any

import pytest

from tests.core.groups.coordinated import INITIAL_DELAY_MS, RANGE, REBALANCE_MS, Coordinated, subscription
from trivium.core.commands.groups import Joined, JoinedMember, Leaver, LeftMember, Protocol, Synced
from trivium.core.faults import Fault


@pytest.fixture
def groups() -> Coordinated:
    return Coordinated()


def test_static_member_joins_without_being_given_an_id_first(groups: Coordinated) -> None:
    reply = groups.join(instance_id="one", wants_member_id=True)
    groups.pass_time(INITIAL_DELAY_MS)
    assert (reply[0].member_id, reply[0].fault) == ("one-1", None)


def test_returning_leader_finds_everything_assigned(groups: Coordinated) -> None:
    [before] = groups.stable(instance_id="one")
    [after] = groups.join(instance_id="one")
    assert after == Joined(
        "one-2",
        generation=before.generation,
        protocol_type="consumer",
        protocol_name="range",
        leader="one-2",
        members=[JoinedMember("one-2", "one", subscription("t"))],
        skip_assignment=True,
    )
    assert groups.sync(after, instance_id="one") == [Synced(None, "consumer", "range", b"one-1")]


def test_returning_leader_that_cannot_skip_is_told_that_it_follows(groups: Coordinated) -> None:
    groups.stable(instance_id="one")
    [after] = groups.join(instance_id="one", can_skip_assignment=False)
    assert (after.leader, after.members, after.skip_assignment) == ("one-1", (), False)
    assert groups.sync(after, instance_id="one")[0].assignment == b"one-1"


def test_former_self_of_a_static_member_is_fenced(groups: Coordinated) -> None:
    [before] = groups.stable(instance_id="one")
    groups.join(instance_id="one")
    assert groups.beat(before, instance_id="one") is Fault.FENCED_INSTANCE_ID
    assert groups.sync(before, instance_id="one") == [Synced(Fault.FENCED_INSTANCE_ID)]
    assert groups.join(before.member_id, instance_id="one") == [
        Joined(before.member_id, Fault.FENCED_INSTANCE_ID)
    ]


def test_waiting_former_self_is_told_at_once(groups: Coordinated) -> None:
    first = groups.join(instance_id="one")
    groups.join(instance_id="one")
    assert first == [Joined("one-1", Fault.FENCED_INSTANCE_ID)]


def test_unknown_instance_id_is_refused(groups: Coordinated) -> None:
    [member] = groups.stable()
    assert groups.beat(member, instance_id="one") is Fault.UNKNOWN_MEMBER_ID


def test_static_member_that_comes_back_with_another_protocol_begins_a_rebalance(groups: Coordinated) -> None:
    both = [*RANGE, Protocol("sticky", b"")]
    replies = [groups.join(instance_id=name, protocols=both) for name in ("one", "two")]
    groups.pass_time(INITIAL_DELAY_MS * 2)
    leader = replies[0][0]
    groups.sync(leader)
    groups.sync(replies[1][0], instance_id="two")
    assert not groups.join(instance_id="two", protocols=[Protocol("sticky", b"")])
    assert groups.state == "PreparingRebalance"


def test_static_member_may_be_away_during_a_rebalance(groups: Coordinated) -> None:
    patience: dict[str, Any] = {"session_timeout_ms": 300_000, "rebalance_timeout_ms": 7000}
    [away] = groups.stable(instance_id="one")
    here = groups.join(**patience)
    groups.join(away.member_id, instance_id="one", **patience)
    again = groups.join(here[0].member_id, protocols=[Protocol("range", subscription("u"))], **patience)
    assert not again
    groups.pass_time(7000)
    assert (again[0].generation, again[0].leader) == (3, again[0].member_id)
    assert {member.instance_id for member in groups.describe().members} == {None, "one"}


def test_static_member_is_sent_away_by_its_name(groups: Coordinated) -> None:
    groups.stable(instance_id="one")
    left = groups.leave(Leaver("", "one"), Leaver("", "two"), Leaver("other", "one"))
    assert left.members == [
        LeftMember("", "one"),
        LeftMember("", "two", Fault.UNKNOWN_MEMBER_ID),
        LeftMember("other", "one", Fault.UNKNOWN_MEMBER_ID),
    ]
    assert groups.state == "Empty"


def test_static_member_keeps_its_place_over_a_restart(groups: Coordinated) -> None:
    groups.stable(instance_id="one")
    groups.restart()
    [after] = groups.join(instance_id="one")
    assert (after.generation, after.skip_assignment) == (1, True)
    assert groups.sync(after, instance_id="one")[0].assignment == b"one-1"


def test_return_that_cannot_be_written_leaves_the_former_self(groups: Coordinated) -> None:
    [before] = groups.stable(instance_id="one")
    groups.log.fault = Fault.STORAGE
    assert groups.join(instance_id="one") == [Joined("", Fault.NOT_COORDINATOR)]
    assert groups.beat(before, instance_id="one") is None


def test_return_is_answered_when_it_is_durable(groups: Coordinated) -> None:
    groups.stable(instance_id="one")
    groups.world.storage.holds_syncs = True
    reply = groups.join(instance_id="one")
    assert not reply
    groups.world.storage.sync()
    assert reply[0].skip_assignment


def test_member_that_comes_back_has_to_sync_in_its_former_selfs_place(groups: Coordinated) -> None:
    leader = groups.join()
    groups.join(instance_id="one")
    groups.pass_time(INITIAL_DELAY_MS * 2)
    groups.sync(leader[0])
    [back] = groups.join(instance_id="one")
    for _ in range(REBALANCE_MS // 5000):
        groups.pass_time(5000)
        beats = groups.beat(leader[0]), groups.beat(back, instance_id="one")
    assert beats == (Fault.REBALANCE_IN_PROGRESS, Fault.UNKNOWN_MEMBER_ID)
