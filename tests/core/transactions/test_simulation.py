"""Histories of transactions, each from a seed, with crashes between any two records (R14).

A failing seed is replayed alone by ``run(seed, STEPS)``.
"""

from collections.abc import Callable

import pytest

from tests.core.transactions.simulation import run
from trivium.core.groups.offsets import Place
from trivium.core.ports import Done
from trivium.core.transactions.ending import Ending
from trivium.core.transactions.ledger import Ledger
from trivium.core.transactions.markers import Marker, Markers
from trivium.core.transactions.transaction import Transaction

STEPS = 12
SEEDS = 60


@pytest.mark.parametrize("seed", range(SEEDS))
def test_transactions_of_any_history_are_whole_and_end(seed: int) -> None:
    run(seed, STEPS)


# -- the checker is checked: each of these bugs must be found -----------------------------------


def acts_before_it_is_durable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ledger, "when_durable", lambda self, done: done(None))


def forgets_decisions_at_a_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ending, "resume", lambda self, ledger, decided: None)


def leaves_a_partition_out(monkeypatch: pytest.MonkeyPatch) -> None:
    write: Callable[[Markers, Place, Marker, Done], None] = Markers.write

    def write_some(self: Markers, place: Place, marker: Marker, done: Done) -> None:
        if place == ("t", 2):
            done(None)
        else:
            write(self, place, marker, done)

    monkeypatch.setattr(Markers, "write", write_some)


def completes_before_markers_are_durable(monkeypatch: pytest.MonkeyPatch) -> None:
    write: Callable[[Markers, Place, Marker, Done], None] = Markers.write

    def write_hastily(self: Markers, place: Place, marker: Marker, done: Done) -> None:
        write(self, place, marker, lambda _fault: None)
        done(None)

    monkeypatch.setattr(Markers, "write", write_hastily)


def commits_what_it_should_abort(monkeypatch: pytest.MonkeyPatch) -> None:
    fenced: Callable[..., Transaction] = Transaction.decided

    def decided(self: Transaction, **fields: object) -> Transaction:
        return fenced(self, **{**fields, "commits": True})

    monkeypatch.setattr(Transaction, "decided", decided)


@pytest.mark.parametrize(
    "plant",
    [
        acts_before_it_is_durable,
        forgets_decisions_at_a_start,
        leaves_a_partition_out,
        completes_before_markers_are_durable,
        commits_what_it_should_abort,
    ],
)
def test_planted_bug_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    for seed in range(SEEDS):
        try:
            run(seed, STEPS)
        except AssertionError:
            return
    raise AssertionError(f"{plant.__name__} is not noticed in {SEEDS} histories")
