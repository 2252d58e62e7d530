"""Commit and abort: decide, mark every partition, complete.

Whoever ends a transaction is answered when every marker is written, so that the next transaction can begin at
once and readers see all of this one. If a partition cannot be marked now (its directory is offline), the end
is decided all the same: the answer leaves, and the markers are tried again until they are written.
"""

from collections.abc import Callable
from typing import Final

from trivium.core.all_done import AllDone
from trivium.core.caller import Caller
from trivium.core.commands.command import Reply
from trivium.core.commands.producers import NO_PRODUCER_EPOCH, NewProducer
from trivium.core.commands.transactions import Ended, EndTransaction
from trivium.core.faults import Fault, Refused
from trivium.core.groups.offsets import Place
from trivium.core.ports import Done
from trivium.core.timers import Timers
from trivium.core.transactions.ledger import Ledger
from trivium.core.transactions.ledgers import Ledgers
from trivium.core.transactions.markers import Marker, Markers
from trivium.core.transactions.transaction import (
    DECIDED,
    EPOCH_LAST,
    EPOCHS_RENEWED_SINCE,
    FIRST_EPOCH,
    NOBODY,
    Producer,
    State,
    Transaction,
)

MARKER_RETRY_MS: Final = 1_000
"""After a marker could not be written. A disk rarely comes back sooner."""
_NOTHING_TO_END: Final = frozenset((Fault.UNKNOWN_TOPIC, Fault.INVALID_PRODUCER_EPOCH))
"""The topic has been deleted, or somebody has ended the transaction there with a newer epoch."""

NewId = Callable[[Callable[[NewProducer], None]], None]
"""Gives out a producer id that nobody has had."""


class Ending:
    def __init__(self, ledgers: Ledgers, markers: Markers, timers: Timers, new_id: NewId) -> None:
        self._ledgers = ledgers
        self._markers = markers
        self._timers = timers
        self._new_id = new_id

    # -- deciding --------------------------------------------------------------------------------

    def end(self, command: EndTransaction, caller: Caller, reply: Reply[Ended]) -> None:
        found = self._ledgers.find(command.transactional_id)
        if found is None:
            raise Refused(Fault.INVALID_PRODUCER_ID_MAPPING)
        ledger, transaction = found
        asking = Producer(command.producer_id, command.producer_epoch)
        if _is_answered(transaction, asking, commits=command.commits, renews_epoch=command.renews_epoch):
            reply(Ended(None, *transaction.client))
            return
        version = EPOCHS_RENEWED_SINCE if command.renews_epoch else 0
        if command.renews_epoch and transaction.client.is_exhausted:
            self._new_id(lambda new: self._end_with_successor(ledger, transaction, command, new, reply))
            return
        self._decide(
            ledger,
            transaction.decided(
                commits=command.commits,
                version=version,
                successor=successor(transaction, renews_epoch=command.renews_epoch),
                now=ledger.now(),
            ),
            reply,
        )

    def _end_with_successor(
        self,
        ledger: Ledger,
        transaction: Transaction,
        command: EndTransaction,
        new: NewProducer,
        reply: Reply[Ended],
    ) -> None:
        try:
            if new.fault is not None:
                raise Refused(new.fault)
            if not ledger.is_current(transaction):
                raise Refused(Fault.CONCURRENT_TRANSACTIONS)
            decided = transaction.decided(
                commits=command.commits,
                version=EPOCHS_RENEWED_SINCE,
                successor=Producer(new.producer_id, FIRST_EPOCH),
                now=ledger.now(),
            )
            self._decide(ledger, decided, reply)
        except Refused as refused:
            reply(Ended(refused.fault))

    def _decide(self, ledger: Ledger, decided: Transaction, reply: Reply[Ended]) -> None:
        ledger.put(
            decided,
            lambda fault: (
                reply(Ended(fault))
                if fault is not None
                else self._mark(ledger, decided, lambda: reply(Ended(None, *decided.client)))
            ),
        )

    def carry_out(
        self, ledger: Ledger, decided: Transaction, written: Done, answer: Callable[[], None]
    ) -> None:
        """Write down what was decided elsewhere, and mark it; ``written`` when the first is durable,
        ``answer`` once the second is done, or cannot be done now. ``Refused`` if it cannot be written.
        """

        def go_on(fault: Fault | None) -> None:
            written(fault)
            if fault is None:
                self._mark(ledger, decided, answer)
            else:
                answer()

        ledger.put(decided, go_on)

    def fence(
        self, ledger: Ledger, transaction: Transaction, done: Done, *, by_epoch: int = NO_PRODUCER_EPOCH
    ) -> None:
        """Abort an open transaction without its producer, whose epoch counts no more; ``by_epoch`` if it is
        the producer itself that begins anew. ``Refused`` if that cannot be written.
        """

        def abort(successor: Producer) -> None:
            fenced = transaction.fenced(ledger.version, ledger.now(), by_epoch, successor=successor)
            ledger.put(
                fenced,
                lambda fault: (
                    done(fault) if fault is not None else self._mark(ledger, fenced, lambda: done(None))
                ),
            )

        def given(new: NewProducer) -> None:
            try:
                if new.fault is not None:
                    raise Refused(new.fault)
                if not ledger.is_current(transaction):
                    raise Refused(Fault.CONCURRENT_TRANSACTIONS)
                abort(Producer(new.producer_id, FIRST_EPOCH))
            except Refused as refused:
                done(refused.fault)

        if ledger.version >= EPOCHS_RENEWED_SINCE and transaction.is_exhausted:
            # Its producer may be told how to go on, and the epoch of the marker is nobody's.
            self._new_id(given)
        else:
            abort(NOBODY)

    # -- marking ---------------------------------------------------------------------------------

    def resume(self, ledger: Ledger, decided: Transaction) -> None:
        """A start has found a decision without its completion. It must be durable before anybody acts on it:
        what was read may lie in the page cache only.
        """
        ledger.when_durable(
            lambda fault: None if fault is not None else self._mark(ledger, decided, lambda: None)
        )

    def _mark(self, ledger: Ledger, decided: Transaction, answer: Callable[[], None]) -> None:
        """Write the markers, then complete; ``answer`` once that is done, or cannot be done now."""
        _Marking(self._markers, self._timers, ledger, decided, answer).go_on()


