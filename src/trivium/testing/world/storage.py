"""Logs in memory that forget what was not synced: the core's port ``Storage``, quick enough for many worlds.

A log is a list of batches. After a loss of power each log keeps what was synced and as much of the rest as
chance lets it, up to the end of a batch; what a real disk may do to bytes is the business of ``testing.disk``
and of the tests of the log itself. Producers are followed by the log's own code.

One sync serves all who have waited when it began, as a node's group commit does; who comes later waits for
the next.
"""

from collections.abc import Callable, Iterable, Sequence
from random import Random

from trivium.core.faults import Fault, Refused
from trivium.core.ports import Aborted, Appended, At, DirectoryFacts, Done, Piece, ProducerFacts
from trivium.log.producers import ProducerStates
from trivium.log.replay import track
from trivium.log.txn_index import AbortedTransaction
from trivium.records.batch import BatchHeader, check_batch, iter_records, stamp

Place = tuple[str, int]


class SimulatedLog:
    """One partition."""

    def __init__(self, storage: "SimulatedStorage") -> None:
        self._storage = storage
        self._batches: list[tuple[BatchHeader, bytes]] = []
        self._aborted: list[AbortedTransaction] = []
        self._epochs: list[tuple[int, int]] = []
        self._producers = ProducerStates()
        self.log_start_offset = 0
        self.log_end_offset = 0
        self.durable_end = 0

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
        return [self.log_start_offset]

    def append(
        self, data: bytearray | memoryview, batches: Sequence[tuple[int, BatchHeader]], leader_epoch: int
    ) -> Appended:
        base_offset = self.log_end_offset
        if not self._epochs or self._epochs[-1][0] != leader_epoch:
            self._epochs.append((leader_epoch, base_offset))
        for at, _ in batches:
            stamp(data, at, self.log_end_offset, leader_epoch)
            header = check_batch(data, at)
            self._take(header, bytes(memoryview(data)[at : at + header.size_bytes]))
        return Appended(base_offset, self.log_end_offset - 1)

    def _take(self, header: BatchHeader, data: bytes) -> None:
        self._batches.append((header, data))
        self.log_end_offset = header.offset_end
        if header.producer_id >= 0:
            completed = track(self._producers, header, memoryview(data))
            if completed is not None and completed.aborted:
                self._aborted.append(completed.entry)

    def after_power_loss(self, random: Random) -> "SimulatedLog":
        """The log as the next start finds it. One that has lost nothing is what it was."""
        kept = sum(header.base_offset < self.durable_end for header, _ in self._batches)
        kept = random.randint(kept, len(self._batches))
        if kept == len(self._batches):
            self.durable_end = self.log_end_offset
            return self
        left = SimulatedLog(self._storage)
        for header, data in self._batches[:kept]:
            left._take(header, data)
        left._epochs = [each for each in self._epochs if each[1] < left.log_end_offset]
        left.durable_end = left.log_end_offset
        return left

    # -- reading ---------------------------------------------------------------------------------

    def when_durable(self, done: Done) -> None:
        self._storage.wait_for_sync(done)

    def read(self, offset: int, max_bytes: int, *, committed: bool) -> Piece:
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise Refused(Fault.OFFSET_OUT_OF_RANGE)
        end = self.last_stable_offset if committed else self.log_end_offset
        runs: list[memoryview] = []
        taken, offset_next = 0, offset
        for header, data in self._batches:
            if header.last_offset < offset:
                continue
            if header.base_offset >= end or (runs and taken + len(data) > max_bytes):
                break
            runs.append(memoryview(data))
            taken += len(data)
            offset_next = header.offset_end
        aborted = [
            Aborted(each.producer_id, each.first_offset)
            for each in self._aborted
            if committed and each.last_offset >= offset and each.first_offset < offset_next
        ]
        return Piece(runs, offset_next, aborted, taken)

    def summon(self, offset: int, max_bytes: int, near: Callable[[], None]) -> bool:
        return False

    def first_at_or_after(self, timestamp_ms: int) -> At | None:
        for header, data in self._batches:
            for record in iter_records(data):
                if record.timestamp >= timestamp_ms:
                    return At(record.offset, record.timestamp, header.leader_epoch)
        return None

    def latest(self) -> At | None:
        times = [(record, header) for header, data in self._batches for record in iter_records(data)]
        if not times:
            return None
        record, header = max(times, key=lambda each: each[0].timestamp)
        return At(record.offset, record.timestamp, header.leader_epoch)

    def epoch_end(self, leader_epoch: int) -> tuple[int, int]:
        ends = [start for _, start in self._epochs[1:]] + [self.log_end_offset]
        known = [(epoch, end) for (epoch, _), end in zip(self._epochs, ends, strict=True)]
        return max((each for each in known if each[0] <= leader_epoch), default=(-1, -1))

    def epoch_at(self, offset: int) -> int:
        return max((epoch for epoch, start in self._epochs if start <= offset), default=-1)

    def producer(self, producer_id: int) -> ProducerFacts | None:
        return self._producers.get(producer_id)

    def producers(self) -> Iterable[ProducerFacts]:
        return self._producers.states

    def delete_before(self, offset: int, done: Done) -> None:
        if offset > self.log_end_offset:
            raise Refused(Fault.OFFSET_OUT_OF_RANGE)
        self.log_start_offset = max(self.log_start_offset, offset)
        self._storage.wait_for_sync(done)


class SimulatedStorage:
    def __init__(self, call_after_sync: Callable[[Callable[[], None]], None]) -> None:
        """``call_after_sync`` calls back when a sync that begins now has ended."""
        self.logs: dict[Place, SimulatedLog] = {}
        self._call_after_sync = call_after_sync
        self._waiting: list[Done] = []
        self._is_syncing = False

    # -- syncing ---------------------------------------------------------------------------------

    def wait_for_sync(self, done: Done) -> None:
        self._waiting.append(done)
        if not self._is_syncing:
            self._begin_sync()

    def _begin_sync(self) -> None:
        waiting, self._waiting = self._waiting, []
        ends = [
            (log, log.log_end_offset) for log in self.logs.values() if log.durable_end < log.log_end_offset
        ]
        self._is_syncing = True

        def synced() -> None:
            self._is_syncing = False
            for log, end in ends:
                log.durable_end = max(log.durable_end, end)
            for done in waiting:
                done(None)
            if self._waiting and not self._is_syncing:
                self._begin_sync()

        self._call_after_sync(synced)

    def lose_power(self, random: Random) -> None:
        """Nobody who waits hears anything any more."""
        self._waiting.clear()
        self._is_syncing = False
        for place, log in self.logs.items():
            self.logs[place] = log.after_power_loss(random)

    def settle(self) -> None:
        """Everything is durable: what a world begins with."""
        for log in self.logs.values():
            log.durable_end = log.log_end_offset

    # -- the port --------------------------------------------------------------------------------

    def log(self, topic: str, partition: int) -> SimulatedLog:
        log = self.logs.get((topic, partition))
        if log is None:
            log = self.logs[topic, partition] = SimulatedLog(self)
        return log

    def create(self, topic: str, partition: int, topic_id: bytes) -> None:
        self.logs[topic, partition] = SimulatedLog(self)

    def delete(self, topic: str, partition: int) -> None:
        self.logs.pop((topic, partition), None)

    def configure(self, topic: str) -> None:
        pass

    def is_offline(self, topic: str, partition: int) -> bool:
        return False

    def move(self, topic: str, partition: int, path: str, done: Done) -> None:
        raise Refused(Fault.LOG_DIRECTORY_NOT_FOUND)

    def directories(self) -> Sequence[DirectoryFacts]:
        return []
