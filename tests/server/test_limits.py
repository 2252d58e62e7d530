"""Admission and memory budgets, without a socket (S5, S6)."""

from trivium.server.limits import Admission, MemoryBudget


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_admission_of_an_address_at_its_limit_is_refused_until_one_has_gone() -> None:
    admission = Admission(2, {}, 1_000, Clock())
    assert admission.refusal("a") is None
    assert admission.refusal("a") is None
    assert "2 are allowed" in str(admission.refusal("a"))
    assert admission.refusal("b") is None
    admission.release("a")
    assert admission.refusal("a") is None


def test_admission_of_an_address_with_its_own_limit_follows_that() -> None:
    admission = Admission(1, {"a": 2, "b": 0}, 1_000, Clock())
    assert admission.refusal("a") is None
    assert admission.refusal("a") is None
    assert admission.refusal("b") is not None


def test_admission_of_an_address_that_comes_sooner_than_its_quota_is_refused_and_not_counted() -> None:
    """``connection_creation_rate`` by address (S6)."""
    early_ms = {"a": 250}
    admission = Admission(10, {}, 1_000, Clock(), lambda address: early_ms.get(address, 0))
    assert "in 250 ms" in str(admission.refusal("a"))
    assert admission.refusal("b") is None
    assert admission.addresses == 1
    early_ms.clear()
    assert admission.refusal("a") is None


def test_admission_after_everybody_has_gone_remembers_no_address() -> None:
    admission = Admission(10, {}, 1_000, Clock())
    for number in range(100):
        admission.refusal(str(number))
    for number in range(100):
        admission.release(str(number))
    assert admission.addresses == 0


def test_admission_within_one_second_allows_one_seconds_worth() -> None:
    clock = Clock()
    admission = Admission(100, {}, 10, clock)
    for _ in range(10):
        assert admission.wait_seconds() == 0
        admission.refusal("a")
    assert round(admission.wait_seconds(), 6) == 0.1
    clock.now += 0.11
    assert admission.wait_seconds() == 0
    admission.refusal("a")
    assert admission.wait_seconds() > 0


def test_admission_after_a_long_quiet_time_allows_no_more_than_one_seconds_worth() -> None:
    clock = Clock()
    admission = Admission(100, {}, 5, clock)
    clock.now += 3600
    taken = 0
    while admission.wait_seconds() == 0:
        admission.refusal("a")
        taken += 1
    assert taken == 5


def test_budget_of_several_holders_is_their_sum() -> None:
    budget: MemoryBudget[str] = MemoryBudget(100)
    budget.hold("a", 60)
    budget.hold("b", 40)
    assert not budget.is_over
    budget.hold("b", 41)
    assert budget.is_over
    assert budget.largest() == "a"
    budget.hold("a", 0)
    assert budget.used_bytes == 41
    assert list(budget.held) == ["b"]


def test_budget_without_holders_has_no_largest() -> None:
    budget: MemoryBudget[str] = MemoryBudget(1)
    budget.hold("a", 0)
    assert budget.largest() is None
    assert budget.used_bytes == 0
