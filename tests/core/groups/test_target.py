"""A group's target assignment: worked out anew when it is time, and only news of it are written down."""

from collections.abc import Mapping, Sequence

from trivium.core.groups.assignors.subscriber import NOTHING, Parts, Subscriber
from trivium.core.groups.consumer.group import ConsumerGroup
from trivium.core.groups.moment import Moment
from trivium.core.groups.target import Target
from trivium.core.metadata_topics import Partition, Topic

ORDERS = b"o" * 16
HERE = Partition(replicas=(1,), isr=(1,), leader=1, leader_epoch=0, partition_epoch=0, directories=())
TOPICS = {ORDERS: Topic("orders", ORDERS, {1: HERE, 0: HERE})}
READER = Subscriber(frozenset((ORDERS,)), NOTHING)
FIRST, SECOND = frozenset(((ORDERS, 0),)), frozenset(((ORDERS, 1),))


def group(target: dict[str, Parts], epoch: int = 3, assigned_at: Moment | None = None) -> ConsumerGroup:
    known = ConsumerGroup("readers")
    known.target, known.assignment_epoch, known.assigned_at = target, epoch, assigned_at
    return known


def one_each(
    subscribers: Mapping[str, Subscriber], partitions: Mapping[bytes, Sequence[int]]
) -> dict[str, Parts]:
    """In their order."""
    assert partitions == {ORDERS: [0, 1]}
    return {member_id: frozenset(((ORDERS, number),)) for number, member_id in enumerate(sorted(subscribers))}


def test_only_members_that_get_something_else_are_named() -> None:
    target = Target(group({"a": FIRST, "gone": SECOND}))
    assert target.work_out(4, {"b": READER, "a": READER}, TOPICS, one_each) == ["b"]
    assert (target.epoch, target.of("a"), target.of("b"), target.of("gone")) == (4, FIRST, SECOND, NOTHING)


def test_a_group_keeps_what_it_knows_until_the_outcome_is_written() -> None:
    known = group({"a": SECOND})
    target = Target(known)
    target.hand_over("a", "b")
    target.work_out(4, {"a": READER}, TOPICS, one_each)
    assert (known.target, known.assignment_epoch) == ({"a": SECOND}, 3)


def test_a_member_takes_over_what_its_former_self_was_to_have() -> None:
    target = Target(group({"former": SECOND}))
    assert target.hand_over("former", "back") == SECOND
    assert target.of("back") == SECOND
    assert target.hand_over("stranger", "other") == NOTHING


def test_it_is_time_when_the_group_has_moved_on_and_the_last_one_stood_long_enough() -> None:
    target = Target(group({}, epoch=3, assigned_at=Moment(1_000, 1_000)))
    assert not target.is_due(3, Moment(9_000, 9_000), interval_ms=500)
    assert not target.is_due(4, Moment(9_000, 1_499), interval_ms=500), "by the clock that never jumps"
    assert target.is_due(4, Moment(1_000, 1_500), interval_ms=500)
    assert Target(group({}, epoch=3)).is_due(4, Moment(0, 0), interval_ms=500), "nobody wrote down when"
