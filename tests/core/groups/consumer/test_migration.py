"""Classic and consumer groups turn into each other, with the members that they have (KIP-848)."""

import pytest

from tests.core.groups.consumer.consuming import LEAVING, SESSION_MS, Consuming, Member
from tests.core.groups.coordinated import CALLER
from trivium.core.commands.groups import Joined, Leaver, ListGroups, Protocol
from trivium.core.faults import Fault
from trivium.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
    decode_assignment,
    encode_assignment,
    encode_subscription,
)

BOTH_WAYS = "bidirectional"


def subscribing(*owned: int, version: int = 1, name: str = "range") -> list[Protocol]:
    parts = [TopicPartition(topic="t", partitions=list(owned))] if owned else []
    subscription = ConsumerProtocolSubscription(topics=["t"], owned_partitions=parts)
    return [Protocol(name, encode_subscription(subscription, version))]


def assignment(*numbers: int) -> bytes:
    parts = [TopicPartition(topic="t", partitions=list(numbers))]
    return encode_assignment(ConsumerProtocolAssignment(assigned_partitions=parts), 1)


def numbers_of(data: bytes) -> list[int]:
    return [number for part in decode_assignment(data)[1].assigned_partitions for number in part.partitions]


def begun(policy: str = BOTH_WAYS, **settings: str) -> Consuming:
    static = {"group.initial.rebalance.delay.ms": "0", "group.consumer.migration.policy": policy}
    return Consuming({**static, **{key.replace("_", "."): value for key, value in settings.items()}})


def classic(groups: Consuming, **fields: str) -> Joined:
    """A classic group of one, that reads everything."""
    reply = groups.join(protocols=subscribing(), **fields)  # type: ignore[arg-type]
    groups.pass_time(0)
    [old] = reply
    instance_id = fields.get("instance_id")
    groups.sync(old, {old.member_id: assignment(0, 1, 2, 3)}, instance_id=instance_id)
    return old


def mixed(groups: Consuming) -> tuple[Joined, Member]:
    """A classic member with two partitions, and a consumer with the others."""
    old = classic(groups)
    new = groups.consumer("new")
    new.join()
    groups.join(old.member_id, protocols=subscribing(0, 1, 2, 3))
    [old] = groups.join(old.member_id, protocols=subscribing(0, 1))
    groups.sync(old)
    new.beat()
    return old, new


def kind(groups: Consuming) -> str:
    [listed] = groups.world.execute(ListGroups(), CALLER).groups
    return f"{listed.type} {listed.state}"


def test_classic_group_that_a_consumer_joins_keeps_its_members_and_what_they_hold() -> None:
    groups = begun()
    old = classic(groups)
    new = groups.consumer("new")
    assert (new.join().fault, new.numbers) == (None, [])
    assert groups.holdings() == {old.member_id: [0, 1, 2, 3], "new": []}
    assert groups.beat(old) is Fault.REBALANCE_IN_PROGRESS


def test_classic_member_gives_up_by_joining_again_and_the_consumer_is_given_it() -> None:
    groups = begun()
    old, new = mixed(groups)
    assert numbers_of(groups.sync(old)[0].assignment) == [0, 1]
    assert new.numbers == [2, 3]
    assert groups.beat(old) is None
    assert kind(groups) == "consumer Stable"


def test_classic_member_that_waits_in_a_rebalance_is_told_to_join_again() -> None:
    groups = begun()
    classic(groups)
    waiting = groups.join(protocols=subscribing())
    assert not waiting
    groups.consumer("new").join()
    assert waiting[0].fault is Fault.REBALANCE_IN_PROGRESS


def test_last_consumer_that_leaves_leaves_a_classic_group() -> None:
    groups = begun()
    old, new = mixed(groups)
    assert new.leave() is None
    assert kind(groups) == "classic PreparingRebalance"
    [again] = groups.join(old.member_id, protocols=subscribing())
    assert (again.fault, again.leader) == (None, old.member_id)
    assert new.beat().fault is Fault.GROUP_ID_NOT_FOUND
    groups.sync(again, {old.member_id: assignment(0, 1, 2, 3)})
    groups.restart()
    assert kind(groups) == "classic Stable"


