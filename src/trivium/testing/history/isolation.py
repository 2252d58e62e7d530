"""What did not happen is not seen, and what happened is seen whole: *aborted read*, *uncommitted read*,
*torn transaction*.

A send that failed must never be read by anybody. For readers of committed records the same goes for sends
of an aborted transaction, and for those of a transaction whose commit nobody had asked for when the poll
ended. A transaction is torn if such readers see a part of it and pass over another.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from trivium.testing.history.anomaly import Anomaly, AnomalyKind, Witness, witness
from trivium.testing.history.ledger import Ledger, place_of
from trivium.testing.history.operation import Decision, Operation, Outcome, Place, Poll, Send, Txn
from trivium.testing.history.ranges import Ranges


class Isolation:
    acts: Final = (Send, Txn, Poll)

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._early: dict[str, tuple[Witness, bool]] = {}
        """Values that were read before their send had ended, by whom, and whether it was a committed read."""
        self._read: dict[str, dict[str, Witness]] = defaultdict(dict)
        """By transaction that is not decided yet: values that readers of committed records have seen."""
        self._aborted: dict[str, Witness] = {}
        self._commits: dict[str, Witness] = {}
        """Commits that may have happened, the first of each transaction."""
        self._sends: dict[str, list[Operation]] = defaultdict(list)
        self._passed: dict[Place, Ranges] = defaultdict(Ranges)

    def observe(self, operation: Operation) -> Iterator[Anomaly]:
        act = operation.act
        if isinstance(act, Send):
            yield from self._sent(operation, act)
        elif isinstance(act, Txn) and act.txn is not None and operation.outcome is not Outcome.FAIL:
            yield from self._decided(operation, act.decision, act.txn)
        elif isinstance(act, Poll) and operation.is_ok:
            yield from self._polled(operation, act)

    def finish(self) -> Iterator[Anomaly]:
        for name, read in self._read.items():
            for value, poll in read.items():
                yield _uncommitted(name, value, (poll,))
        for name, sends in self._sends.items():
            if name not in self._aborted:
                yield from self._torn(name, sends)

    def _sent(self, operation: Operation, send: Send) -> Iterator[Anomaly]:
        if send.txn is not None:
            self._sends[send.txn].append(operation)
        for value in send.values:
            if value in self._early:
                yield from self._judge(operation, send, value, *self._early.pop(value))

    def _polled(self, operation: Operation, poll: Poll) -> Iterator[Anomaly]:
        place, told_by = place_of(poll), witness(operation)
        if poll.committed and poll.next is not None:
            self._passed[place].add(poll.offset, poll.next)
        for record in poll.records:
            found = self._ledger.of_value.get(record.value)
            send = None if found is None else found.sent
            if send is None:
                self._early.setdefault(record.value, (told_by, poll.committed))
            else:
                assert isinstance(send.act, Send)
                yield from self._judge(send, send.act, record.value, told_by, poll.committed)

    def _judge(
        self, operation: Operation, send: Send, value: str, poll: Witness, committed: bool
    ) -> Iterator[Anomaly]:
        """A value was read, and its send is known."""
        if operation.outcome is Outcome.FAIL:
            what = f"{value!r} was refused and is read nevertheless"
            yield Anomaly(AnomalyKind.ABORTED_READ, what, (witness(operation), poll))
        elif send.txn is None or not committed:
            return
        elif send.txn in self._aborted:
            yield _aborted(send.txn, value, self._aborted[send.txn], poll)
        elif send.txn not in self._commits:
            self._read[send.txn].setdefault(value, poll)
        elif poll.end < self._commits[send.txn].invoke:
            yield _uncommitted(send.txn, value, (poll, self._commits[send.txn]))

    def _decided(self, operation: Operation, decision: Decision, name: str) -> Iterator[Anomaly]:
        told_by = witness(operation)
        if decision is Decision.COMMIT and name not in self._commits:
            self._commits[name] = told_by
            for value, poll in self._read.pop(name, {}).items():
                if poll.end < told_by.invoke:
                    yield _uncommitted(name, value, (poll, told_by))
        elif decision is Decision.ABORT and operation.is_ok and name not in self._aborted:
            self._aborted[name] = told_by
            for value, poll in self._read.pop(name, {}).items():
                yield _aborted(name, value, told_by, poll)

    def _torn(self, name: str, sends: list[Operation]) -> Iterator[Anomaly]:
        seen: tuple[str, Witness] | None = None
        passed: tuple[str, Witness] | None = None
        for operation in sends:
            assert isinstance(operation.act, Send)
            for value in operation.act.values if operation.is_ok else ():
                entry = self._ledger.of_value.get(value)
                if entry is None:
                    continue
                if entry.shown_committed is not None:
                    seen = (value, entry.shown_committed)
                elif entry.offset in self._passed[entry.place]:
                    passed = (value, witness(operation))
        if seen is not None and passed is not None:
            what = f"of transaction {name!r} readers see {seen[0]!r} and not {passed[0]!r}"
            yield Anomaly(AnomalyKind.TORN_TRANSACTION, what, (passed[1], seen[1]))


def _aborted(name: str, value: str, abort: Witness, poll: Witness) -> Anomaly:
    what = f"{value!r} is read though its transaction {name!r} was aborted"
    return Anomaly(AnomalyKind.ABORTED_READ, what, (abort, poll))


def _uncommitted(name: str, value: str, witnesses: tuple[Witness, ...]) -> Anomaly:
    what = f"{value!r} was read before anybody asked for the commit of its transaction {name!r}"
    return Anomaly(AnomalyKind.UNCOMMITTED_READ, what, witnesses)
