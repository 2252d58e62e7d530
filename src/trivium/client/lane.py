"""The records of one partition on their way to the broker, in order, whatever goes wrong. No input or output.

    open        records that still gather
    waiting     complete batches, to be sent or sent again
    in flight   batches that were sent and are not answered yet

An idempotent producer numbers the records of a partition (KIP-98), and the broker takes them in that order
only. Rules that follow from it:

- A batch gets its number when it is first sent, and keeps it when it is sent again: the broker may have it
  already, and recognises it by its number.
- Until one batch is acknowledged only one is in flight: a broker that does not know a producer yet takes any
  number from it, and would take the second batch without the first.
- When a batch fails, those in flight behind it fail too. The lane *mends*: it sends nothing until all are
  back, then sends them again in their order.
- When the broker refuses a batch for good, the numbers behind it move up: it expects the refused ones next.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trivium.client.deadline import Deadline, pause_s
from trivium.client.topology import TopicPartition
from trivium.messages.errors import ErrorCode
from trivium.records.batch import read_header
from trivium.records.record import Record

SEQUENCE_MASK: Final = 0x7FFF_FFFF
"""After the largest int32 the numbers start again at 0."""

RECORD_OVERHEAD_BYTES: Final = 24
"""More than length, attributes, timestamp, offset and the lengths of key and value usually take."""

HEADER_OVERHEAD_BYTES: Final = 6


@dataclass(slots=True, eq=False)
class Batch:
    """Records that travel together."""

    place: int
    """Its place in the lane: later batches have higher ones."""

    records: list[Record]
    size_bytes: int
    deadline: Deadline
    """When it is given up."""

    sequence: int | None = None
    """The number of its first record, from the first sending on."""

    attempts: int = 0

    refusal: ErrorCode | None = None
    """What the last answer said, if it was a refusal that may pass."""

    encoded: bytes | None = None
    """Its bytes, instead of records, if somebody has built them."""

    @property
    def records_count(self) -> int:
        return len(self.records) if self.encoded is None else read_header(self.encoded).records_count

    @property
    def sequence_end(self) -> int:
        assert self.sequence is not None
        return (self.sequence + self.records_count) & SEQUENCE_MASK


class Lane:
    def __init__(self, key: TopicPartition) -> None:
        self.key = key
        self.open_bytes = 0
        self.waiting: deque[Batch] = deque()
        self.in_flight: deque[Batch] = deque()
        self.is_mending = False
        self._open: list[Record] = []
        self._places = 0
        self._next_sequence = 0
        self._acknowledged_end = 0
        self._is_known = False
        self._renumber_from: int | None = None
        self._failures = 0
        self._pause: Deadline | None = None

    @property
    def is_settled(self) -> bool:
        """Whether no complete batch is left to be sent or answered."""
        return not (self.waiting or self.in_flight)

    def add(self, record: Record, size_bytes: int) -> None:
        self._open.append(record)
        self.open_bytes += size_bytes

    def add_batch(self, records: list[Record], size_bytes: int, deadline: Deadline) -> None:
        """Records that are a batch already, behind what has gathered so far."""
        self.complete(deadline)
        self._open, self.open_bytes = records, size_bytes
        self.complete(deadline)

    def add_encoded(self, encoded: bytes, deadline: Deadline) -> None:
        """The same for one that is bytes already."""
        self.complete(deadline)
        self.waiting.append(Batch(self._places, [], len(encoded), deadline, encoded=encoded))
        self._places += 1

    def complete(self, deadline: Deadline) -> bool:
        """Close the open batch; whether there was one."""
        if not self._open:
            return False
        self.waiting.append(Batch(self._places, self._open, self.open_bytes, deadline))
        self._places += 1
        self._open, self.open_bytes = [], 0
        return True

    def can_send(self) -> bool:
        must_wait_for_answers = self.is_mending or not self._is_known
        if not self.waiting or (must_wait_for_answers and self.in_flight):
            return False
        return self._pause is None or self._pause.has_passed

    def pause_left_s(self) -> float:
        return 0.0 if self._pause is None else self._pause.remaining_s

    def take(self) -> Batch:
        """The next batch to send; it is in flight from now on."""
        if self.is_mending:
            self._mend()
        batch = self.waiting.popleft()
        if batch.sequence is None:
            batch.sequence = self._next_sequence
            self._next_sequence = batch.sequence_end
        batch.attempts += 1
        self.in_flight.append(batch)
        return batch

    def acknowledge(self, batch: Batch) -> None:
        """The broker has it."""
        self.in_flight.remove(batch)
        self._acknowledged_end = batch.sequence_end
        self._is_known = True
        self._failures, self._pause = 0, None

    def put_back(self, batch: Batch) -> None:
        """It failed, and may succeed when it is sent again after a pause."""
        self.in_flight.remove(batch)
        later = [each for each in self.waiting if each.place > batch.place]
        earlier = [each for each in self.waiting if each.place < batch.place]
        self.waiting = deque([*earlier, batch, *later])
        if not self.is_mending:
            self.pause()  # Once for all that come back now.
        self.is_mending = True

    def refuse(self, batch: Batch) -> None:
        """The broker does not have it, and will never take it."""
        self.in_flight.remove(batch)
        self.is_mending = True
        if self._renumber_from is None or batch.place < self._renumber_from:
            self._renumber_from = batch.place

    def pause(self) -> None:
        """Something is wrong that may pass: wait, longer each time until something succeeds."""
        self._failures += 1
        self._pause = Deadline(pause_s(self._failures))

    def abandon(self) -> Iterator[Batch]:
        """Everything that is not acknowledged, to be given up."""
        self.complete(Deadline(0))
        yield from self.in_flight
        yield from self.waiting
        self.in_flight.clear()
        self.waiting.clear()

    def _mend(self) -> None:
        """All are back: give new numbers to those behind a refused batch, and go on."""
        self.is_mending = False
        if self._renumber_from is None:
            return
        self._next_sequence = self._acknowledged_end
        for batch in self.waiting:
            if batch.place > self._renumber_from:
                batch.sequence = None
            elif batch.sequence is not None:
                self._next_sequence = batch.sequence_end
        self._renumber_from = None


def record_bytes(record: Record) -> int:
    """About as much as the record takes in a batch, rather more than less."""
    _, _, key, value, headers = record
    size_bytes = RECORD_OVERHEAD_BYTES + len(key or b"") + len(value or b"")
    for name, data in headers:
        size_bytes += HEADER_OVERHEAD_BYTES + 4 * len(name) + len(data or b"")
    return size_bytes
