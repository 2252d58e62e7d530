"""From what a member holds towards its target: giving up comes first, and is heard (R15)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.groups.assignors.subscriber import Part, Parts
from trivium.core.groups.consumer.member import Holding, MemberState
from trivium.core.groups.consumer.reconciling import reconciled

TOPIC = bytes(15) + b"\x01"
STABLE, UNREVOKED, UNRELEASED = MemberState


def parts(*numbers: int) -> Parts:
    return frozenset((TOPIC, number) for number in numbers)


def since(epoch: int, *numbers: int) -> dict[Part, int]:
    return dict.fromkeys(parts(*numbers), epoch)


def free(_part: Part) -> bool:
    return True


def taken(_part: Part) -> bool:
    return False


def test_newcomer_gets_what_is_free() -> None:
    after = reconciled(Holding(), 3, parts(0, 1), free, frozenset(), is_joining=True)
    assert after == Holding(3, 0, STABLE, since(3, 0, 1))


def test_newcomer_waits_for_what_others_hold() -> None:
    after = reconciled(Holding(), 3, parts(0, 1), lambda part: part[1] == 0, frozenset(), is_joining=True)
    assert after == Holding(3, 0, UNRELEASED, since(3, 0))
    assert reconciled(after, 3, parts(0, 1), free, None) == Holding(3, 3, STABLE, since(3, 0, 1))


def test_member_with_too_much_stays_in_its_epoch_until_it_has_given_up() -> None:
    before = Holding(2, 1, STABLE, since(2, 0, 1))
    told = reconciled(before, 3, parts(0), taken, parts(0, 1))
    assert told == Holding(2, 2, UNREVOKED, since(2, 0), since(2, 1))
    assert reconciled(told, 3, parts(0), taken, None) is told
    assert reconciled(told, 3, parts(0), taken, parts(0, 1)) is told
    assert reconciled(told, 3, parts(0), taken, parts(0)) == Holding(3, 2, STABLE, since(2, 0))


def test_member_that_does_not_read_yet_what_it_loses_must_hear_of_it_first() -> None:
    """It may be about to: its answer to this is what tells it not to."""
    before = Holding(2, 1, STABLE, since(2, 0, 1))
    assert reconciled(before, 3, parts(0), taken, parts(0)).state is UNREVOKED


def test_member_that_joins_again_has_given_up_what_it_does_not_name() -> None:
    before = Holding(2, 1, STABLE, since(2, 0, 1))
    assert reconciled(before, 3, parts(0), taken, parts(), is_joining=True) == Holding(
        3, 2, STABLE, since(2, 0)
    )


def test_member_with_its_target_is_left_alone() -> None:
    holding = Holding(3, 2, STABLE, since(2, 0))
    assert reconciled(holding, 3, parts(0), taken, None) is holding


def test_target_that_changes_while_a_member_gives_up_is_followed_afterwards() -> None:
    told = Holding(2, 2, UNREVOKED, since(2, 0), since(2, 1))
    after = reconciled(told, 4, parts(5), free, parts(0))
    assert after == Holding(3, 2, UNREVOKED, {}, since(2, 0))
    assert reconciled(after, 4, parts(5), free, parts()) == Holding(4, 3, STABLE, since(4, 5))


numbers = st.frozensets(st.integers(0, 5))


@given(held=numbers, target=numbers, others=numbers, owned=st.none() | numbers, joins=st.booleans())
def test_nothing_is_held_that_others_hold_and_nothing_released_that_is_read(
    held: frozenset[int],
    target: frozenset[int],
    others: frozenset[int],
    owned: frozenset[int] | None,
    joins: bool,
) -> None:
    others = others - held
    before = Holding(2, 1, STABLE, since(2, *held))
    after = reconciled(
        before,
        3,
        parts(*target),
        lambda part: part[1] not in others,
        None if owned is None else parts(*owned),
        is_joining=joins,
    )
    assert after.parts.isdisjoint(parts(*others))
    assert set(after.assigned) <= parts(*target)
    released = parts(*held) - after.parts
    assert released.isdisjoint(parts(*held) if owned is None else parts(*owned))


@pytest.mark.parametrize("state", [UNREVOKED, UNRELEASED])
def test_member_under_way_is_not_reconciled(state: MemberState) -> None:
    assert not Holding(3, 3, state).is_reconciled_to(3)