def test_last_consumer_that_dies_leaves_a_classic_group() -> None:
    groups = begun()
    old, _ = mixed(groups)
    for _ in range(SESSION_MS // 5000):
        groups.pass_time(5000)
        groups.beat(old)
    assert kind(groups) == "classic PreparingRebalance"


def test_classic_group_left_by_its_consumers_does_nothing_in_their_name_later() -> None:
    groups = begun()
    old = classic(groups, instance_id="name")
    consumer = groups.consumer("new", instance_id="name")
    consumer.join()
    [back] = groups.join(instance_id="name", protocols=subscribing())
    assert kind(groups) == "classic Stable"
    before = groups.log.log_end_offset
    for _ in range(20):
        groups.pass_time(5000)
        assert groups.beat(back, instance_id="name") is None
    assert groups.log.log_end_offset == before
    groups.restart()
    assert kind(groups) == "classic Stable"
    assert old.member_id != back.member_id


@pytest.mark.parametrize(
    ("policy", "upgrades", "downgrades"),
    [
        ("disabled", False, False),
        ("upgrade", True, False),
        ("downgrade", False, True),
        (BOTH_WAYS, True, True),
    ],
)
def test_policy_says_which_way_groups_may_turn(policy: str, upgrades: bool, downgrades: bool) -> None:
    groups = begun(policy)
    classic(groups)
    joined = groups.consumer("new").join()
    assert (joined.fault is None) == upgrades
    if not upgrades:
        assert joined.message is not None
        assert "the online upgrade is disabled" in joined.message
    groups = begun(policy)
    new = groups.consumer("new")
    new.join()
    [old] = groups.join("old", protocols=subscribing())
    groups.sync(old)
    new.leave()
    assert kind(groups).startswith("classic") == downgrades


def test_classic_group_larger_than_a_consumer_group_may_be_is_left_as_it_is() -> None:
    groups = begun(group_consumer_max_size="1")
    classic(groups)
    groups.join(protocols=subscribing())
    assert groups.consumer("new").join().fault is Fault.GROUP_ID_NOT_FOUND


def test_consumer_group_larger_than_a_classic_group_may_be_is_left_as_it_is() -> None:
    groups = begun(group_max_size="1")
    new = groups.consumer("new")
    new.join()
    for name in ("one", "two"):
        groups.join(name, protocols=subscribing())
    new.leave()
    assert kind(groups).startswith("consumer")


def test_group_whose_members_talk_of_something_else_is_left_as_it_is() -> None:
    groups = begun()
    reply = groups.join(protocols=[Protocol("range", b"\x00")])
    groups.pass_time(0)
    groups.sync(reply[0], {reply[0].member_id: b"mine"})
    refused = groups.consumer("new").join()
    assert refused.fault is Fault.GROUP_ID_NOT_FOUND
    assert kind(groups) == "classic Stable"


def test_partition_that_a_leader_gave_to_two_is_held_by_one() -> None:
    groups = begun()
    one = classic(groups)
    two = groups.join(protocols=subscribing())
    [again] = groups.join(one.member_id, protocols=subscribing())
    every = assignment(0, 1, 2, 3)
    groups.sync(again, {one.member_id: every, two[0].member_id: every})
    groups.sync(two[0])
    groups.consumer("new").join()
    held = [number for numbers in groups.holdings().values() for number in numbers]
    assert sorted(held) == [0, 1, 2, 3]


@pytest.mark.parametrize("late", ["join", "sync"])
def test_classic_member_that_is_late_is_sent_away(late: str) -> None:
    groups = begun()
    old = classic(groups)
    new = groups.consumer("new")
    new.join()
    if late == "sync":
        [old] = groups.join(old.member_id, protocols=subscribing(), rebalance_timeout_ms=30_000)
    else:
        assert groups.beat(old) is Fault.REBALANCE_IN_PROGRESS
    for _ in range(13):
        groups.pass_time(5000)
        new.beat()
        groups.beat(old)
    assert groups.holdings().keys() == {"new"}


def test_classic_member_needs_a_protocol_that_all_classic_members_know() -> None:
    groups = begun()
    mixed(groups)
    [refused] = groups.join("other", protocols=subscribing(name="sticky"))
    assert refused.fault is Fault.INCONSISTENT_GROUP_PROTOCOL
    [refused] = groups.join("other", protocols=[Protocol("range", b"?")])
    assert refused.fault is Fault.INCONSISTENT_GROUP_PROTOCOL


def test_tool_sends_members_of_both_kinds_away() -> None:
    groups = begun()
    old, _ = mixed(groups)
    left = groups.leave(Leaver(old.member_id), Leaver("new"), Leaver("stranger"))
    assert [each.fault for each in left.members] == [None, None, Fault.UNKNOWN_MEMBER_ID]
    assert groups.described().state == "Empty"


def test_mixed_group_after_a_restart_is_what_it_was() -> None:
    groups = begun()
    old, new = mixed(groups)
    before = groups.described()
    groups.restart()
    assert groups.described() == before
    assert groups.beat(old) is None
    assert new.beat().fault is None
    assert new.beat(epoch=LEAVING).fault is None
