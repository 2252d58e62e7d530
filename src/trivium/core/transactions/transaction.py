"""One transactional id: whose it is, and how its transaction stands. A value; each step makes a new one.

    EMPTY ──partition added──> ONGOING ──end──> PREPARE_COMMIT ──all marked──> COMPLETE_COMMIT ──┐
      ^                         ^  └────────end, fence, time-out──> PREPARE_ABORT ──> COMPLETE_ABORT
      │                         └──partition added─────────────────────────────────────────────┤ │
      └──InitProducerId────────────────────────────────────────────────────────────────────────┴─┘

Epochs. With ``transaction.version`` 2 every end takes the next epoch, and its markers carry it: they are
newer than all records before them, and whatever is late from then on is older than what is expected. An epoch
that cannot be raised again is followed by a new producer id, so that a producer can always be fenced.

``next_producer`` is somebody to whom the id has been promised already: the successor once the markers are
written, because epochs have run out; or, with two-phase commit (KIP-939), the producer that came back to
decide a transaction which another life of it has left open.
"""

from collections.abc import Collection
from enum import Enum
from typing import Final, NamedTuple

from trivium.core.commands.producers import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from trivium.core.groups.moment import Moment
from trivium.core.groups.offsets import Place

FIRST_EPOCH: Final = 0
EPOCH_LAST: Final = 2**15 - 1
"""No producer ever gets it: it is kept to fence the one before."""
TIMEOUT_MS_MAX: Final = 2**31 - 1
"""Also stands for no time-out at all, in transactions that somebody else decides about."""
PREPARED_MS_MAX: Final = 24 * 60 * 60 * 1000
"""How long a transaction may wait for its batch, from its beginning: longer than any batch takes, and not for
ever, because readers of committed records stand still behind it."""
EPOCHS_RENEWED_SINCE: Final = 2
"""The ``transaction.version`` from which on each transaction has its own epoch."""


class State(Enum):
    """By the names that clients see."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"


DECIDED: Final = frozenset((State.PREPARE_COMMIT, State.PREPARE_ABORT))
"""Markers are missing."""
AT_REST: Final = frozenset((State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT))


class Producer(NamedTuple):
    """A producer in one of its lives."""

    producer_id: int
    epoch: int

    @property
    def is_exhausted(self) -> bool:
        """Whether the next epoch is the one that is kept."""
        return self.epoch >= EPOCH_LAST - 1


NOBODY: Final = Producer(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)


class Transaction(NamedTuple):
    transactional_id: str
    producer: Producer
    """Who writes, or while markers are missing: whom they name."""
    timeout_ms: int
    updated_at: Moment
    state: State = State.EMPTY
    partitions: frozenset[Place] = frozenset()
    started_at: Moment | None = None
    version: int = 0
    """The ``transaction.version`` by which it was ended last."""
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer: Producer = NOBODY
    last_epoch: int = NO_PRODUCER_EPOCH
    """The epoch before, if the same producer had it. Not stored: a retry over a restart is fenced."""

    @property
    def client(self) -> Producer:
        """Who may ask for something in this transaction's name."""
        return self.producer if self.next_producer == NOBODY else self.next_producer

    @property
    def renews_epoch(self) -> bool:
        return self.version >= EPOCHS_RENEWED_SINCE

    @property
    def is_exhausted(self) -> bool:
        """Whether an end takes the epoch that is kept: who goes on then needs another id."""
        return Producer(self.producer.producer_id, self._epoch_newest).is_exhausted

    @property
    def is_two_phase(self) -> bool:
        return self.timeout_ms == TIMEOUT_MS_MAX

    @property
    def is_patient(self) -> bool:
        """Whether it waits for somebody else's decision at least as long as a prepared one."""
        return self.timeout_ms >= PREPARED_MS_MAX

    @property
    def commits(self) -> bool:
        return self.state in (State.PREPARE_COMMIT, State.COMPLETE_COMMIT)

    # -- steps -----------------------------------------------------------------------------------

    def initialized(
        self, producer: Producer, timeout_ms: int, now: Moment, *, last_epoch: int = NO_PRODUCER_EPOCH
    ) -> "Transaction":
        """Somebody has come to use the id, and has nothing open."""
        return Transaction(
            self.transactional_id,
            producer,
            timeout_ms,
            now,
            previous_producer_id=self.producer.producer_id,
            last_epoch=last_epoch,
        )

    def kept(self, client: Producer, timeout_ms: int, now: Moment) -> "Transaction":
        """Somebody has come back, and its transaction stays open until it decides (KIP-939)."""
        return self._replace(
            next_producer=client, timeout_ms=timeout_ms, updated_at=now, last_epoch=NO_PRODUCER_EPOCH
        )

    def with_partitions(self, places: Collection[Place], now: Moment) -> "Transaction":
        is_new = self.state is not State.ONGOING
        return self._replace(
            state=State.ONGOING,
            partitions=self.partitions.union(places),
            started_at=now if is_new else self.started_at,
            updated_at=now,
            previous_producer_id=self.producer.producer_id,
        )

    def prepared(self, now: Moment) -> "Transaction":
        """Everything is written, and it waits for its batch."""
        return self._replace(timeout_ms=PREPARED_MS_MAX, updated_at=now)

    def decided(self, *, commits: bool, version: int, successor: Producer, now: Moment) -> "Transaction":
        """It has an end. ``successor`` goes on with the id when the markers are written, if somebody other
        than the producer that they name.
        """
        marker, last_epoch = self.producer, self.last_epoch
        if version >= EPOCHS_RENEWED_SINCE:
            marker, last_epoch = Producer(marker.producer_id, self._epoch_newest + 1), self.client.epoch
        return self._replace(
            producer=marker,
            state=State.PREPARE_COMMIT if commits else State.PREPARE_ABORT,
            # One that was ended before it had begun.
            started_at=self.started_at or now,
            updated_at=now,
            version=version,
            previous_producer_id=self.producer.producer_id,
            next_producer=successor,
            last_epoch=last_epoch,
        )

    def fenced(
        self,
        version: int,
        now: Moment,
        by_epoch: int = NO_PRODUCER_EPOCH,
        *,
        successor: Producer = NOBODY,
    ) -> "Transaction":
        """Aborted without asking its producer, which will find an epoch that is newer than its own; unless it
        came with ``by_epoch`` by itself, to begin anew. Where epochs are renewed it may also come later and
        go on with the newer one, if nobody else has come since.
        """
        marker = Producer(self.producer.producer_id, min(self._epoch_newest + 1, EPOCH_LAST))
        aborted = self.decided(commits=False, version=0, successor=successor, now=now)
        if by_epoch == NO_PRODUCER_EPOCH and version >= EPOCHS_RENEWED_SINCE:
            by_epoch = self.client.epoch
        return aborted._replace(
            producer=marker,
            version=version,
            last_epoch=by_epoch,
        )

    def completed(self, now: Moment) -> "Transaction":
        """Every partition has its marker."""
        return self._replace(
            producer=self.client,
            state=State.COMPLETE_COMMIT if self.commits else State.COMPLETE_ABORT,
            partitions=frozenset(),
            updated_at=now,
            previous_producer_id=self.producer.producer_id,
            next_producer=NOBODY,
        )

    @property
    def _epoch_newest(self) -> int:
        """Of the producer id that has written: a client that came back may have a newer one of it."""
        if self.next_producer.producer_id == self.producer.producer_id:
            return max(self.producer.epoch, self.next_producer.epoch)
        return self.producer.epoch
