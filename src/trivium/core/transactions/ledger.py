"""The transactional ids whose records lie in one partition of ``__transaction_state``.

A step is written first, and if that is refused nothing has happened; then it is true here, and later commands
see it; ``done`` is called when it is durable. If it never will be, what is held here is worth nothing: the
ledger is closed, and the next command reads the partition anew.

Who waits is told in the order of asking, because writes of a transaction that wait must stay in theirs. Syncs
may overtake each other; but each covers all that was written before it, so one that is done tells everybody
who asked earlier, too.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from trivium.core.behalf import on_behalf
from trivium.core.cluster import Cluster
from trivium.core.faults import Fault, Refused
from trivium.core.features import TRANSACTION_VERSION
from trivium.core.groups.moment import Moment, moment
from trivium.core.groups.shard import coordinator_fault
from trivium.core.internal_topic import InternalTopic, KeyedRecord, TransactionEnd
from trivium.core.ports import Done
from trivium.core.transactions.records import tombstone, transaction_from, transaction_record
from trivium.core.transactions.transaction import State, Transaction
from trivium.messages.stored.transaction_log import TRANSACTION_LOG, TransactionLogKey, TransactionLogValue
from trivium.wire.errors import DecodeError

_KIND_BYTES: Final = 2


class Ledger:
    def __init__(
        self,
        topic: InternalTopic,
        partition: int,
        cluster: Cluster,
        changed: "Callable[[Ledger, Transaction], None]",
        closed: "Callable[[Ledger], None]",
    ) -> None:
        self._topic = topic
        self.partition = partition
        self._cluster = cluster
        self._changed = changed
        self._closed = closed
        self.is_closed = False
        self.transactions: dict[str, Transaction] = {}
        self._waiting: deque[_Waiter] = deque()

    def now(self) -> Moment:
        return moment(self._cluster.clock)

    @property
    def coordinator_epoch(self) -> int:
        """By it a marker of this coordinator is told from one of an earlier life. ``Refused`` if the
        partition cannot be used.
        """
        return self._topic.leader_epoch(self.partition)

    @property
    def version(self) -> int:
        """The ``transaction.version`` of the cluster."""
        return self._cluster.image.features.levels.get(TRANSACTION_VERSION, 0)

    # -- writing ---------------------------------------------------------------------------------

    def put(self, transaction: Transaction, done: Done) -> None:
        """Take one step. ``Refused`` if it cannot be written."""
        self._write([transaction_record(transaction, self.version)])
        self.assume(transaction)
        self.when_durable(done)

    def assume(self, transaction: Transaction) -> None:
        """Take a step for granted that is decided elsewhere, and write it later."""
        self.transactions[transaction.transactional_id] = transaction
        self._changed(self, transaction)

    def forget(self, transactional_ids: Sequence[str]) -> None:
        """Nobody is told: a crash that undoes it leaves them to be forgotten again."""
        self._write([tombstone(each) for each in transactional_ids])
        for each in transactional_ids:
            del self.transactions[each]

    def _write(self, records: Sequence[KeyedRecord]) -> None:
        try:
            self._topic.write(self.partition, records)
        except Refused as refused:
            raise Refused(coordinator_fault(refused.fault), refused.message) from refused

    def when_durable(self, done: Done) -> None:
        """Call back when no crash can undo what is true here now."""
        waiter = _Waiter(on_behalf(done))
        self._waiting.append(waiter)
        try:
            self._topic.when_durable(self.partition, lambda fault: self._synced(fault, waiter))
        except Refused:
            self._waiting.remove(waiter)
            raise

    def _synced(self, fault: Fault | None, waiter: "_Waiter") -> None:
        if waiter.is_told:
            return
        if fault is None:
            try:
                while not waiter.is_told:
                    self._waiting.popleft().tell(None)
            finally:
                self._synced(None, waiter)  # A mistake of one who was told keeps it from nobody else.
            return
        self._waiting.remove(waiter)
        if not self.is_closed:
            self.is_closed = True
            self._closed(self)
        waiter.tell(coordinator_fault(fault))

    def is_current(self, transaction: Transaction) -> bool:
        """Whether nothing has happened to it since."""
        return not self.is_closed and self.transactions.get(transaction.transactional_id) is transaction

    # -- replaying -------------------------------------------------------------------------------

    def load(self) -> None:
        """Become what the partition says: of each id the last record counts. ``Refused`` if it cannot be
        read.
        """
        latest: dict[bytes, bytes | None] = {}
        try:
            for entry in self._topic.replay(self.partition):
                if not isinstance(entry, TransactionEnd) and _is_known(entry.key):
                    latest.pop(entry.key, None)
                    latest[entry.key] = entry.value
            now = self.now()
            for key, value in latest.items():
                self._replay(key, value, now)
        except DecodeError as error:
            raise Refused(
                Fault.COORDINATOR_NOT_AVAILABLE,
                f"{self._topic.name}-{self.partition} cannot be read: {error}",
            ) from error

    def _replay(self, key_data: bytes, value_data: bytes | None, now: Moment) -> None:
        key = TRANSACTION_LOG.decode_key(key_data)
        value = TRANSACTION_LOG.decode_value(key, value_data)
        assert isinstance(key, TransactionLogKey)
        if isinstance(value, TransactionLogValue):
            transaction = transaction_from(key.transactional_id, value, now)
            if transaction.state is not State.DEAD:
                self.transactions[key.transactional_id] = transaction


class _Waiter:
    """Somebody who is told once."""

    __slots__ = ("_done", "is_told")

    def __init__(self, done: Done) -> None:
        self._done = done
        self.is_told = False

    def tell(self, fault: Fault | None) -> None:
        self.is_told = True
        self._done(fault)


def _is_known(key: bytes) -> bool:
    """Kinds of records that a newer Kafka may write are left alone."""
    return int.from_bytes(key[:_KIND_BYTES], "big") in TRANSACTION_LOG.key_types
