"""What was acknowledged is there, at once and for good: *lost write*, *unseen at the end*, *a read after
an ok send that misses it*.

A send is acknowledged when it ended ok, in a transaction when that was committed. A poll *passes* an
offset if it began before or at it and went on behind it, or if it reached the end of the log before it. A
poll that passes an acknowledged record and does not show it misses it, provided that it began after the
acknowledgement. If a later poll shows the record it was missed; if none does it is lost. A record that
nobody was ever in a position to see is unseen: its history did not read to the end.
"""

from collections import defaultdict, deque
from collections.abc import Iterator
from functools import partial
from typing import Final

from trivium.testing.history.anomaly import Anomaly, AnomalyKind, Witness, witness
from trivium.testing.history.ledger import Entry, Ledger, gaps, place_of
from trivium.testing.history.operation import Decision, Operation, Outcome, Place, Poll, Send, Txn
from trivium.testing.history.ranges import Ranges

ENDS_KEPT: Final = 1_000
"""Polls of one partition. Where a protocol does not tell offsets, a record's place is known when it is first
read, and polls that ended before it are looked for among so many."""


class Visibility:
    acts: Final = (Send, Txn, Poll)

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._missing: dict[Place, dict[str, tuple[Operation, Witness]]] = defaultdict(dict)
        """Acknowledged values that a poll did not show, each with its send and that poll."""
        self._end: dict[Place, int] = defaultdict(int)
        """Behind the last offset that anybody was told of."""
        self._passed: dict[Place, Ranges] = defaultdict(Ranges)
        self._ends: dict[Place, deque[tuple[int, Witness]]] = defaultdict(partial(deque, maxlen=ENDS_KEPT))
        """Where the log ended for the latest polls that came so far."""
        self._start: dict[Place, int] = defaultdict(int)
        """Records before it were deleted on purpose."""
        self._committed: dict[str, int] = {}
        """Transactions that are committed for certain, and when that was known."""
        self._with_transactions: set[Place] = set()

    def observe(self, operation: Operation) -> Iterator[Anomaly]:
        act = operation.act
        if isinstance(act, Send):
            place = (act.topic, act.partition)
            if act.txn is not None and place not in self._with_transactions:
                self._begin_transactions(place, operation)
            if operation.is_ok and act.offsets:
                self._end[place] = max(self._end[place], act.offsets[-1] + 1)
        elif isinstance(act, Txn) and operation.is_ok:
            if act.decision is Decision.COMMIT and act.txn is not None:
                self._committed.setdefault(act.txn, operation.end)
        elif isinstance(act, Poll) and operation.is_ok:
            yield from self._polled(operation, act)

    def _begin_transactions(self, place: Place, send: Operation) -> None:
        """Before its first send had an answer, the first transaction may have hidden what lies behind it:
        polls of that time prove nothing.
        """
        self._with_transactions.add(place)
        missing, ends = self._missing[place], self._ends[place]
        for value in [value for value, (_, poll) in missing.items() if poll.end >= send.invoke]:
            del missing[value]
        while ends and ends[-1][1].end >= send.invoke:
            ends.pop()

    def finish(self) -> Iterator[Anomaly]:
        for place, missing in self._missing.items():
            for value, (send, poll) in missing.items():
                yield _told(AnomalyKind.LOST_WRITE, place, value, witness(send), poll)
        for place, entries in self._ledger.places.items():
            for entry in entries.values():
                if (
                    entry.shown is None
                    and entry.offset >= self._start[place]
                    and entry.value not in self._missing[place]
                ):
                    yield from self._unseen(place, entry.value, entry.sent)
        for value, send in self._ledger.unplaced.items():
            assert isinstance(send.act, Send)
            place = (send.act.topic, send.act.partition)
            if value not in self._missing[place]:
                yield from self._never_found(place, value, send)

    def _acknowledged(self, send: Operation | None) -> int | None:
        """When the client knew that what it had sent would stay."""
        if send is None or send.outcome is not Outcome.OK:
            return None
        assert isinstance(send.act, Send)
        return send.end if send.act.txn is None else self._committed.get(send.act.txn)

    def _polled(self, operation: Operation, poll: Poll) -> Iterator[Anomaly]:
        place, told_by = place_of(poll), witness(operation)
        missing = self._missing[place]
        for record in poll.records:
            if missing and record.value in missing:
                send, other = missing.pop(record.value)
                yield _told(AnomalyKind.MISSED_READ, place, record.value, witness(send), other, told_by)
            entry = self._ledger.at(place, record.offset)
            if entry is not None and entry.value != record.value:
                self._miss(place, entry, told_by)
            elif entry is not None and entry.told_by == told_by:
                yield from self._found(place, entry)
        for start, end in gaps(poll):
            for entry in self._ledger.between(place, start, end):
                self._miss(place, entry, told_by)
        self._start[place] = max(self._start[place], poll.start or 0)
        self._end[place] = max((self._end[place], *(record.offset + 1 for record in poll.records)))
        if poll.next is not None:
            self._passed[place].add(poll.offset, poll.next)
            if self._reached_end(place, poll):
                behind = max(poll.next, poll.offset)
                self._ends[place].append((behind, told_by))
                for entry in self._ledger.between(place, behind, max(behind, self._end[place])):
                    self._miss(place, entry, told_by)

    def _found(self, place: Place, entry: Entry) -> Iterator[Anomaly]:
        """A record's place is known from now on: did a poll end before it that should have seen it?"""
        acknowledged = self._acknowledged(entry.sent)
        if acknowledged is None or entry.sent is None:
            return
        for offset_end, poll in reversed(self._ends[place]):
            if poll.end < acknowledged:
                return
            if poll.invoke > acknowledged and offset_end <= entry.offset:
                sender = witness(entry.sent)
                yield _told(AnomalyKind.MISSED_READ, place, entry.value, sender, poll, entry.told_by)
                return

    def _reached_end(self, place: Place, poll: Poll) -> bool:
        if poll.next is None:
            return False
        if poll.watermark is not None:
            return poll.next >= poll.watermark
        # An open transaction hides what lies behind it from readers of committed records.
        stable = poll.stable
        return stable is not None and poll.next >= stable and place not in self._with_transactions

    def _miss(self, place: Place, entry: Entry, told_by: Witness) -> None:
        acknowledged = self._acknowledged(entry.sent)
        if acknowledged is not None and acknowledged < told_by.invoke and entry.sent is not None:
            self._missing[place].setdefault(entry.value, (entry.sent, told_by))

    def _unseen(self, place: Place, value: str, send: Operation | None) -> Iterator[Anomaly]:
        if send is not None and self._acknowledged(send) is not None:
            yield _told(AnomalyKind.UNSEEN, place, value, witness(send))

    def _never_found(self, place: Place, value: str, send: Operation) -> Iterator[Anomaly]:
        """Nobody knows its offset. If all that lay there at some time after it was read, it is lost."""
        acknowledged = self._acknowledged(send)
        if acknowledged is None:
            return
        for offset_end, poll in self._ends[place]:
            read_all = self._passed[place].has_all(self._start[place], offset_end)
            if poll.invoke > acknowledged and read_all:
                yield _told(AnomalyKind.LOST_WRITE, place, value, witness(send), poll)
                return
        yield _told(AnomalyKind.UNSEEN, place, value, witness(send))


_SENTENCES = {
    AnomalyKind.LOST_WRITE: "was acknowledged and is not there any more",
    AnomalyKind.UNSEEN: "was acknowledged, and nobody has read where it should be",
    AnomalyKind.MISSED_READ: "was acknowledged, then not shown by a poll, then shown by a later one",
}


def _told(kind: AnomalyKind, place: Place, value: str, *witnesses: Witness) -> Anomaly:
    return Anomaly(kind, f"{value!r} of {place[0]}-{place[1]} {_SENTENCES[kind]}", witnesses)
