"""One partition's log: segments in order, what is appended to them and what may be read from them.

Owns the offsets that everybody asks for::

    log_start_offset <= last_stable_offset <= high_watermark <= log_end_offset
                                              recovery_point <= log_end_offset

``recovery_point`` is what a sync has made durable. Who may see what (``high_watermark``) and which ack
waits for which sync are the caller's decisions; here they are numbers that move forward, unless the log is
cut (``shortening.truncate``).

Not thread-safe, on purpose: one thread appends and reads. Only ``PendingSync.run`` may run elsewhere.
The time is an argument. Every touch of the disk goes through ``health``, so that a failed directory
answers ``DirectoryOffline`` and a full one ``DiskFull``, with the log as it was.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import NamedTuple

from trivium.log.aborted import ensure_proven
from trivium.log.epochs import LeaderEpochs
from trivium.log.faults import Corrupt, OffsetOutOfRange
from trivium.log.files import Files
from trivium.log.health import Health
from trivium.log.names import LEADER_EPOCH_CHECKPOINT
from trivium.log.producers import ProducerStates
from trivium.log.replay import replay_from_start, track
from trivium.log.scan import Damage, Found
from trivium.log.segment import Extent, Segment
from trivium.log.sequential import Sequential
from trivium.log.settings import LogSettings
from trivium.log.slice import Slice, collect
from trivium.log.staged import Staged, carry_out
from trivium.log.sync import PendingSync, SyncTurn
from trivium.log.txn_index import AbortedTransaction
from trivium.records.batch import BatchHeader, check_batches, stamp_all

READ_CHUNK_BYTES_MIN = 64 << 10
READ_CHUNK_BYTES_MAX = 8 << 20


class Appended(NamedTuple):
    """Where records went."""

    base_offset: int
    last_offset: int


class Reading:
    """Like ``Health.guard``, and damage makes the log corrupt from there on. No generator: reads are many."""

    __slots__ = ("_log",)

    def __init__(self, log: "PartitionLog") -> None:
        self._log = log

    def __enter__(self) -> None:
        self._log.health.check()

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if isinstance(error, Damage):
            raise self._log.mark_corrupt(error.offset, error.reason) from error
        if isinstance(error, OSError):
            raise self._log.health.judge(error, f"read of {self._log.name}") from error


class PartitionLog:
    """Made by ``opening.open_log``, which finds out what the arguments are."""

    def __init__(
        self,
        files: Files,
        directory: str,
        name: str,
        *,
        settings: LogSettings,
        health: Health,
        segments: list[Segment],
        epochs: LeaderEpochs,
        producers: ProducerStates,
        log_start_offset: int,
        log_end_offset: int,
        recovery_point: int,
        cleaned_offset: int,
        sealed_unsynced: Sequence[Segment] = (),
    ) -> None:
        self.files = files
        self.directory = directory
        self.name = name
        self.settings = settings
        self.health = health
        self.segments = segments
        self.epochs = epochs
        self.producers = producers
        self.log_start_offset = log_start_offset
        self.log_end_offset = log_end_offset
        self.high_watermark = log_end_offset
        self.recovery_point = recovery_point
        self.cleaned_offset = cleaned_offset
        """Up to where compaction has been."""
        self.corruption: Corrupt | None = None
        self._sealed_unsynced = list(sealed_unsynced)
        self.names_changed = 1
        """How often files came or went; what a sync finds here is durable after it."""
        self._names_durable = 0
        self.truncations = 0
        self.is_abandoned = False
        """Deleted: its files are going or gone."""
        self._unsynced_since_ms = 0
        self._sequential = Sequential()
        self.sync_turn = SyncTurn()
        self.birth: Callable[[], None] | None = None
        """Of a new partition: what its first sync has to make durable besides."""

    def __repr__(self) -> str:
        return f"<PartitionLog {self.name} [{self.log_start_offset}, {self.log_end_offset})>"

    def configure(self, settings: LogSettings) -> None:
        """The topic's settings have changed."""
        self.settings = settings
        for segment in self.segments:
            segment.settings = settings

    def note_directory(self, directory: str) -> None:
        """Its directory is called otherwise now."""
        self.directory = directory
        self.epochs.path = f"{directory}/{LEADER_EPOCH_CHECKPOINT}"
        for segment in self.segments:
            segment.note_names(directory, "")
        self.names_changed += 1

    # -- appending -------------------------------------------------------------------------------

    @property
    def active(self) -> Segment:
        return self.segments[-1]

    def append(
        self,
        data: bytearray | memoryview,
        *,
        leader_epoch: int,
        now_ms: int,
        batches: Sequence[tuple[int, BatchHeader]] | None = None,
    ) -> Appended:
        """Give checked batches their offsets and write them, all or nothing.

        ``data`` is stamped in place. ``batches`` are its positions and headers if the caller has checked
        them already; the checksum is not computed twice.
        """
        self.health.check()
        if self.corruption is not None:
            raise self.corruption
        latest = self.epochs.latest
        if latest is not None and leader_epoch < latest.epoch:
            # Readers would take the batch for damage.
            raise ValueError(f"leader epoch {leader_epoch} cannot follow {latest.epoch} in {self.name}")
        base_offset = self.log_end_offset
        if batches is None:
            batches = check_batches(data)
        stamped, offset_end, timestamp = stamp_all(data, batches, base_offset, leader_epoch)
        active = self.segments[-1]
        try:
            if active.should_roll(len(data), timestamp, offset_end - 1, now_ms):
                self._roll(now_ms)
                active = self.segments[-1]
            if latest is None or leader_epoch > latest.epoch:
                self.epochs.assign(leader_epoch, base_offset)
            if self.recovery_point == base_offset:
                # It is synced as it grows.
                self._unsynced_since_ms = now_ms
                active.reserve()
            active.append(data, stamped)
        except OSError as error:
            raise self.health.judge(error, f"append to {self.name}") from error
        self.log_end_offset = offset_end
        for at, header in stamped:
            if header.producer_id >= 0:  # Asked here too: most batches have none.
                completed = track(self.producers, header, memoryview(data)[at:])
                if completed is not None and completed.aborted:
                    active.aborted.append(completed.entry)
        return Appended(base_offset, offset_end - 1)

    def roll(self, now_ms: int) -> None:
        """Begin a new segment, unless the active one is still empty."""
        self.health.check()
        if self.active.size_bytes:
            with self.health.guard(f"roll of {self.name}"):
                self._roll(now_ms)

    def _roll(self, now_ms: int) -> None:
        sealed = self.active
        sealed.seal()
        self.producers.write_snapshot(self.files, self.directory, self.log_end_offset, durably=False)
        segment = Segment(
            self.files, self.directory, self.log_end_offset, settings=self.settings, created_ms=now_ms
        )
        segment.create()
        sealed.offset_limit = self.log_end_offset
        self.segments.append(segment)
        self._sealed_unsynced.append(sealed)
        self.names_changed += 1

    def expire_producers(self, now_ms: int) -> int:
        """Forget producers that have been silent for too long. Returns how many."""
        return self.producers.expire(now_ms, self.settings.producer_id_expiration_ms)

    # -- durability ------------------------------------------------------------------------------

    def wants_sync(self, now_ms: int) -> bool:
        """Whether ``flush.messages`` or ``flush.ms`` ask for a sync that nobody waits for."""
        unsynced = self.log_end_offset - self.recovery_point
        if unsynced <= 0:
            return False
        waited_ms = now_ms - self._unsynced_since_ms
        return unsynced >= self.settings.flush_messages or waited_ms >= self.settings.flush_ms

    def lend_sync(self, settle: Callable[[], None]) -> bool:
        """Whether the last file's descriptor is all that a sync needs, and nobody else is at it. It is the
        caller's turn then, see ``SyncTurn.lend``.
        """
        return (
            self._names_durable >= self.names_changed
            and not self._sealed_unsynced
            and self.birth is None
            and self.epochs.unwritten is None
            and self.active.file.descriptor is not None
            and self.sync_turn.lend(settle)
        )

    def begin_sync(self) -> PendingSync | None:
        """Everything that was appended and is not durable yet; None if there is nothing.

        What another sync is at work on counts as not durable until that one has finished. The two take turns.
        """
        self.health.check()
        names_too = self._names_durable < self.names_changed
        if self.is_abandoned or (self.recovery_point == self.log_end_offset and not names_too):
            return None
        if self._sealed_unsynced:
            with self.health.guard(f"indexes of {self.name}"):
                # Here, where a full disk is no more than that; a sync that fails is final.
                for segment in self._sealed_unsynced:
                    segment.flush_indexes()
        return PendingSync(self.files, self, list(self._sealed_unsynced), names_too=names_too)

    def finish_sync(self, pending: PendingSync, error: OSError | None = None) -> None:
        """Take note of how a sync ended. A failed one is final for the directory."""
        pending.release(durable=error is None)
        if error is not None:
            raise self.health.fail(error, f"sync of {self.name}")
        self.health.check()
        self.forget_unsynced(pending.sealed)
        self._names_durable = max(self._names_durable, pending.names)
        if pending.epochs is not None:
            self.epochs.note_written(pending.epochs)
        if self.birth is pending.birth:
            self.birth = None
        if pending.truncations == self.truncations:
            # Otherwise records were cut meanwhile, and others may have taken their offsets.
            self.recovery_point = max(self.recovery_point, pending.offset_end)
        self.producers.forget_decided(min(self.recovery_point, self.high_watermark))

    def sync(self) -> None:
        """Make everything durable, here and now."""
        carry_out(self.syncing())

    def syncing(self) -> Staged[None]:
        """Make everything durable that the log holds now."""
        pending = self.begin_sync()
        if pending is None:
            return
        try:
            yield pending.run
        except OSError as error:
            self.finish_sync(pending, error)
        self.finish_sync(pending)

    def sync_names(self) -> None:
        """Make durable which files there are. In any thread."""
        with self.sync_turn:
            try:
                self.files.sync_directory(self.directory)
            except FileNotFoundError:
                if not self.is_abandoned:
                    raise

    def advance_high_watermark(self, offset: int) -> None:
        self.high_watermark = max(self.high_watermark, min(offset, self.log_end_offset))

    @property
    def last_stable_offset(self) -> int:
        """Where committed reading ends: before the first transaction that is still open."""
        return self._stable_offset(self.high_watermark)

    @property
    def durable_stable_offset(self) -> int:
        """What is decided for good: no crash brings a transaction before it back to life."""
        return self._stable_offset(min(self.recovery_point, self.high_watermark))

    def _stable_offset(self, offset_end: int) -> int:
        unstable = self.producers.first_unstable_offset(offset_end)
        return offset_end if unstable is None else min(unstable, offset_end)

    # -- reading ---------------------------------------------------------------------------------

    def read(self, offset: int, max_bytes: int, *, offset_end: int | None = None) -> Slice:
        """Whole batches from the one that holds ``offset`` on, the first in any case, the rest while
        they fit into ``max_bytes``, none at or after ``offset_end`` (default: the high watermark).
        """
        self.health.check()
        limit = self.high_watermark if offset_end is None else min(offset_end, self.log_end_offset)
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise OffsetOutOfRange(offset, self.log_start_offset, self.log_end_offset)
        if offset >= limit:
            return Slice((), offset)
        if self.corruption is not None:
            if offset >= self.corruption.offset:
                raise self.corruption
            limit = min(limit, self.corruption.offset)
        chunk_bytes = max(READ_CHUNK_BYTES_MIN, min(max_bytes, READ_CHUNK_BYTES_MAX))
        stretch = self._read_at_once(offset, max_bytes, chunk_bytes, limit)
        if stretch is not None:
            return stretch
        try:
            return collect(self.batches(offset, chunk_bytes=chunk_bytes), offset, max_bytes, limit)
        except Corrupt as corruption:
            if offset >= corruption.offset or limit <= corruption.offset:
                raise
            # The damage was found just now and lies further on: what comes before it is still served.
            return self.read(offset, max_bytes, offset_end=corruption.offset)

    def _read_at_once(self, offset: int, max_bytes: int, chunk_bytes: int, limit: int) -> Slice | None:
        """The ordinary case of ``read``; None if this is another."""
        if offset < self.cleaned_offset:
            return None  # Compaction leaves gaps.
        try:
            segment = self.segments[self._segment_number(offset)]
            return self._sequential.read(segment, offset, max_bytes, chunk_bytes, limit)
        except OSError as error:
            raise self.health.judge(error, f"read of {self.name}") from error

    def extent(self, offset: int, max_bytes: int) -> Extent | None:
        """Where a read would find its first bytes; None if there are none to be read."""
        if not self.log_start_offset <= offset < self.log_end_offset or self.health.reason is not None:
            return None
        segment = self.segments[self._segment_number(offset)]
        position = self._sequential.position(segment, offset)
        if position is not None:
            return segment.extent(offset, max_bytes, position)
        with self.reading():
            return segment.extent(offset, max_bytes)

    def read_committed(self, offset: int, max_bytes: int) -> tuple[Slice, list[AbortedTransaction]]:
        """What ``read`` gives up to the last stable offset, and the aborted transactions in it."""
        while True:
            stable = self.last_stable_offset
            piece = self.read(offset, max_bytes, offset_end=stable)
            aborted = self.aborted_transactions(offset, piece.offset_next) if piece.runs else []
            if self.last_stable_offset >= stable:
                return piece, aborted
            # Damage was found on the way, and transactions that seemed decided no longer are.

    def batches(self, offset: int, *, chunk_bytes: int = READ_CHUNK_BYTES_MIN) -> Iterator[Found]:
        """Checked batches from the one that holds ``offset`` to the end of the log, across segments."""
        number = self._segment_number(offset)
        while number < len(self.segments):
            segment = self.segments[number]
            with self.reading():
                yield from segment.batches_from(offset, chunk_bytes=chunk_bytes)
                self._check_no_hole(segment)
            number += 1

    def reading(self) -> "Reading":
        """Around everything that reads segments."""
        return Reading(self)

    def _check_no_hole(self, segment: Segment) -> None:
        """A segment ends where the next begins, unless compaction has been there, if only in the past."""
        end, limit = segment.find_end(), segment.offset_limit
        if limit is None or end >= limit or self.settings.compact or end < self.cleaned_offset:
            return
        if not segment.shows_compaction():
            raise Damage(segment.size_bytes, end, f"the records up to {limit - 1} are missing")

    def mark_corrupt(self, offset: int, reason: str) -> Corrupt:
        """From now on nothing at or after ``offset`` is served and nothing is appended; the earliest finding
        stays. A transaction whose marker lies behind the damage counts as undecided.
        """
        if self.corruption is None or offset < self.corruption.offset:
            self.corruption = Corrupt(self.name, offset, reason)
            self.producers = replay_from_start(self.segments, offset)
            for segment in self.segments:
                segment.aborted_proven = False
        return self.corruption

    def aborted_transactions(self, offset_start: int, offset_end: int) -> list[AbortedTransaction]:
        """The aborted transactions that touch ``[offset_start, offset_end)``."""
        found: list[AbortedTransaction] = []
        active = self.segments[-1]
        if offset_start >= active.base_offset and active.aborted_proven and active.aborted.is_known_empty:
            return found  # As for nearly everybody who reads at the end of a log.
        with self.reading():
            damaged_from = None if self.corruption is None else self.corruption.offset
            for number in range(self._segment_number(offset_start), len(self.segments)):
                segment = self.segments[number]
                if damaged_from is None:
                    self._check_no_hole(segment)
                elif segment.base_offset >= damaged_from:
                    break
                ensure_proven(self.segments, number, damaged_from=damaged_from)
                entries, complete = segment.aborted.overlapping(offset_start, offset_end)
                found.extend(entries)
                if complete:
                    break
        return found

    def _segment_number(self, offset: int) -> int:
        segments = self.segments
        if offset >= segments[-1].base_offset:
            return len(segments) - 1
        return max(0, bisect_right(segments, offset, key=_base_offset) - 1)

    # -- shortening ------------------------------------------------------------------------------

    def advance_log_start(self, offset: int) -> None:
        """Records before ``offset`` are gone for readers. Whole segments below it go by ``retention``."""
        if offset > self.high_watermark:
            raise OffsetOutOfRange(offset, self.log_start_offset, self.high_watermark)
        self.log_start_offset = max(self.log_start_offset, offset)
        self.epochs.truncate_from_start(self.log_start_offset)

    def forget_unsynced(self, gone: Sequence[Segment]) -> None:
        """These need no sync any more."""
        self._sealed_unsynced = [segment for segment in self._sealed_unsynced if segment not in gone]

    def holds(self, segments: Sequence[Segment]) -> bool:
        """Whether these very segments still stand side by side in the log."""
        number = self._segment_number(segments[0].base_offset)
        return self.segments[number : number + len(segments)] == list(segments)

    def replace(self, segments: Sequence[Segment], new: Segment) -> None:
        """A compacted segment stands for these from now on."""
        number = self._segment_number(segments[0].base_offset)
        new.offset_limit = segments[-1].offset_limit
        self.segments[number : number + len(segments)] = [new]
        for segment in segments:
            segment.retire()
        self.forget_unsynced(segments)

    def close(self) -> None:
        """Bring indexes and producers to disk and make all durable. After an error nothing is touched."""
        if self.health.reason is None and self.corruption is None:
            with self.health.guard(f"close of {self.name}"):
                self.active.seal()
                self.epochs.flush()
                self.producers.write_snapshot(self.files, self.directory, self.log_end_offset)
                self.active.sync_indexes()
                self.names_changed += 1
            self.sync()
        self._retire()

    def abandon(self) -> None:
        """The partition is being deleted: nothing of it needs to become durable any more."""
        self.is_abandoned = True
        self._retire()

    def _retire(self) -> None:
        for segment in self.segments:
            segment.retire()


def _base_offset(segment: Segment) -> int:
    return segment.base_offset
