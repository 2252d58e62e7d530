"""Walking a segment file from batch to batch, believing nothing.

A batch's checksum does not cover its first 17 bytes (base offset, length, leader epoch, magic), so
those are held against their neighbours: offsets rise without a step back, leader epochs never fall,
and a gap, which only compaction leaves, must agree with what follows it. Damage is reported as the
position and the offset from which on nothing may be served; what that means is the caller's matter.
"""

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from trivium.log.files import File
from trivium.records.batch import (
    HEADER_BYTES,
    LOG_OVERHEAD_BYTES,
    NO_LEADER_EPOCH,
    BatchHeader,
    check_batch,
    read_header,
)
from trivium.records.legacy import iter_messages
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError
from trivium.wire.limits import BATCH_BYTES_MAX

CHUNK_BYTES = 1 << 20
"""Read at once while walking: large enough to make the system call disappear, small enough to waste."""

_LENGTH = Struct(">i")
_LENGTH_AT = 8
_MAGIC_AT = 16

_OLD_MESSAGE = (
    "the records there have a format from before Kafka 0.11; read them with a Kafka broker into a new topic"
)


class Damage(Exception):
    """The bytes at ``position`` are not the batch that belongs there.

    ``precious``: they are sound all the same, in a format that this log does not read. Never to be cut.
    """

    def __init__(self, position: int, offset: int, reason: str, *, precious: bool = False) -> None:
        super().__init__(reason)
        self.position = position
        self.offset = offset
        self.reason = reason
        self.precious = precious


class Found(NamedTuple):
    """A sound batch: where it begins in the file, its header, and where it lies in a read buffer."""

    position: int
    header: BatchHeader
    buffer: memoryview
    at: int

    @property
    def data(self) -> memoryview:
        return self.buffer[self.at : self.at + self.header.size_bytes]


def scan(
    file: File,
    position: int,
    position_end: int,
    *,
    offset_start: int,
    offset_end: int | None,
    epoch_start: int = NO_LEADER_EPOCH,
    gap_at_end: bool = False,
    chunk_bytes: int = CHUNK_BYTES,
) -> Iterator[Found]:
    """Every batch in ``[position, position_end)``, checked; ``Damage`` at the first that is not sound.

    ``offset_start``: no batch may begin before it, and none may be of an epoch before ``epoch_start``.
    ``offset_end``: the next segment's base offset, or None where nothing follows; a gap before the very last
    batch is then damage, unless ``gap_at_end`` (a follower of a compacted topic has one where its leader has
    it).
    """
    expected, epoch = offset_start, epoch_start
    buffer, buffer_start = memoryview(b""), position
    while position < position_end:
        at = position - buffer_start
        try:
            if not holds_batch(buffer, at):
                buffer, buffer_start, at = _load(file, position, position_end, chunk_bytes), position, 0
                size = read_header(buffer).size_bytes
                if size > len(buffer):
                    buffer = _load(file, position, position_end, size)
            header = check_batch(buffer, at)
        except DecodeError as error:
            if _is_old_message(file, position, position_end):
                raise Damage(position, expected, _OLD_MESSAGE, precious=True) from error
            raise Damage(position, expected, f"{error} (at byte {position})") from error
        size = header.size_bytes
        if header.base_offset != expected:
            following = _base_after(file, position + size, position_end, offset_end)
            if following is None and gap_at_end:
                following = header.offset_end
            _check_gap(position, header, expected, following)
        if header.leader_epoch < epoch:
            raise Damage(position, expected, f"leader epoch falls from {epoch} to {header.leader_epoch}")
        if offset_end is not None and header.last_offset >= offset_end:
            raise Damage(position, expected, f"offset {header.last_offset} belongs to the next segment")
        expected, epoch = header.offset_end, header.leader_epoch
        yield Found(position, header, buffer, at)
        position += size


def holds_batch(buffer: Buffer, at: int) -> bool:
    """Whether a batch that begins here would lie in the buffer to its end, by its own word."""
    room = len(buffer) - at
    return (
        room >= HEADER_BYTES and room - LOG_OVERHEAD_BYTES >= _LENGTH.unpack_from(buffer, at + _LENGTH_AT)[0]
    )


def _is_old_message(file: File, position: int, position_end: int) -> bool:
    """Whether a sound message of format 0 or 1 lies here, as Kafka wrote them before 0.11."""
    head = file.read(HEADER_BYTES, position)
    if len(head) <= _MAGIC_AT or head[_MAGIC_AT] > 1:
        return False
    size = _LENGTH.unpack_from(head, _LENGTH_AT)[0] + LOG_OVERHEAD_BYTES
    if not 0 < size <= min(BATCH_BYTES_MAX, position_end - position):
        return False
    try:
        next(iter_messages(file.read(size, position)))
    except DecodeError:
        return False
    return True


def _load(file: File, position: int, position_end: int, size_bytes: int) -> memoryview:
    return memoryview(file.read(min(size_bytes, position_end - position), position))


def _base_after(file: File, position: int, position_end: int, offset_end: int | None) -> int | None:
    """The base offset of whatever follows a batch: the next batch, else the next segment."""
    if position >= position_end:
        return offset_end
    try:
        return read_header(file.read(HEADER_BYTES, position)).base_offset
    except DecodeError:
        return None


def _check_gap(position: int, header: BatchHeader, expected: int, following: int | None) -> None:
    if header.base_offset < expected:
        raise Damage(position, expected, f"offset {header.base_offset} where {expected} belongs")
    if following is None:
        raise Damage(
            position, expected, f"offset {header.base_offset} after {expected - 1}, and nothing follows"
        )
    if following < header.offset_end:
        raise Damage(position, expected, f"offset {header.base_offset} contradicts {following} after it")
