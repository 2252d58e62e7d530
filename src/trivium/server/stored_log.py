"""One partition's log as the core sees it: the port ``Log`` on a ``PartitionLog``.

Here, and only here, errors of the log become faults of the core. The log below may be exchanged for
another one that holds the same records (a move to another directory); whoever holds this notices nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial

from trivium.core.faults import Fault, Refused
from trivium.core.ports import Aborted, Appended, At, Clock, Done, Piece, ProducerFacts
from trivium.core.timers import Timers
from trivium.log import timestamps
from trivium.log.directory import LogDirectory
from trivium.log.faults import LogError, OffsetOutOfRange
from trivium.log.partition_log import PartitionLog
from trivium.log.segment import Extent
from trivium.records.batch import BatchHeader
from trivium.server.committer import Committer
from trivium.server.errand import Errand
from trivium.server.housekeeping import Housekeeping
from trivium.server.worker import Worker

FLUSH_MS_NEVER = (1 << 63) - 1


def refused(error: LogError) -> Refused:
    """What the core calls an error of the log."""
    if isinstance(error, OffsetOutOfRange):
        return Refused(Fault.OFFSET_OUT_OF_RANGE, str(error))
    return Refused(Fault.STORAGE, str(error))


def fault_of(error: LogError | None) -> Fault | None:
    return None if error is None else refused(error).fault


class StoredLog:
    __slots__ = (
        "_clock",
        "_flush_is_due",
        "_reader",
        "_timers",
        "born_at",
        "committer",
        "home",
        "housekeeping",
        "log",
        "metadata",
    )

    def __init__(
        self,
        log: PartitionLog,
        home: LogDirectory,
        committer: Committer,
        housekeeping: Housekeeping,
        reader: Worker,
        clock: Clock,
        timers: Timers,
    ) -> None:
        self.log = log
        self.home = home
        self.committer = committer
        self.housekeeping = housekeeping
        self.metadata: StoredLog | None = None
        self.born_at = 0
        """The partition exists by a record before this offset of ``metadata``."""
        self._reader = reader
        self._clock = clock
        self._timers = timers
        self._flush_is_due = False

    @property
    def log_start_offset(self) -> int:
        return self.log.log_start_offset

    @property
    def high_watermark(self) -> int:
        return self.log.high_watermark

    @property
    def last_stable_offset(self) -> int:
        return self.log.last_stable_offset

    @property
    def log_end_offset(self) -> int:
        return self.log.log_end_offset

    @property
    def size_bytes(self) -> int:
        return sum(segment.size_bytes for segment in self.log.segments)

    @property
    def segment_offsets(self) -> Sequence[int]:
        return [segment.base_offset for segment in self.log.segments]

    # -- writing ---------------------------------------------------------------------------------

    def append(
        self, data: bytearray | memoryview, batches: Sequence[tuple[int, BatchHeader]], leader_epoch: int
    ) -> Appended:
        log = self.log
        try:
            base_offset, last_offset = log.append(
                data, leader_epoch=leader_epoch, now_ms=self._clock.wall_ms(), batches=batches
            )
        except LogError as error:
            raise refused(error) from error
        log.high_watermark = last_offset + 1
        settings = log.settings
        if last_offset + 1 - log.recovery_point >= settings.flush_messages:
            self.committer.wait_for(log, _nobody)
        elif settings.flush_ms != FLUSH_MS_NEVER and not self._flush_is_due:
            self._flush_is_due = True
            self._timers.after(settings.flush_ms, self._flush)
        return Appended(base_offset, last_offset)

    def _flush(self) -> None:
        """``flush.ms`` after a write: make it durable, unless somebody else has."""
        self._flush_is_due = False
        if self.log.recovery_point < self.log.log_end_offset and not self.log.is_abandoned:
            self.committer.wait_for(self.log, _nobody)

    def when_durable(self, done: Done) -> None:
        metadata = self.metadata
        if metadata is not None and metadata.log.recovery_point < self.born_at:
            # Records of a topic that a crash could still undo are not durable.
            metadata.when_durable(lambda fault: self._sync(done) if fault is None else done(fault))
        else:
            self._sync(done)

    def _sync(self, done: Done) -> None:
        self.committer.wait_for(self.log, lambda error: done(fault_of(error)))

    def delete_before(self, offset: int, done: Done) -> None:
        try:
            self.log.advance_log_start(offset)
        except LogError as error:
            raise refused(error) from error
        # The checkpoint must not name a start that a crash could put behind the end.
        self.committer.wait_for(self.log, lambda error: self._checkpoint(error, done))

    def _checkpoint(self, error: LogError | None, done: Done) -> None:
        if error is not None:
            done(fault_of(error))
        else:
            self.housekeeping.write_checkpoints(self.home, lambda failure: done(fault_of(failure)))

    # -- reading ---------------------------------------------------------------------------------

    def read(self, offset: int, max_bytes: int, *, committed: bool) -> Piece:
        try:
            if committed:
                piece, aborted = self.log.read_committed(offset, max_bytes)
                found = [Aborted(each.producer_id, each.first_offset) for each in aborted]
            else:
                piece, found = self.log.read(offset, max_bytes), []
        except LogError as error:
            raise refused(error) from error
        return Piece(piece.runs, piece.offset_next, found, piece.size_bytes)

    def summon(self, offset: int, max_bytes: int, near: Callable[[], None]) -> bool:
        try:
            extent = self.log.extent(offset, max_bytes)
            if extent is None or extent.is_near:
                return False
        except (LogError, OSError):
            return False  # the read that follows tells it better
        errand = Errand()
        extent.segment.pin()
        errand.hold(extent.segment.unpin)

        def brought(_: None) -> None:
            errand.end()
            near()

        errand.go(self._reader.run, partial(_bring, extent), brought)
        return True

    def first_at_or_after(self, timestamp_ms: int) -> At | None:
        try:
            found = timestamps.first_at_or_after(self.log, timestamp_ms)
        except LogError as error:
            raise refused(error) from error
        return None if found is None else At(found.offset, found.timestamp, self.epoch_at(found.offset))

    def latest(self) -> At | None:
        try:
            found = timestamps.latest(self.log)
        except LogError as error:
            raise refused(error) from error
        return None if found is None else At(found.offset, found.timestamp, self.epoch_at(found.offset))

    def epoch_end(self, leader_epoch: int) -> tuple[int, int]:
        end = self.log.epochs.end_offset_for(leader_epoch, self.log.log_end_offset)
        return end.epoch, end.start_offset

    def epoch_at(self, offset: int) -> int:
        epoch = self.log.epochs.epoch_for(offset)
        return -1 if epoch is None else epoch

    def producer(self, producer_id: int) -> ProducerFacts | None:
        return self.log.producers.get(producer_id)

    def producers(self) -> Iterable[ProducerFacts]:
        return self.log.producers.states


def _bring(extent: Extent) -> None:
    """Read for the sake of reading: the operating system keeps what it has read."""
    with suppress(OSError):  # the read that follows meets it too
        extent.read()


def _nobody(_error: LogError | None) -> None:
    """A sync that nobody waits for; a failure has taken the directory offline by itself."""
