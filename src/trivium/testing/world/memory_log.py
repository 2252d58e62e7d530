"""One partition as a list of batches: the core's port ``Log`` without a disk.

Producers and aborted transactions are followed by the log's own code. It does not know what is durable: who
waits for a sync is handed on to whoever has made the log.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

from trivium.core.faults import Fault, Refused
from trivium.core.ports import Aborted, Appended, At, Done, Piece, ProducerFacts
from trivium.log.producers import ProducerStates
from trivium.log.replay import track
from trivium.log.txn_index import AbortedTransaction
from trivium.records.batch import BatchHeader, iter_records, stamp_all
from trivium.records.record import Record


class MemoryLog:
    def __init__(self, wait_for_sync: Callable[[Done], None]) -> None:
        self._wait_for_sync = wait_for_sync
        self._batches: list[tuple[BatchHeader, bytes]] = []
        self._aborted: list[AbortedTransaction] = []
        self._epochs: list[tuple[int, int]] = []
        self._producers = ProducerStates()
        self.log_start_offset = 0
        self.log_end_offset = 0

    @property
    def high_watermark(self) -> int:
        return self.log_end_offset

    @property
    def last_stable_offset(self) -> int:
        unstable = self._producers.first_unstable_offset(self.log_end_offset)
        return self.log_end_offset if unstable is None else unstable

    @property
    def size_bytes(self) -> int:
        return sum(len(data) for _, data in self._batches)

    @property
    def segment_offsets(self) -> Sequence[int]:
        """Every batch that can still be read is a segment of its own."""
        kept = self._batches[self._number_of(self.log_start_offset) :]
        return [*(header.base_offset for header, _ in kept), self.log_end_offset]

    # -- writing ---------------------------------------------------------------------------------

    def append(
        self, data: bytearray | memoryview, batches: Sequence[tuple[int, BatchHeader]], leader_epoch: int
    ) -> Appended:
        base_offset = self.log_end_offset
        if not self._epochs or self._epochs[-1][0] != leader_epoch:
            self._epochs.append((leader_epoch, base_offset))
        stamped, _, _ = stamp_all(data, batches, base_offset, leader_epoch)
        for at, header in stamped:
            self._take(header, bytes(data[at : at + header.size_bytes]))
        return Appended(base_offset, self.log_end_offset - 1)

    def _take(self, header: BatchHeader, data: bytes) -> None:
        self._batches.append((header, data))
        self.log_end_offset = header.offset_end
        if header.producer_id >= 0:
            completed = track(self._producers, header, memoryview(data))
            if completed is not None and completed.aborted:
                self._aborted.append(completed.entry)

    def _take_all_before(self, other: "MemoryLog", offset_end: int) -> None:
        """Become what ``other`` is after a crash that has cut off everything from ``offset_end`` on."""
        for header, data in other._batches:
            if header.base_offset < offset_end:
                self._take(header, data)
        self._epochs = [each for each in other._epochs if each[1] < self.log_end_offset]

    def when_durable(self, done: Done) -> None:
        self._wait_for_sync(done)

    def delete_before(self, offset: int, done: Done) -> None:
        if offset > self.log_end_offset:
            raise Refused(Fault.OFFSET_OUT_OF_RANGE)
        self.log_start_offset = max(self.log_start_offset, offset)
        self._wait_for_sync(done)

    # -- reading ---------------------------------------------------------------------------------

    def read(self, offset: int, max_bytes: int, *, committed: bool) -> Piece:
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise Refused(Fault.OFFSET_OUT_OF_RANGE)
        end = self.last_stable_offset if committed else self.log_end_offset
        found: list[bytes] = []
        taken, offset_next = 0, offset
        for header, data in self._batches[self._number_of(offset) :]:
            if header.base_offset >= end or (found and taken + len(data) > max_bytes):
                break
            found.append(data)
            taken += len(data)
            offset_next = header.offset_end
        aborted = [
            Aborted(each.producer_id, each.first_offset)
            for each in self._aborted
            if committed and each.last_offset >= offset and each.first_offset < offset_next
        ]
        # One run, as of a segment: whoever walks it begins once, and not with each batch.
        return Piece([memoryview(b"".join(found))] if found else [], offset_next, aborted, taken)

    def _number_of(self, offset: int) -> int:
        """Of the first batch that does not lie before ``offset`` as a whole."""
        return bisect_right(self._batches, offset, key=lambda each: each[0].offset_end)

    def summon(self, offset: int, max_bytes: int, near: Callable[[], None]) -> bool:
        return False

    def first_at_or_after(self, timestamp_ms: int) -> At | None:
        for header, record in self._records():
            if record.timestamp >= timestamp_ms and record.offset >= self.log_start_offset:
                return At(record.offset, record.timestamp, header.leader_epoch)
        return None

    def latest(self) -> At | None:
        found: At | None = None
        for header, record in self._records():
            if found is None or record.timestamp > found.timestamp_ms:
                found = At(record.offset, record.timestamp, header.leader_epoch)
        return found

    def _records(self) -> Iterator[tuple[BatchHeader, Record]]:
        for header, data in self._batches:
            for record in iter_records(data):
                yield header, record

    def epoch_end(self, leader_epoch: int) -> tuple[int, int]:
        ends = [start for _, start in self._epochs[1:]] + [self.log_end_offset]
        known = [(epoch, end) for (epoch, _), end in zip(self._epochs, ends, strict=True)]
        if not known or not 0 <= leader_epoch <= known[-1][0]:
            return -1, -1
        return max((each for each in known if each[0] <= leader_epoch), default=(leader_epoch, 0))

    def epoch_at(self, offset: int) -> int:
        return max((epoch for epoch, start in self._epochs if start <= offset), default=-1)

    def producer(self, producer_id: int) -> ProducerFacts | None:
        return self._producers.get(producer_id)

    def producers(self) -> Iterable[ProducerFacts]:
        return self._producers.states
