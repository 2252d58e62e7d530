"""Accounts that fill up with time: nobody gets more than its limit, and who waits is even again."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.core.fakes import FakeClock
from trivium.core.caller import Caller
from trivium.core.metadata_quotas import ClientQuotas
from trivium.core.quotas import budgets as module
from trivium.core.quotas.budgets import Budgets
from trivium.core.quotas.limits import Budget, Limits
from trivium.core.timers import Timers

ANN = Caller(principal="User:ann", client_id="app")
WINDOW_SECONDS = 10


class Bank:
    def __init__(self, **limits: float) -> None:
        self.clock = FakeClock()
        self.quotas = ClientQuotas({(("user", None),): dict(limits)} if limits else {})
        self.mutations = 0
        self.budgets = Budgets(
            Limits(self.quotas), self.clock, Timers(self.clock), lambda: self.mutations, WINDOW_SECONDS
        )


@given(
    st.integers(1, 10_000), st.lists(st.tuples(st.integers(0, 100_000), st.integers(0, 5_000)), max_size=30)
)
@example(1, [(3, 0), (26, 2_327)])
def test_who_waits_as_told_never_gets_more_than_the_limit(rate: int, uses: list[tuple[int, int]]) -> None:
    bank = Bank(producer_byte_rate=float(rate))
    used = last = 0
    for amount, pause_ms in uses:
        bank.clock.advance(pause_ms)
        wait_ms = bank.budgets.charge(ANN, Budget.PRODUCE, amount)
        used, last = used + amount, amount
        elapsed_s = bank.clock.monotonic_ms() / 1000
        assert used - last <= rate * (elapsed_s + WINDOW_SECONDS) + 1
        bank.clock.advance(wait_ms)
        if wait_ms:
            assert bank.budgets.charge(ANN, Budget.PRODUCE, 0) == 0


def test_overdraft_is_waited_for_to_the_millisecond() -> None:
    bank = Bank(producer_byte_rate=1000.0)
    assert bank.budgets.charge(ANN, Budget.PRODUCE, 10_000) == 0
    assert bank.budgets.charge(ANN, Budget.PRODUCE, 1_500) == 1_500
    bank.clock.advance(500)
    assert bank.budgets.charge(ANN, Budget.PRODUCE, 1) == 1_001


def test_request_time_is_a_percentage_and_mutations_are_counted() -> None:
    bank = Bank(request_percentage=50.0, controller_mutation_rate=1.0)
    before = bank.budgets.standing()
    bank.clock.advance(6_000)
    assert bank.budgets.settle(ANN, before) == 2_000
    before = bank.budgets.standing()
    bank.mutations += 12
    assert bank.budgets.settle(ANN, before) == 2_000
    assert bank.budgets.settle(ANN, bank.budgets.standing()) == 0


def test_connection_that_comes_too_early_is_not_charged() -> None:
    bank = Bank()
    bank.quotas.by_entity[(("ip", None),)] = {"connection_creation_rate": 1.0}
    waits = [bank.budgets.charge_connection("10.0.0.1") for _ in range(13)]
    assert waits == [0] * 10 + [1000] * 3
    assert bank.budgets.charge_connection("10.0.0.2") == 0
    bank.clock.advance(1000)
    assert bank.budgets.charge_connection("10.0.0.1") == 0


def test_nothing_is_counted_without_limits() -> None:
    bank = Bank()
    assert not bank.budgets.are_set
    assert bank.budgets.charge(ANN, Budget.PRODUCE, 1 << 40) == 0


def test_changed_limit_begins_anew() -> None:
    bank = Bank(producer_byte_rate=1000.0)
    assert bank.budgets.charge(ANN, Budget.PRODUCE, 1_000_000) == 990_000
    bank.quotas.by_entity[(("user", None),)]["producer_byte_rate"] = 2000.0
    bank.quotas.changes += 1
    assert bank.budgets.charge(ANN, Budget.PRODUCE, 1) == 0


def test_accounts_of_inventive_clients_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ACCOUNTS_MAX", 5)
    bank = Bank(producer_byte_rate=1000.0)
    for number in range(50):
        bank.budgets.charge(Caller(principal=f"User:{number}"), Budget.PRODUCE, 1)
    assert len(bank.budgets._accounts) <= 5


@given(
    st.integers(1, 10_000), st.lists(st.tuples(st.integers(0, 100_000), st.integers(0, 5_000)), max_size=30)
)
@example(1, [(65, 0), (10, 1)])
def test_who_takes_only_what_is_covered_never_gets_more_than_the_limit(
    rate: int, wishes: list[tuple[int, int]]
) -> None:
    """And whoever waits as long as it is told gets what it wanted then."""
    bank = Bank(consumer_byte_rate=float(rate))
    used = last = 0
    for amount, pause_ms in wishes:
        bank.clock.advance(pause_ms)
        wait_ms = bank.budgets.take(ANN, Budget.FETCH, amount)
        if wait_ms:
            bank.clock.advance(wait_ms)
            assert bank.budgets.take(ANN, Budget.FETCH, amount) == 0
        used, last = used + amount, amount
        assert used - last <= rate * (bank.clock.monotonic_ms() / 1000 + WINDOW_SECONDS) + 1


def test_mutations_are_paid_once_and_refused_while_in_debt() -> None:
    bank = Bank(controller_mutation_rate=1.0)
    before = bank.budgets.standing()
    assert bank.budgets.admits_mutations(ANN, 15)
    assert not bank.budgets.admits_mutations(ANN, 1)
    bank.mutations += 15
    assert bank.budgets.settle(ANN, before) == 5_000
    before = bank.budgets.standing()
    assert bank.budgets.settle(ANN, before) == 0
    bank.clock.advance(5_000)
    assert bank.budgets.admits_mutations(ANN, 1)


def test_at_once_is_a_window_full() -> None:
    assert Bank(consumer_byte_rate=7.0).budgets.at_once_max(ANN, Budget.FETCH) == 70
    assert Bank(producer_byte_rate=7.0).budgets.at_once_max(ANN, Budget.FETCH) is None
