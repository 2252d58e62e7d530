"""For every anomaly that has a name, the shortest history that shows it (R12, R14, R15)."""

import re
from collections.abc import Callable

import pytest

from tests.testing.history.story import Story, polled, sent
from trivium.testing.history import (
    AnomalyKind,
    Assign,
    Commit,
    Committed,
    Decision,
    Poll,
    Record,
    Send,
    Txn,
)

FIRST = ("orders", 0)


def edge(**edges: int) -> Poll:
    return Poll("orders", 0, 0, 0, **edges)  # type: ignore[arg-type]


STORIES: dict[AnomalyKind, Callable[[], Story]] = {
    AnomalyKind.TWO_VALUES: lambda: Story().ok("a", polled("x")).ok("b", polled("y")),
    AnomalyKind.TWO_OFFSETS: lambda: Story().ok("a", polled("x", "x")),
    AnomalyKind.LOST_WRITE: lambda: Story().ok("a", sent("x", at=0)).ok("b", polled(end=0)),
    AnomalyKind.UNSEEN: lambda: Story().ok("a", sent("x", at=0)),
    AnomalyKind.MISSED_READ: lambda: (
        Story().ok("a", sent("x", at=0)).ok("b", polled(end=0)).ok("b", polled("x", end=1))
    ),
    AnomalyKind.ABORTED_READ: lambda: (
        Story()
        .ok("a", sent("x", at=0, txn="t"))
        .ok("a", Txn(Decision.ABORT, "t"))
        .ok("b", polled("x", end=2))
    ),
    AnomalyKind.UNCOMMITTED_READ: lambda: (
        Story().ok("a", sent("x", at=0, txn="t")).ok("b", polled("x")).ok("a", Txn(Decision.COMMIT, "t"))
    ),
    AnomalyKind.TORN_TRANSACTION: lambda: (
        Story()
        .ok("a", sent("x", "y", at=0, txn="t"))
        .unknown("a", Txn(Decision.COMMIT, "t"))
        .ok("b", Poll("orders", 0, 0, 3, (Record(0, "x"),)))
    ),
    AnomalyKind.SKIPPED_POLL: lambda: (
        Story().ok("a", polled("x", "y")).ok("b", Poll("orders", 0, 0, 2, (Record(1, "y"),)))
    ),
    AnomalyKind.NON_MONOTONIC_POLL: lambda: Story().ok("a", polled("x")).ok("a", polled("x")),
    AnomalyKind.NON_MONOTONIC_SEND: lambda: (
        Story().ok("a", sent("x", at=1)).ok("b", sent("y", at=0)).ok("c", polled("y", "x", end=2))
    ),
    AnomalyKind.OFFSET_REGRESSION: lambda: (
        Story().ok("a", Commit("g", "orders", 0, 7)).ok("b", Committed("g", "orders", 0, 3))
    ),
    AnomalyKind.DOUBLE_ASSIGNMENT: lambda: (
        Story().ok("a", Assign("g", 4, (FIRST,))).ok("b", Assign("g", 4, (FIRST,)))
    ),
    AnomalyKind.WATERMARK_REGRESSION: lambda: Story().ok("a", edge(watermark=5)).ok("b", edge(watermark=4)),
    AnomalyKind.STABLE_REGRESSION: lambda: Story().ok("a", edge(stable=5)).ok("b", edge(stable=4)),
    AnomalyKind.START_REGRESSION: lambda: Story().ok("a", edge(start=5)).ok("b", edge(start=4)),
    AnomalyKind.PROTOCOLS_DISAGREE: lambda: Story().ok("a", polled("x")).ok("b", polled("y"), "iggy"),
    AnomalyKind.STALE_EPOCH: lambda: (
        Story()
        .ok("a", Txn(Decision.INIT, producer="p", epoch=1))
        .ok("b", Txn(Decision.INIT, producer="p", epoch=2))
        .ok("a", Send("orders", 0, ("x",), (0,), producer="p", epoch=1))
        .ok("c", polled("x", end=1))
    ),
}


@pytest.mark.parametrize("kind", AnomalyKind, ids=lambda kind: kind.name.lower())
def test_checker_on_the_shortest_history_finds_that_anomaly_and_no_other(kind: AnomalyKind) -> None:
    story = STORIES[kind]()
    assert [anomaly.kind for anomaly in story.anomalies()] == [kind]


@pytest.mark.parametrize("kind", AnomalyKind, ids=lambda kind: kind.name.lower())
def test_anomaly_in_words_says_what_happened_and_who_saw_it(kind: AnomalyKind) -> None:
    (anomaly,) = STORIES[kind]().anomalies()
    text = str(anomaly)
    assert text.startswith(f"{kind.value}: ")
    lines = sorted({witness.line for witness in anomaly.witnesses})
    assert [int(word) for word in re.findall(r"line (\d+): \w+ of [abc] through", text)] == lines
