"""What a partition remembers of one producer: enough to know a batch that was sent twice.

Sequences are 31 bits wide and start again at 0 after the largest. A producer with idempotence has at most
five requests in flight, so the last five batches of its epoch answer every honest repetition.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from trivium.records.batch import NO_PRODUCER_EPOCH, NO_SEQUENCE, BatchHeader

BATCHES_KEPT = 5
NO_OFFSET = -1
NO_COORDINATOR_EPOCH = -1

_SEQUENCES = 2**31


class ProducedBatch(NamedTuple):
    """One batch as its producer numbered it and where it came to lie. ``offset_delta`` = last - first."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        if self.last_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.last_sequence - self.offset_delta) % _SEQUENCES

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


@dataclass(slots=True)
class ProducerState:
    """One producer. Only ``ProducerStates`` changes it."""

    producer_id: int
    epoch: int = NO_PRODUCER_EPOCH
    coordinator_epoch: int = NO_COORDINATOR_EPOCH
    last_timestamp: int = -1
    txn_first_offset: int | None = None
    """Where its open transaction begins."""
    batches: deque[ProducedBatch] = field(default_factory=lambda: deque(maxlen=BATCHES_KEPT))
    """Those of the current epoch, oldest first."""

    @property
    def last_sequence(self) -> int:
        """-1 before the first batch of an epoch, and after a marker that began a new epoch."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_offset(self) -> int:
        return self.batches[-1].last_offset if self.batches else NO_OFFSET

    def duplicate_of(self, header: BatchHeader) -> ProducedBatch | None:
        """The batch with the same epoch and the same sequences, if it is one of the last five."""
        if header.producer_epoch != self.epoch:
            return None
        sequences = header.base_sequence, last_sequence(header)
        for batch in self.batches:
            if (batch.first_sequence, batch.last_sequence) == sequences:
                return batch
        return None

    def begin_epoch(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches.clear()


def last_sequence(header: BatchHeader) -> int:
    if header.base_sequence == NO_SEQUENCE:
        return NO_SEQUENCE
    return (header.base_sequence + header.last_offset_delta) % _SEQUENCES
