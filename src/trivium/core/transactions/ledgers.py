"""All ledgers of the coordinator: where a transactional id lies, and when its partition is read.

A partition is read when somebody asks for an id of it, and all of them soon after a start, one at a time:
transactions that were decided before a crash must be completed, and open ones must time out.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

from trivium.core.cluster import Cluster
from trivium.core.faults import Fault, Refused
from trivium.core.groups.shard import coordinator_fault
from trivium.core.internal_topic import InternalTopic
from trivium.core.timers import Timers
from trivium.core.transactions.ledger import Ledger
from trivium.core.transactions.transaction import Transaction

LOAD_PAUSE_MS: Final = 1
"""Between two partitions at a start: whatever else is due comes first."""


class Ledgers:
    def __init__(
        self,
        topic: InternalTopic,
        cluster: Cluster,
        timers: Timers,
        changed: Callable[[Ledger, Transaction], None],
        loading: Callable[[], None],
        found: Callable[[Ledger, Transaction], None],
    ) -> None:
        """``changed`` is told of every step, ``loading`` before a ledger is read (which it may refuse), and
        ``found`` of all that it holds then.
        """
        self._topic = topic
        self._cluster = cluster
        self._timers = timers
        self._changed = changed
        self._loading = loading
        self._found = found
        self._by_partition: dict[int, Ledger] = {}

    def start(self) -> None:
        self._load_next(0)

    def find(self, transactional_id: str) -> tuple[Ledger, Transaction] | None:
        """How an id stands, and where; ``Refused`` if that cannot be read."""
        _check_id(transactional_id)
        if not self._topic.exists:
            return None
        ledger = self._ledger(self._topic.partition_of(transactional_id))
        transaction = ledger.transactions.get(transactional_id)
        return None if transaction is None else (ledger, transaction)

    def for_new(self, transactional_id: str) -> Ledger:
        """Where an id belongs, be it known or not."""
        _check_id(transactional_id)
        try:
            self._topic.ensure()
        except Refused as refused:
            raise Refused(coordinator_fault(refused.fault), refused.message) from refused
        return self._ledger(self._topic.partition_of(transactional_id))

    def all(self) -> list[Ledger]:
        partitions = self._topic.partitions if self._topic.exists else 0
        return [self._ledger(partition) for partition in range(partitions)]

    @property
    def loaded(self) -> Iterable[Ledger]:
        return list(self._by_partition.values())

    def _ledger(self, partition: int) -> Ledger:
        ledger = self._by_partition.get(partition)
        if ledger is None:
            ledger = Ledger(self._topic, partition, self._cluster, self._changed, self._close)
            self._by_partition[partition] = ledger
            try:
                self._loading()
                ledger.load()
            except Refused as refused:
                del self._by_partition[partition]
                raise Refused(coordinator_fault(refused.fault), refused.message) from refused
            for transaction in list(ledger.transactions.values()):
                self._found(ledger, transaction)
        return ledger

    def _close(self, ledger: Ledger) -> None:
        if self._by_partition.get(ledger.partition) is ledger:
            del self._by_partition[ledger.partition]

    def _load_next(self, partition: int) -> None:
        if self._topic.exists and partition < self._topic.partitions:
            # Whoever asks for an id of a partition that cannot be read hears why.
            with suppress(Refused):
                self._ledger(partition)
            self._timers.after(LOAD_PAUSE_MS, lambda: self._load_next(partition + 1))


def _check_id(transactional_id: str) -> None:
    if not transactional_id:
        raise Refused(Fault.INVALID_REQUEST, "A transactional id cannot be empty.")
