"""The budget of a consumer, without a clock."""

from hypothesis import given
from hypothesis import strategies as st

from trivium.protocols.rustlog.allowance import Allowance


def test_a_seconds_worth_is_given_at_once() -> None:
    allowance = Allowance(1000, 0)
    assert allowance.spend(600, 0) == 0
    assert allowance.spend(400, 0) == 0
    assert allowance.spend(1, 0) > 0


def test_debt_is_waited_for() -> None:
    allowance = Allowance(1000, 0)
    assert 500 <= allowance.spend(1500, 0) <= 501


def test_rest_saves_up_a_seconds_worth_and_no_more() -> None:
    allowance = Allowance(1000, 0)
    allowance.spend(1000, 0)
    assert allowance.spend(1000, 100_000) == 0
    assert allowance.spend(1, 100_000) > 0


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 2000)), max_size=30))
def test_who_waits_as_told_never_gets_more_than_the_rate(steps: list[tuple[int, int]]) -> None:
    rate, now_ms, spent = 1000, 0, 0
    allowance = Allowance(rate, now_ms)
    for size_bytes, pause_ms in steps:
        now_ms += pause_ms
        now_ms += allowance.spend(size_bytes, now_ms)
        spent += size_bytes
        assert spent <= rate + rate * now_ms / 1000
