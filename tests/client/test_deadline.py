"""How often something is tried. Time itself is not tested: the pauses are."""

import pytest

from trivium.client.deadline import FIRST_PAUSE_S, PAUSE_S_MAX, Deadline, attempts, pause_s


def test_pauses_double_and_have_a_ceiling() -> None:
    assert pause_s(0) == 0
    for attempt in range(1, 5):
        assert pause_s(attempt) == pytest.approx(FIRST_PAUSE_S * 2 ** (attempt - 1), rel=0.21)
    assert pause_s(1_000_000) == pytest.approx(PAUSE_S_MAX, rel=0.21)


def test_attempts_are_at_least_one_even_when_there_is_no_time() -> None:
    assert list(attempts(Deadline(0))) == [0]


def test_attempts_end_when_no_time_is_left_for_another_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    now = 0.0

    def sleep(seconds: float) -> None:
        nonlocal now
        slept.append(seconds)
        now += seconds

    monkeypatch.setattr("trivium.client.deadline.time.monotonic", lambda: now)
    monkeypatch.setattr("trivium.client.deadline.time.sleep", sleep)
    deadline = Deadline(3.0)
    assert len(list(attempts(deadline))) == len(slept) + 1
    assert sum(slept) < 3.0
    assert len(slept) > 5


def test_deadline_within_is_the_nearer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.client.deadline.time.monotonic", lambda: 100.0)
    assert Deadline(5).within(1).remaining_s == 1
    assert Deadline(1).within(5).remaining_s == 1
    assert not Deadline(1).has_passed
    assert Deadline(0).has_passed
