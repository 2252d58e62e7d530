"""What can be seen of transactions, by whom."""

import pytest

from tests.core.rights import Denying
from tests.core.transactions.coordinated import TIMEOUT_MS, Coordinated
from trivium.core.access import Operation, Resource
from trivium.core.commands.transactions import (
    DescribedTransaction,
    DescribeTransactions,
    ListedTransactions,
    ListTransactions,
)
from trivium.core.faults import Fault


def inhabited(access: Denying | None = None) -> Coordinated:
    """One that is open for a second, one that is committed, one that has not begun."""
    world = Coordinated(access=access)
    done = world.init("done")
    done.send(b"v")
    done.end(commits=True)
    world.init("empty")
    world.world.pass_time(10_000)
    world.init("open").send(b"v")
    world.world.pass_time(1_000)
    return world


def listed(world: Coordinated, **filters: object) -> list[str]:
    result = world.execute(ListTransactions(**filters))  # type: ignore[arg-type]
    assert result.fault is None
    return sorted(each.transactional_id for each in result.transactions)


def test_transaction_is_described_with_everything_about_it() -> None:
    world = inhabited()
    assert world.described("open") == DescribedTransaction(
        "open",
        None,
        "Ongoing",
        TIMEOUT_MS,
        world.world.clock.wall_ms() - 1_000,
        world.execute(ListTransactions(states=["Ongoing"])).transactions[0].producer_id,
        0,
        [("t", 0)],
    )
    assert world.described("empty").started_at_ms == -1


def test_unknown_and_nameless_transactions_are_refused_one_by_one() -> None:
    world = inhabited()
    results = world.execute(DescribeTransactions(["open", "unknown", ""]))
    assert [each.fault for each in results] == [None, Fault.TRANSACTIONAL_ID_NOT_FOUND, Fault.INVALID_REQUEST]


def test_nothing_is_known_before_the_first_transaction() -> None:
    world = Coordinated()
    assert world.described().fault is Fault.TRANSACTIONAL_ID_NOT_FOUND
    assert world.execute(ListTransactions()) == ListedTransactions(None, [], [])
    assert "__transaction_state" not in world.world.image.topics.by_name


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, ["done", "empty", "open"]),
        ({"states": ["Ongoing", "Empty"]}, ["empty", "open"]),
        ({"states": ["CompleteCommit"]}, ["done"]),
        ({"states": ["Unheard"]}, []),
        ({"producer_ids": [0]}, ["done"]),
        ({"producer_ids": [0], "states": ["Ongoing"]}, []),
        ({"duration_ms": 999}, ["done", "empty", "open"]),
        ({"duration_ms": 1_000}, ["done", "empty"]),
        ({"duration_ms": 0}, ["done", "empty", "open"]),
        ({"id_pattern": ""}, ["done", "empty", "open"]),
        ({"id_pattern": ".*e"}, ["done"]),
        ({"id_pattern": "e|o.*|d"}, ["open"]),
    ],
)
def test_filters_let_through_what_all_of_them_do(filters: dict[str, object], found: list[str]) -> None:
    assert listed(inhabited(), **filters) == found


def test_state_that_nobody_knows_is_named() -> None:
    result = inhabited().execute(ListTransactions(states=["Ongoing", "Unheard"]))
    assert result.unknown_states == ["Unheard"]
    assert [each.transactional_id for each in result.transactions] == ["open"]


def test_pattern_that_is_none_is_refused() -> None:
    """KIP-1152: in RE2's syntax, which takes no longer than it must."""
    assert inhabited().execute(ListTransactions(id_pattern="(")).fault is Fault.INVALID_REGULAR_EXPRESSION


def test_pattern_takes_every_character_of_an_id_for_one() -> None:
    world = Coordinated()
    world.init("größe")
    assert listed(world, id_pattern="gr..e") == ["größe"]
    assert listed(world, id_pattern="gr.e") == []


def test_transactions_of_others_are_not_shown() -> None:
    """S11."""
    world = inhabited(Denying((Operation.DESCRIBE, Resource.TRANSACTIONAL_ID, "open")))
    assert listed(world) == ["done", "empty"]
    assert world.described("open") == DescribedTransaction("open", Fault.NOT_AUTHORIZED_TRANSACTIONAL_ID)


def test_partitions_of_topics_that_one_may_not_see_are_left_out() -> None:
    world = inhabited(Denying((Operation.DESCRIBE, Resource.TOPIC, "t")))
    assert (world.described("open").fault, world.described("open").partitions) == (None, [])
