"""Batches as a whole: their headers read, proved and stamped, their checksum; never what is in them.

This is what happens to every batch on its way into the log and out of it (layout: ``header``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google_crc32c import extend as extend_crc32c
from google_crc32c import implementation

from trivium.records.compression import Compression
from trivium.records.header import (
    ATTRIBUTES_AT,
    COMPRESSION_BITS,
    HEADER,
    HEADER_BYTES,
    LEADER_EPOCH_AT,
    LOG_OVERHEAD_BYTES,
    MAGIC,
    BatchHeader,
)
from trivium.records.kernel import cython
from trivium.records.kernel.integers import INT32_MAX, INT64_MAX, big_endian, put_big_endian
from trivium.records.kernel.lent import lent
from trivium.records.kernel.named_tuples import ALLOCATES_TUPLES, blank, field, fill
from trivium.records.kernel.window import Window
from trivium.records.record import RECORD_BYTES_MIN
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError, EncodeError
from trivium.wire.limits import BATCH_BYTES_MAX

# What other modules define are Python's numbers; compared with for every batch, these are C's.
FORMAT = cython.declare(cython.longlong, MAGIC)
HEAD_BYTES = cython.declare(cython.longlong, HEADER_BYTES)
OVERHEAD_BYTES = cython.declare(cython.longlong, LOG_OVERHEAD_BYTES)
BATCH_LENGTH_MIN = cython.declare(cython.longlong, HEADER_BYTES - LOG_OVERHEAD_BYTES)
BATCH_LENGTH_MAX = cython.declare(cython.longlong, BATCH_BYTES_MAX - LOG_OVERHEAD_BYTES)
EPOCH_AT = cython.declare(cython.longlong, LEADER_EPOCH_AT)
CHECKED_FROM = cython.declare(cython.longlong, ATTRIBUTES_AT)
CODEC_BITS = cython.declare(cython.longlong, COMPRESSION_BITS)
RECORD_BYTES = cython.declare(cython.longlong, RECORD_BYTES_MIN)
CHECKSUM_PIECE_BYTES = cython.declare(cython.Py_ssize_t, 65_536)
LENT_BYTES_MIN = cython.declare(cython.Py_ssize_t, 512)
"""A copy of less is cheaper."""
LENDS_MEMORY = cython.declare(cython.bint, cython.compiled and implementation == "c")
"""Where the library is written in Python it looks at bytes one by one."""


def read_header(buffer: Buffer, position: int) -> BatchHeader:
    """The header at ``position``: right magic, plausible length, no more. The records may be missing."""
    return plausible_header(Window(buffer), position)


def check_batch(buffer: Buffer, position: int) -> BatchHeader:
    """The header of the batch at ``position`` after everything that can be proved without looking inside."""
    return proven_header(Window(buffer), position)


def check_batches(buffer: Buffer) -> list[tuple[int, BatchHeader]]:
    """Position and header of every batch, each checked, one directly after the other up to the last byte."""
    window: Window = Window(buffer)
    position: cython.Py_ssize_t = 0
    batch_length: cython.longlong
    found: list[tuple[int, BatchHeader]] = []
    while position < window.size_bytes:
        header = proven_header(window, position)
        found.append((position, header))
        batch_length = field(header, 1)
        position += batch_length + OVERHEAD_BYTES
    return found


def walk_batches(buffer: Buffer) -> tuple[list[tuple[int, BatchHeader]], int]:
    """Position and header of every batch, one directly after the other, and where that ends: at a batch that
    is not there whole, or at something that is none. Checksums are left to who reads the records.
    """
    window: Window = Window(buffer)
    position: cython.Py_ssize_t = 0
    batch_length: cython.longlong
    found: list[tuple[int, BatchHeader]] = []
    while window.size_bytes - position >= HEAD_BYTES and big_endian(window.p, position + 16, 1) == FORMAT:
        batch_length = big_endian(window.p, position + 8, 4)
        if not BATCH_LENGTH_MIN <= batch_length <= BATCH_LENGTH_MAX:
            break
        if batch_length > window.size_bytes - position - OVERHEAD_BYTES:
            break
        found.append((position, header_at(window.p, position)))
        position += batch_length + OVERHEAD_BYTES
    return found, position


def sound_run(
    buffer: Buffer,
    base_offset: int,
    leader_epoch: int,
    offset: int,
    bytes_max: int,
    offset_end: int,
) -> tuple[int, int, int, int]:
    """The batches of ``buffer`` that a read from ``offset`` takes: where they begin and end in it, and the
    offset and the leader epoch after them.

    The first batch begins at ``base_offset``; those that end before ``offset`` are passed over. Of the others
    the first is taken, and further ones that fit into ``bytes_max``, lie before ``offset_end`` and are whole.
    All are checked; offsets have no gap and leader epochs do not fall, or it is a ``DecodeError``.
    """
    window: Window = Window(buffer)
    expected: cython.longlong = base_offset
    epoch: cython.longlong = leader_epoch
    wanted: cython.longlong = offset
    limit: cython.longlong = offset_end
    room: cython.Py_ssize_t = max(bytes_max, 0)
    start: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t = 0
    size_bytes: cython.longlong
    batch_epoch: cython.longlong
    first: cython.longlong
    delta: cython.longlong
    while window.size_bytes - at >= HEAD_BYTES and expected < limit:
        size_bytes = big_endian(window.p, at + 8, 4) + OVERHEAD_BYTES
        if size_bytes > window.size_bytes - at or (at > start and size_bytes > room - (at - start)):
            break
        first = big_endian(window.p, at, 8)
        batch_epoch = big_endian(window.p, at + EPOCH_AT, 4)
        if first != expected or batch_epoch < epoch:
            raise DecodeError(f"offset {first} in epoch {batch_epoch} after {expected - 1} in {epoch}")
        header: BatchHeader = proven_header(window, at)
        delta = field(header, 6)
        epoch = batch_epoch
        expected += delta + 1
        at += size_bytes
        if expected <= wanted:
            start = at
    return start, at, expected, epoch


@cython.cfunc
def plausible_header(window: Window, position: cython.Py_ssize_t) -> BatchHeader:
    room: cython.Py_ssize_t = window.size_bytes - position
    magic: cython.longlong
    batch_length: cython.longlong
    if position < 0 or room < HEAD_BYTES:
        raise DecodeError(f"a batch header needs {HEADER_BYTES} bytes, {room} are there")
    header: BatchHeader = header_at(window.p, position)
    batch_length = field(header, 1)
    magic = field(header, 3)
    if magic != FORMAT:
        raise DecodeError(f"batch format {MAGIC} was expected, found {magic}")
    if not BATCH_LENGTH_MIN <= batch_length <= BATCH_LENGTH_MAX:
        raise DecodeError(f"no batch has the length {batch_length}")
    return header


@cython.cfunc
def proven_header(window: Window, position: cython.Py_ssize_t) -> BatchHeader:
    header: BatchHeader = whole_header(window, position)
    size_bytes: cython.longlong = field(header, 1) + OVERHEAD_BYTES
    crc: cython.longlong = field(header, 4)
    if checksum(window.p, position + CHECKED_FROM, position + size_bytes) != crc:
        raise DecodeError("the checksum of a batch does not match its bytes")
    check_counts(header, size_bytes - HEAD_BYTES)
    return header


@cython.cfunc
def believed_header(window: Window, position: cython.Py_ssize_t) -> BatchHeader:
    """The same for a batch whose checksum was found to be right on its way here."""
    header: BatchHeader = whole_header(window, position)
    check_counts(header, field(header, 1) + OVERHEAD_BYTES - HEAD_BYTES)
    return header


@cython.cfunc
def whole_header(window: Window, position: cython.Py_ssize_t) -> BatchHeader:
    """The header of a batch that lies there to its end, by its own word."""
    header: BatchHeader = plausible_header(window, position)
    room: cython.Py_ssize_t = window.size_bytes - position
    size_bytes: cython.longlong = field(header, 1) + OVERHEAD_BYTES
    if size_bytes > room:
        raise DecodeError(f"a batch is {size_bytes} bytes long, {room} are there")
    return header


@cython.cfunc
@cython.exceptval(-1, check=True)
def check_counts(header: BatchHeader, records_bytes: cython.longlong) -> cython.bint:
    base_offset: cython.longlong = field(header, 0)
    compression: cython.longlong = field(header, 5)
    delta: cython.longlong = field(header, 6)
    count: cython.longlong = field(header, 12)
    # Compaction leaves gaps, so a batch may hold fewer records than its range of offsets, never more.
    if delta < 0 or not 0 <= count <= delta + 1:
        raise DecodeError(f"{count} records in {delta + 1} offsets")
    if not 0 <= base_offset <= INT64_MAX - delta - 1:
        raise DecodeError(f"no partition reaches from offset {base_offset}")
    compression &= CODEC_BITS
    if compression:
        Compression.of(compression)  # Refuses the codes that nobody has given out.
    elif count * RECORD_BYTES > records_bytes or (count == 0 and records_bytes):
        raise DecodeError(f"{count} records in {records_bytes} bytes")
    return True


@cython.cfunc
@cython.exceptval(-1, check=True)
def checksum(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.longlong:
    """CRC-32C. The library takes ``bytes``, or memory that is lent to it. Where none can be it gets copies,
    in pieces that fit a processor cache.
    """
    crc: cython.longlong = 0
    stop: cython.Py_ssize_t
    if LENDS_MEMORY and end - start > LENT_BYTES_MIN:
        start, crc = end, extend_crc32c(crc, lent(p, start, end))
    while start < end:
        stop = min(start + CHECKSUM_PIECE_BYTES, end)
        crc = extend_crc32c(crc, bytes(p[start:stop]))
        start = stop
    return crc


@cython.cfunc
def header_at(p: cython.p_const_uchar, at: cython.Py_ssize_t) -> BatchHeader:
    """A header, from bytes that the caller has found to be there."""
    if not ALLOCATES_TUPLES:
        return BatchHeader._make(HEADER.unpack(p[at : at + HEADER_BYTES]))
    header: BatchHeader = blank(BatchHeader, 13)
    fill(header, 0, big_endian(p, at, 8))
    fill(header, 1, big_endian(p, at + 8, 4))
    fill(header, 2, big_endian(p, at + 12, 4))
    fill(header, 3, big_endian(p, at + 16, 1))
    fill(header, 4, big_endian(p, at + 17, 4) & 0xFFFFFFFF)
    fill(header, 5, big_endian(p, at + 21, 2))
    fill(header, 6, big_endian(p, at + 23, 4))
    fill(header, 7, big_endian(p, at + 27, 8))
    fill(header, 8, big_endian(p, at + 35, 8))
    fill(header, 9, big_endian(p, at + 43, 8))
    fill(header, 10, big_endian(p, at + 51, 2))
    fill(header, 11, big_endian(p, at + 53, 4))
    fill(header, 12, big_endian(p, at + 57, 4))
    return header


def stamp_all(
    data: bytearray | memoryview,
    batches: Sequence[tuple[int, BatchHeader]],
    base_offset: int,
    leader_epoch: int,
) -> tuple[list[tuple[int, BatchHeader]], int, int]:
    """Write offsets and leader epoch into batches; their new headers, the offset after the last one, and the
    youngest timestamp.
    """
    held: Window = Window(data, True)
    offset: cython.longlong = base_offset
    epoch: cython.longlong = leader_epoch
    latest: cython.longlong = -1
    at: cython.Py_ssize_t
    delta: cython.longlong
    stamped: list[tuple[int, BatchHeader]] = []
    for at, header in batches:
        delta = field(header, 6)
        if not 0 <= at <= held.size_bytes - HEAD_BYTES:
            raise EncodeError(f"no batch begins at byte {at} of {held.size_bytes}")
        if not 0 <= offset <= INT64_MAX - delta - 1 or not 0 <= epoch <= INT32_MAX:
            raise EncodeError(f"a batch cannot begin at offset {offset} in leader epoch {epoch}")
        put_big_endian(held.p, at, offset, 8)
        put_big_endian(held.p, at + EPOCH_AT, epoch, 4)
        stamped.append((at, stamped_header(header, offset, epoch)))
        offset += delta + 1
        latest = max(latest, field(header, 8))
    return stamped, offset, latest


@cython.cfunc
def stamped_header(header: BatchHeader, offset: Any, epoch: Any) -> BatchHeader:
    if not ALLOCATES_TUPLES:
        return BatchHeader._make((offset, header[1], epoch, *header[3:]))
    new: BatchHeader = blank(BatchHeader, 13)
    index: cython.Py_ssize_t
    fill(new, 0, offset)
    fill(new, 1, field(header, 1))
    fill(new, 2, epoch)
    for index in range(3, 13):
        fill(new, index, field(header, index))
    return new