class _Marking:
    """One decision on its way into its partitions."""

    def __init__(
        self,
        markers: Markers,
        timers: Timers,
        ledger: Ledger,
        decided: Transaction,
        answer: Callable[[], None],
    ) -> None:
        self._markers = markers
        self._timers = timers
        self._ledger = ledger
        self._decided = decided
        self._answer: Callable[[], None] | None = answer
        self._missing = set(decided.partitions)

    def go_on(self) -> None:
        if not self._ledger.is_current(self._decided):
            # The ledger was given up; whoever reads it anew finds the decision.
            self._give_answer()
            return
        waiting = AllDone(self._marked)
        for place in sorted(self._missing):
            done = self._one_done(place, waiting.begin())
            try:
                self._markers.write(place, self._marker(), done)
            except Refused as refused:
                done(None if refused.fault in _NOTHING_TO_END else refused.fault)
        waiting.all_begun()

    def _marker(self) -> Marker:
        decided = self._decided
        return Marker(decided.producer, decided.commits, self._ledger.coordinator_epoch, decided.renews_epoch)

    def _one_done(self, place: Place, done: Done) -> Done:
        def synced(fault: Fault | None) -> None:
            if fault is None:
                self._missing.discard(place)
            done(fault)

        return synced

    def _marked(self, fault: Fault | None) -> None:
        try:
            if fault is None and self._ledger.is_current(self._decided):
                self._ledger.put(self._decided.completed(self._ledger.now()), lambda _fault: None)
        except Refused as refused:
            fault = refused.fault
        self._give_answer()
        if fault is not None:
            self._timers.after(MARKER_RETRY_MS, self.go_on)

    def _give_answer(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer()


def _is_answered(transaction: Transaction, asking: Producer, *, commits: bool, renews_epoch: bool) -> bool:
    """Whether this end has happened already; False if it may happen now. ``Refused`` otherwise."""
    is_retry = renews_epoch and _is_retry(transaction, asking)
    if not is_retry:
        if asking.producer_id != transaction.client.producer_id:
            raise Refused(Fault.INVALID_PRODUCER_ID_MAPPING)
        is_another = asking.epoch != transaction.client.epoch or asking.epoch == EPOCH_LAST
        if is_another or (renews_epoch and transaction.state in DECIDED):
            raise Refused(Fault.PRODUCER_FENCED)
    state = transaction.state
    if state is State.ONGOING:
        return False
    if state in DECIDED:
        if transaction.commits == commits:
            raise Refused(Fault.CONCURRENT_TRANSACTIONS)
    elif is_retry or not renews_epoch:
        if state is not State.EMPTY and transaction.commits == commits:
            return True
    elif not commits:
        # Nothing was written, or nobody knows whether: an abort makes sure, by a new epoch.
        return False
    raise Refused(Fault.INVALID_TXN_STATE, f"{transaction.transactional_id} is in state {state.value}.")


def _is_retry(transaction: Transaction, asking: Producer) -> bool:
    """Whether somebody asks with the epoch that its end has been answered with a newer one for."""
    if not transaction.renews_epoch:
        return False
    producer = transaction.producer
    if asking.producer_id == producer.producer_id and asking.epoch + 1 == producer.epoch:
        return transaction.state is not State.ONGOING
    has_successor = transaction.previous_producer_id == asking.producer_id and producer.epoch == FIRST_EPOCH
    return has_successor and asking.epoch == EPOCH_LAST - 1


def successor(transaction: Transaction, *, renews_epoch: bool) -> Producer:
    """Who goes on with the id, if not the producer that the markers name."""
    client = transaction.client
    if client.producer_id != transaction.producer.producer_id:
        return Producer(client.producer_id, client.epoch + 1) if renews_epoch else client
    return NOBODY if renews_epoch or client == transaction.producer else client
