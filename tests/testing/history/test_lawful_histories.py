"""The checker passes whatever a sound log could do, and no history from which a record is taken (R12)."""

from dataclasses import replace

from tests.testing.history.lawful import lawful_history
from trivium.testing.history import AnomalyKind, Operation, Poll, Send, check

SEEDS = range(60)
OPERATIONS = 80


def without(history: list[Operation], value: str) -> list[Operation]:
    """The same, had nobody ever been shown this value."""
    return [
        replace(each, act=replace(each.act, records=tuple(r for r in each.act.records if r.value != value)))
        if isinstance(each.act, Poll)
        else each
        for each in history
    ]


def test_checker_of_histories_that_are_lawful_finds_nothing() -> None:
    for seed in SEEDS:
        verdict = check(lawful_history(seed, OPERATIONS))
        assert verdict.is_clean, f"seed {seed}: {verdict}"


def test_checker_of_histories_with_an_acknowledged_record_taken_away_finds_it_lost() -> None:
    for seed in SEEDS:
        history = lawful_history(seed, OPERATIONS)
        acknowledged = [
            value
            for each in history
            if isinstance(each.act, Send) and each.is_ok and each.act.txn is None
            for value in each.act.values
        ]
        value = acknowledged[seed % len(acknowledged)]
        lost = [each for each in check(without(history, value)).anomalies if repr(value) in each.what]
        assert AnomalyKind.LOST_WRITE in {each.kind for each in lost}, f"seed {seed}: {value}"
