"""One segment: a ``.log`` file of batches and the three indexes that find things in it.

The log file is the truth; indexes are hints that are checked against it whenever they are used and
rebuilt from it when they lie. Batches are opaque bytes here: headers are read, records are not.

File descriptors are opened when first needed. A segment that is being synced in another thread is
pinned; closing waits for the pin (``retire``).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

from trivium.log.files import File, Files
from trivium.log.names import offset_text
from trivium.log.offset_index import OffsetIndex, OffsetPosition
from trivium.log.scan import CHUNK_BYTES, Damage, Found, scan
from trivium.log.settings import LogSettings
from trivium.log.time_index import NO_TIMESTAMP, TimeIndex, TimestampOffset
from trivium.log.txn_index import TxnIndex
from trivium.records.batch import HEADER_BYTES, NO_LEADER_EPOCH, BatchHeader, read_header
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError

RESERVED_BYTES_MAX = 8 << 20
RESERVED_BYTES_MIN = 1 << 20
RESERVED_PART = 4
"""Set aside for what comes next: a fourth of what is there already, from 4 MiB on, so that many small logs
take no more of a disk than they need."""


class Extent(NamedTuple):
    """So many bytes of a log file from a position on. The segment keeps the file open while it is pinned."""

    segment: "Segment"
    position: int
    size_bytes: int

    @property
    def is_near(self) -> bool:
        """Whether they are in memory, as far as one can tell without reading them."""
        return self.segment.file.is_near(self.size_bytes, self.position)

    def read(self) -> bytes:
        return self.segment.file.read(self.size_bytes, self.position)


class Segment:
    """The files of one stretch of offsets, from ``base_offset`` up to ``offset_limit``."""

    __slots__ = (
        "_doomed",
        "_file",
        "_files",
        "_first_timestamp",
        "_loaded",
        "_max_timestamp",
        "_offset_end",
        "_pins",
        "_prefix",
        "_room_bytes",
        "_suffix",
        "_tail_bytes",
        "aborted",
        "aborted_proven",
        "base_offset",
        "created_ms",
        "index",
        "offset_limit",
        "settings",
        "size_bytes",
        "times",
    )

    def __init__(
        self,
        files: Files,
        directory: str,
        base_offset: int,
        *,
        settings: LogSettings,
        created_ms: int = 0,
        suffix: str = "",
    ) -> None:
        self._files = files
        self._prefix = f"{directory}/{offset_text(base_offset)}"
        self._suffix = suffix
        self.base_offset = base_offset
        self.created_ms = created_ms
        self.settings = settings
        self.offset_limit: int | None = None
        """The next segment's base offset; None in the segment that is written to."""
        self.index = OffsetIndex(files, self.path(".index"), base_offset)
        self.times = TimeIndex(files, self.path(".timeindex"), base_offset)
        self.aborted = TxnIndex(files, self.path(".txnindex"), base_offset)
        self.aborted_proven = False
        """Whether ``aborted`` was held against the log; see ``aborted.ensure_proven``."""
        log = self.path(".log")
        self.size_bytes = files.size(log) if files.exists(log) else 0
        self._file: File | None = None
        self._loaded = False
        self._offset_end = base_offset
        self._first_timestamp: int | None = None
        self._max_timestamp = TimestampOffset(NO_TIMESTAMP, base_offset)
        self._tail_bytes = 0
        self._room_bytes = 0
        """Up to where the file has room set aside, as far as this process has seen to it."""
        self._pins = 0
        self._doomed = False

    def path(self, kind: str) -> str:
        return f"{self._prefix}{kind}{self._suffix}"

    def note_names(self, directory: str, suffix: str) -> None:
        """Its files are called otherwise now. A descriptor that is open stays what it is."""
        self._prefix = f"{directory}/{offset_text(self.base_offset)}"
        self._suffix = suffix
        self.index.file.path = self.path(".index")
        self.times.file.path = self.path(".timeindex")
        self.aborted.file.path = self.path(".txnindex")

    @property
    def file(self) -> File:
        if self._file is None:
            self._file = self._files.open(self.path(".log"))
        return self._file

    def create(self) -> None:
        """Make the log file. Indexes appear on disk when they first have something to say."""
        self._file = self._files.open(self.path(".log"), create=True)
        self.size_bytes = self._file.size()
        self._loaded = self.aborted_proven = self.size_bytes == 0
        if self.settings.preallocate and self.size_bytes == 0:
            self._file.truncate(self.settings.segment_bytes)

    # -- writing -------------------------------------------------------------------------------

    def append(self, data: Buffer, batches: Sequence[tuple[int, BatchHeader]]) -> None:
        """Write whole batches at the end, in one write. On an error the file is as it was."""
        start = self.size_bytes
        file = self._file or self.file
        try:
            file.write(data, start)
        except OSError:
            file.truncate(start)
            raise
        self.size_bytes = start + len(data)
        for at, header in batches:
            self.note(start + at, header)

    def reserve(self) -> None:
        """Have room for what comes next: a write finds its blocks then, and a sync need not look for them."""
        size_bytes = self.size_bytes
        ahead_bytes = min(size_bytes // RESERVED_PART, RESERVED_BYTES_MAX)
        room_bytes = min(size_bytes + ahead_bytes, self.settings.segment_bytes)
        if (
            self._file is not None
            and ahead_bytes >= RESERVED_BYTES_MIN
            and self._room_bytes < min(size_bytes + ahead_bytes // 2, room_bytes)
        ):
            self._room_bytes = room_bytes
            self._file.reserve(room_bytes)

    def note(self, position: int, header: BatchHeader) -> None:
        """Keep the indexes and the largest timestamp in step with one batch of the file."""
        if self._first_timestamp is None:
            self._first_timestamp = header.max_timestamp
        self._note_timestamp(header)
        if self._tail_bytes > self.settings.index_interval_bytes:
            self.index.append(header.last_offset, position)
            self.times.append(*self._max_timestamp)
            self._tail_bytes = 0
        self._tail_bytes += header.size_bytes
        self._offset_end = header.offset_end

    def _note_timestamp(self, header: BatchHeader) -> None:
        if header.max_timestamp > self._max_timestamp.timestamp:
            self._max_timestamp = TimestampOffset(header.max_timestamp, header.last_offset)

    def should_roll(self, incoming_bytes: int, timestamp: int, offset_last: int, now_ms: int) -> bool:
        size_bytes, settings = self.size_bytes, self.settings
        if size_bytes == 0:
            return False
        first = self.first_timestamp
        waited_ms = timestamp - first if first >= 0 and timestamp >= 0 else now_ms - self.created_ms
        return (
            size_bytes + incoming_bytes > settings.segment_bytes
            or waited_ms > self.roll_ms
            or self.index.size_bytes >= settings.segment_index_bytes - 8
            or offset_last - self.base_offset > 0x7FFFFFFF
        )

    @property
    def roll_ms(self) -> int:
        """After how long it is rolled. Its part of the jitter follows from its name: partitions that began
        together do not roll together, and still one history has one course.
        """
        roll_ms, jitter_ms = self.settings.roll_ms, self.settings.segment_jitter_ms
        if not jitter_ms:
            return roll_ms
        return roll_ms - crc32(self._prefix.encode()) % min(jitter_ms, max(1, roll_ms))

    def seal(self) -> None:
        """Nothing more will be appended: bring the indexes to disk, with a last entry for time. They become
        durable with the next sync of the log, before its recovery point passes the segment: until then a
        crash makes them again from the log file.
        """
        self._load()
        if max(self.file.size(), self._room_bytes) > self.size_bytes:
            self.file.truncate(self.size_bytes)
            self._room_bytes = 0
        self.times.append(*self._max_timestamp)
        self.flush_indexes()

    # -- reading -------------------------------------------------------------------------------

    def batches(self, position: int = 0, *, offset_start: int | None = None) -> Iterator[Found]:
        """Checked batches from a position on; see ``scan``."""
        return self._scan(position, self.base_offset if offset_start is None else offset_start, CHUNK_BYTES)

    def extent(self, offset: int, max_bytes: int, position: int | None = None) -> Extent:
        """Where the bytes lie that a read from this offset begins with; ``position`` is for who knows it."""
        if position is None:
            self._load()
            position = self.index.lookup(offset).position
        size_bytes = min(max_bytes + self.settings.index_interval_bytes, self.size_bytes - position)
        return Extent(self, position, size_bytes)

    def batches_from(self, offset: int, *, chunk_bytes: int = CHUNK_BYTES) -> Iterator[Found]:
        """Checked batches, beginning with the one that holds ``offset`` or is the first after it."""
        self._load()
        found = self._scan_to(offset, chunk_bytes)
        for batch in found:
            if batch.header.last_offset >= offset:
                yield batch
                yield from found

    def place_before(self, offset: int) -> tuple[int, int, int]:
        """A position at or before the batch that holds ``offset``, the offset with which the batch there
        begins, and the leader epoch below which it cannot be.
        """
        self._load()
        entry, header = self._entry_before(offset)
        if header is None:
            return entry.position, self.base_offset, NO_LEADER_EPOCH
        if entry.offset < offset:
            return entry.position + header.size_bytes, header.offset_end, header.leader_epoch
        return entry.position, header.base_offset, header.leader_epoch

    def _scan_to(self, offset: int, chunk_bytes: int) -> Iterator[Found]:
        """Batches from one near the offset on.

        An index entry names the last offset of a batch, so what is wanted mostly lies in the batch behind it.
        That one is begun with, on the word of the header between, which the entry confirms; if it is not
        sound or does not follow at once, the entry's own batch is walked over as well, to say why.
        """
        entry, header = self._entry_before(offset)
        if header is not None and entry.offset < offset:
            behind = entry.position + header.size_bytes
            found = self._scan(behind, header.offset_end, chunk_bytes, header.leader_epoch)
            try:
                first = next(found, None)
            except Damage:
                first = None
            if first is not None and first.header.base_offset == header.offset_end:
                yield first
                yield from found
                return
        yield from self._scan(
            entry.position, self.base_offset if header is None else header.base_offset, chunk_bytes
        )

    def _scan(
        self, position: int, offset_start: int, chunk_bytes: int, epoch_start: int = NO_LEADER_EPOCH
    ) -> Iterator[Found]:
        return scan(
            self.file,
            position,
            self.size_bytes,
            offset_start=offset_start,
            epoch_start=epoch_start,
            offset_end=self.offset_limit,
            gap_at_end=self.settings.compact,
            chunk_bytes=chunk_bytes,
        )

    def _entry_before(self, offset: int) -> tuple[OffsetPosition, BatchHeader | None]:
        """The index entry at or before the offset, and the header of its batch; None at the very beginning.

        The entry must name a real batch with just that last offset. One that does not is damage to the
        index, never to the data: the index is made again from the log file.
        """
        entry = self.index.lookup(offset)
        if entry.position == 0:
            return entry, None
        try:
            return entry, self._header_at(entry)
        except DecodeError:
            self.rebuild_indexes()
            return self._entry_before(offset)

    def _header_at(self, entry: OffsetPosition) -> BatchHeader:
        """The header of the batch that an index entry points at, if it is the one it describes."""
        header = read_header(self.file.read(HEADER_BYTES, entry.position))
        if header.last_offset != entry.offset or header.base_offset < self.base_offset:
            raise DecodeError(f"{self.path('.index')} disagrees with the log at position {entry.position}")
        return header

    def offset_before(self, timestamp: int) -> int:
        """An offset at or before the first record that is not older than ``timestamp``."""
        self._load()
        entry = self.times.lookup(timestamp - 1)
        if entry.timestamp >= 0:
            try:
                self._check_time_entry(entry)
            except DecodeError:
                self.rebuild_indexes()
                return self.times.lookup(timestamp - 1).offset
        return entry.offset

    def shows_compaction(self) -> bool:
        """Whether records are missing between or inside its batches: only compaction takes those."""
        expected = self.base_offset
        for found in self.batches():
            if is_thinned(found.header, expected):
                return True
            expected = found.header.offset_end
        return False

    @property
    def first_timestamp(self) -> int:
        """The first batch's largest timestamp: the clock that rolls the segment."""
        if self._first_timestamp is None:
            if self.size_bytes < HEADER_BYTES:
                return NO_TIMESTAMP
            try:
                self._first_timestamp = read_header(self.file.read(HEADER_BYTES, 0)).max_timestamp
            except DecodeError:
                self._first_timestamp = NO_TIMESTAMP
        return self._first_timestamp

    @property
    def max_timestamp(self) -> TimestampOffset:
        """The largest timestamp and the last offset of the batch that has it; (-1, base) if none."""
        self._load()
        return self._max_timestamp

    # -- loading, repairing, cutting -------------------------------------------------------------

    def find_end(self) -> int:
        """The offset after the last record: indexes are believed where they agree with the log file,
        and only the tail behind their last entry is walked. ``Damage`` if that tail is not sound.
        """
        self._load()
        return self._offset_end

    def _load(self) -> None:
        if self._loaded:
            return
        try:
            self.index.check(self.size_bytes)
            self._walk_tail()
        except (DecodeError, Damage):
            self.rebuild_indexes()
        self._loaded = True

    def _walk_tail(self) -> None:
        """Find the end and the largest timestamp. Everything behind the last time entry is looked at,
        so an index that lost entries loses nothing but time.
        """
        position, offset = 0, self.base_offset
        newest = self.times.last()
        if newest is not None:
            self._check_time_entry(newest)
            self._max_timestamp = newest
            entry = self.index.lookup(newest.offset)
            if entry.position:
                position, offset = entry.position, self._header_at(entry).base_offset
        last = self.index.last()
        if last is not None:
            self._header_at(last)
        for found in self._scan(position, offset, CHUNK_BYTES):
            self._note_timestamp(found.header)
            self._offset_end = found.header.offset_end
        self._tail_bytes = self.size_bytes - (last.position if last is not None else 0)

    def _check_time_entry(self, entry: TimestampOffset) -> None:
        """A time entry must name a batch that has just that largest timestamp."""
        for found in self._scan_to(entry.offset, CHUNK_BYTES):
            header = found.header
            if header.last_offset >= entry.offset:
                if header.base_offset <= entry.offset and header.max_timestamp == entry.timestamp:
                    return
                break
        raise DecodeError(f"{self.path('.timeindex')} disagrees with the log at offset {entry.offset}")

    def reset_indexes(self) -> None:
        """Forget what is known from the offset and time index; ``note`` every batch to know it again."""
        self.index.file.reset()
        self.times.file.reset()
        self._max_timestamp = TimestampOffset(NO_TIMESTAMP, self.base_offset)
        self._first_timestamp = None
        self._tail_bytes = 0
        self._offset_end = self.base_offset
        self._loaded = True

    def rebuild_indexes(self) -> None:
        """Make offset and time index again from the log file; ``Damage`` where it is not sound."""
        self.reset_indexes()
        for found in self.batches():
            self.note(found.position, found.header)
        self.note_end()

    def note_end(self) -> None:
        """Every batch has been noted: where nothing will follow, the time index ends as ``seal`` ends it."""
        if self.offset_limit is not None:
            self.times.append(*self._max_timestamp)

    def cut(self, position: int, offset: int) -> None:
        """Drop everything from a batch boundary on: ``offset`` is the first one to go."""
        self.file.truncate(position)
        self.size_bytes = position
        self.aborted.truncate(offset)
        self.rebuild_indexes()

    # -- life ------------------------------------------------------------------------------------

    def sync(self) -> None:
        """Make the file durable, and for a sealed segment its indexes too."""
        self.file.sync()

    def sync_indexes(self) -> None:
        """Make the indexes durable, unless the segment is on its way out and its files may be gone."""
        if not self._doomed:
            self.flush_indexes(sync=True)

    def flush_indexes(self, *, sync: bool = False) -> None:
        self.index.file.flush(sync=sync)
        self.times.file.flush(sync=sync)
        self.aborted.file.flush(sync=sync)

    def forget_indexes(self) -> None:
        """Give the memory of the offset and time index back; the next reader loads them again."""
        self.index.file.release()
        self.times.file.release()
        self._loaded = False

    def pin(self) -> None:
        self._pins += 1

    def unpin(self) -> None:
        self._pins -= 1
        if self._doomed and self._pins == 0:
            self._close()

    def retire(self) -> None:
        """Close as soon as nobody needs the descriptor any more."""
        self._doomed = True
        if self._pins == 0:
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def is_thinned(header: BatchHeader, expected_offset: int) -> bool:
    """Whether compaction has taken records from a batch, or the batch before it."""
    return header.base_offset != expected_offset or header.records_count <= header.last_offset_delta
