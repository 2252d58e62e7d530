"""Records as Arrow's buffers, and Arrow's buffers as records, without an object of Python for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trivium.records.kernel import cython
from trivium.records.kernel.cursor import Cursor, cursor_over
from trivium.records.kernel.integers import INT32_MAX, little_endian
from trivium.records.kernel.timestamps import difference, microseconds
from trivium.records.kernel.window import Window
from trivium.records.kernel.writer import Writer
from trivium.records.record import Blobs, Columns, Packed, RowColumns
from trivium.wire.buffer import Buffer
from trivium.wire.errors import EncodeError


@cython.final
@cython.cclass
class BlobsWriter:
    """One Arrow column of bytes in the making."""

    data: Writer
    offsets: Writer
    validity: Writer
    rows_count: cython.Py_ssize_t
    nulls_count: cython.Py_ssize_t

    def __init__(self, rows_count: int, data_bytes: int) -> None:
        self.data = Writer(data_bytes)
        self.offsets = Writer(4 * rows_count + 4)
        self.validity = Writer(0)
        self.rows_count = 0
        self.nulls_count = 0
        self.offsets.int32(0)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def append(
        self, source: cython.p_const_uchar, start: cython.Py_ssize_t, length: cython.Py_ssize_t
    ) -> cython.bint:
        """``length`` bytes that the caller has found to be within ``source``; -1 is null."""
        if length > 0:
            if length > INT32_MAX - self.data.position:
                self.refuse()
            self.data.reserve(length)
            self.data.copy(source, start, length)
        elif length < 0:
            self.note_null()
        self.rows_count += 1
        return self.offsets.int32(self.data.position)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def refuse(self) -> cython.bint:
        raise EncodeError("a column of an Arrow batch holds less than 2 GiB: take fewer records at once")

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def note_null(self) -> cython.bint:
        """The row to come has no value. A column without such rows has no bits for them."""
        self.nulls_count += 1
        self.fill_validity(self.rows_count + 1)
        self.validity.p[self.rows_count >> 3] ^= 1 << (self.rows_count & 7)
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def fill_validity(self, rows_count: cython.Py_ssize_t) -> cython.bint:
        """Rows of which nothing was noted have a value."""
        while self.validity.position << 3 < rows_count:
            self.validity.reserve(1)
            self.validity.p[self.validity.position] = 0xFF
            self.validity.position += 1
        return True

    @cython.cfunc
    def taken(self) -> Any:
        validity: Any = None
        if self.nulls_count:
            self.fill_validity(self.rows_count)
            validity = self.validity.taken()
        return Blobs(validity, self.offsets.taken(), self.data.taken())


def to_columns(
    buffer: Buffer,
    positions: Sequence[int],
    with_keys: cython.bint = True,
    with_values: cython.bint = True,
    with_headers: cython.bint = True,
) -> Columns:
    """The records of the batches at these positions, one after the other. Each batch is checked; what is not
    compressed is read where it lies. A column that is not wanted stays empty."""
    window: Window = Window(buffer)
    cursors: list[Cursor] = [cursor_over(window, position) for position in positions]
    cursor: Cursor
    rows_count: cython.Py_ssize_t = 0
    rows_of_batch: cython.Py_ssize_t
    rows_written: cython.Py_ssize_t = 0
    data_bytes: cython.Py_ssize_t = 0
    for cursor in cursors:
        rows_count += cursor.remaining  # Not more than there are bytes for: a cursor has seen to it.
        data_bytes += cursor.end - cursor.position
    offsets: Writer = Writer(8 * rows_count)
    timestamps: Writer = Writer(8 * rows_count)
    timestamp_types: Writer = Writer(4 * rows_count)
    keys: BlobsWriter = BlobsWriter(rows_count, 0)
    values: BlobsWriter = BlobsWriter(rows_count, data_bytes if with_values else 0)
    header_ends: Writer = Writer(4 * rows_count + 4)
    header_names: BlobsWriter = BlobsWriter(0, 0)
    header_values: BlobsWriter = BlobsWriter(0, 0)
    length: cython.Py_ssize_t
    header_ends.int32(0)
    for cursor in cursors:
        rows_of_batch = cursor.remaining  # All of them are there when it has come to its end.
        while cursor.advance():
            offsets.int64(cursor.base_offset + cursor.offset_delta)
            timestamps.int64(microseconds(cursor.timestamp))
            if with_keys:
                keys.append(cursor.p, cursor.key_at, cursor.key_length)
            if with_values:
                values.append(cursor.p, cursor.value_at, cursor.value_length)
            if cursor.headers_count:
                for _ in range(cursor.headers_count):
                    length = cursor.skip_header()
                    if with_headers:
                        header_names.append(cursor.p, cursor.position - length, length)
                    length = cursor.skip_bytes()
                    if with_headers:
                        header_values.append(cursor.p, cursor.position - max(length, 0), length)
                cursor.end_headers()
            if with_headers:
                header_ends.int32(header_names.rows_count)
        timestamp_types.int32s(1 if cursor.is_append_time else 0, rows_of_batch)
        rows_written += rows_of_batch
    return Columns(
        rows_written,
        header_names.rows_count,
        offsets.taken(),
        timestamps.taken(),
        timestamp_types.taken(),
        keys.taken(),
        values.taken(),
        header_ends.taken(),
        header_names.taken(),
        header_values.taken(),
    )


@cython.final
@cython.cclass
class BlobsReader:
    """One Arrow column of bytes; ``locate`` finds an entry, and refuses one that lies outside the buffers."""

    validity: bytes
    offsets: bytes
    data: bytes
    validity_p: cython.p_const_uchar
    offsets_p: cython.p_const_uchar
    p: cython.p_const_uchar
    first: cython.Py_ssize_t
    rows_count: cython.Py_ssize_t
    limit: cython.Py_ssize_t
    is_nullable: cython.bint

    start: cython.Py_ssize_t
    length: cython.Py_ssize_t

    def __init__(self, blobs: Blobs, entries_limit: int | None = None) -> None:
        """``entries_limit``: the offsets count entries of another column, not bytes of ``data``."""
        self.is_nullable = blobs.validity is not None
        self.validity = bytes(blobs.validity or b"")
        self.offsets = bytes(blobs.offsets)
        self.data = bytes(blobs.data)
        self.validity_p = self.validity
        self.offsets_p = self.offsets
        self.p = self.data
        self.first = blobs.first
        self.limit = len(self.data) if entries_limit is None else entries_limit
        self.rows_count = max(len(self.offsets) // 4 - 1 - self.first, 0)
        if self.is_nullable:
            self.rows_count = min(self.rows_count, max(8 * len(self.validity) - self.first, 0))
        if self.first < 0:
            raise EncodeError(f"an Arrow column cannot start at entry {self.first}")

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def locate(self, row: cython.Py_ssize_t) -> cython.bint:
        """Set ``start`` and ``length`` of an entry; null has the length -1."""
        entry: cython.Py_ssize_t = self.first + row
        stop: cython.longlong
        if row < 0 or row >= self.rows_count:
            raise EncodeError(f"an Arrow column has no row {row}")
        if self.is_nullable and not self.validity_p[entry >> 3] >> (entry & 7) & 1:
            self.start, self.length = 0, -1
            return True
        self.start = little_endian(self.offsets_p, 4 * entry, 4)
        stop = little_endian(self.offsets_p, 4 * entry + 4, 4)
        if not 0 <= self.start <= stop <= self.limit:
            raise EncodeError(f"row {row} of an Arrow column lies outside its data")
        self.length = stop - self.start
        return True


def from_columns(columns: RowColumns, row: int, size_bytes_max: int) -> Packed:
    """The rows from ``row`` on, up to the last or to the one that would exceed ``size_bytes_max``.

    There is one row at least, however large.
    """
    key: BlobsReader = BlobsReader(columns.keys)
    value: BlobsReader = BlobsReader(columns.values)
    name: BlobsReader = BlobsReader(columns.header_names)
    header: BlobsReader = BlobsReader(columns.header_values)
    header_range: BlobsReader = BlobsReader(columns.header_ends, min(name.rows_count, header.rows_count))
    timestamps: cython.p_const_uchar = columns.timestamps
    writer: Writer = Writer(64)
    headers: Writer = Writer(64)
    first: cython.Py_ssize_t = row
    at: cython.Py_ssize_t = row
    end: cython.Py_ssize_t = len(columns.timestamps) // 8
    size_max: cython.Py_ssize_t = size_bytes_max
    complete: cython.Py_ssize_t = 0
    timestamp: cython.longlong
    base: cython.longlong
    latest: cython.longlong = -1
    headers_count: cython.Py_ssize_t
    i: cython.Py_ssize_t
    if not 0 <= first < end:
        raise EncodeError(f"there is no row {first} among {end}")
    base = little_endian(timestamps, 8 * first, 8)
    while at < end:
        timestamp = little_endian(timestamps, 8 * at, 8)
        key.locate(at)
        value.locate(at)
        header_range.locate(at)
        headers_count = max(header_range.length, 0)
        headers.position = 0
        for i in range(header_range.start, header_range.start + headers_count):
            copy_header(headers, name, header, i)
        writer.record(
            difference(timestamp, base),
            at - first,
            key.p,
            key.start,
            key.length,
            value.p,
            value.start,
            value.length,
            headers_count,
            headers.p,
            headers.position,
        )
        if writer.position > size_max and at > first:
            writer.position = complete
            break
        complete = writer.position
        latest = max(latest, timestamp)
        at += 1
    return Packed(writer.taken(), at - first, base, latest)


@cython.cfunc
@cython.exceptval(-1, check=True)
def copy_header(writer: Writer, name: BlobsReader, value: BlobsReader, row: cython.Py_ssize_t) -> cython.bint:
    name.locate(row)
    value.locate(row)
    if name.length < 0:
        raise EncodeError(f"header {row} has no name")
    return writer.header(name.p, name.start, name.length, value.p, value.start, value.length)
