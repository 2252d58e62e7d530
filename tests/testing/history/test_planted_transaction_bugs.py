"""Bugs of transactions, planted in the log that decides them, and found from what readers see (R14)."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.log.log_of import NOW, TOPIC_ID, append, open_directory
from tests.testing.history.story import Story
from tests.testing.history.test_planted_bugs import PLANTS
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.log.txn_index import AbortedTransaction
from trivium.records.batch import iter_batches, iter_records
from trivium.records.control import EndTxnMarker, build_end_txn
from trivium.records.visibility import Visibility
from trivium.testing.history import AnomalyKind, Decision, Poll, Record, Send, Txn, Verdict, check
from trivium.testing.memory_files import MemoryFiles

TOPIC = "orders"


class Told:
    """A log, what is done with it, and what its readers are shown."""

    def __init__(self) -> None:
        directory = open_directory(MemoryFiles(), "/data")
        self.log = directory.create(TOPIC, 0, TOPIC_ID, LogSettings(), NOW)
        self.story = Story()
        self._sequences: dict[int, int] = {}

    def send(self, producer_id: int, value: str) -> None:
        sequence = self._sequences.get(producer_id, 0)
        self._sequences[producer_id] = sequence + 1
        offset = append(
            self.log,
            value.encode(),
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=sequence,
            transactional=True,
        )
        self.story.ok("producer", Send(TOPIC, 0, (value,), (offset,), txn=f"of {producer_id}"))

    def decide(self, producer_id: int, decision: Decision) -> None:
        marker = EndTxnMarker(decision is Decision.COMMIT, 0)
        data = build_end_txn(marker, producer_id=producer_id, producer_epoch=0, timestamp=NOW)
        self.log.append(bytearray(data), leader_epoch=0, now_ms=NOW)
        self.log.advance_high_watermark(self.log.log_end_offset)
        self.story.ok("producer", Txn(decision, f"of {producer_id}"))

    def poll(self, reader: str) -> None:
        piece, aborted = self.log.read_committed(0, 1 << 20)
        visibility = Visibility(aborted)
        records = tuple(
            Record(record.offset, (record.value or b"").decode())
            for run in piece.runs
            for position, header in iter_batches(run)
            if visibility.sees(run, position, header)
            for record in iter_records(run, position)
        )
        poll = Poll(TOPIC, 0, 0, piece.offset_next, records, seeks=True, watermark=self.log.high_watermark)
        self.story.ok(reader, replace(poll, stable=self.log.last_stable_offset))


def judged() -> Verdict:
    """Two transactions side by side, one committed and one aborted, and a reader at every step."""
    told = Told()
    for producer_id, value in ((1, "kept"), (2, "taken back"), (1, "kept too"), (2, "taken back too")):
        told.send(producer_id, value)
        told.poll("early")
    told.decide(1, Decision.COMMIT)
    told.poll("early")
    told.decide(2, Decision.ABORT)
    told.poll("late")
    return check(told.story.operations)


def everything_is_stable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PartitionLog, "last_stable_offset", property(lambda log: log.high_watermark))


def nothing_was_aborted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PartitionLog, "aborted_transactions", lambda _log, _start, _end: [])


def aborts_half_of_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    told = [AbortedTransaction(2, 1, 5, 0), AbortedTransaction(1, 2, 4, 0)]
    monkeypatch.setattr(PartitionLog, "aborted_transactions", lambda _log, _start, _end: told)


TRANSACTION_PLANTS: list[tuple[AnomalyKind, Callable[[pytest.MonkeyPatch], None]]] = [
    (AnomalyKind.UNCOMMITTED_READ, everything_is_stable),
    (AnomalyKind.ABORTED_READ, nothing_was_aborted),
    (AnomalyKind.TORN_TRANSACTION, aborts_half_of_the_other),
]


def test_checker_with_a_sound_log_finds_nothing() -> None:
    assert str(judged()).endswith("no anomaly")


@pytest.mark.parametrize(
    ("kind", "plant"), TRANSACTION_PLANTS, ids=[kind.name.lower() for kind, _ in TRANSACTION_PLANTS]
)
def test_checker_with_a_planted_bug_of_transactions_finds_its_anomaly(
    kind: AnomalyKind, plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    verdict = judged()
    assert kind in verdict.counts, str(verdict)


def test_every_anomaly_has_a_bug_that_shows_it() -> None:
    planted = {kind for kind, *_ in (*PLANTS, *TRANSACTION_PLANTS)}
    with_tests_of_their_own = {AnomalyKind.STALE_EPOCH, AnomalyKind.DOUBLE_ASSIGNMENT}
    assert planted | with_tests_of_their_own == set(AnomalyKind)
