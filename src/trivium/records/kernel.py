# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, auto_pickle=False
"""Every loop over records, in one module that is compiled when a C compiler is there.

The source is plain Python in Cython's pure mode and means the same either way (the tests hold both to it).
What keeps it safe when compiled, where a wrong index is a crash and not an ``IndexError``:

- Bytes are read through ``Cursor`` (records) and ``BlobsReader`` (Arrow) and written through ``Writer``, and
  nowhere else. Each compares with its end before it moves, so the compiler's own bounds checks are off.
- Input is ``bytes``: nobody can shrink it while a pointer looks at it.
- No arithmetic may leave 64 bits: Python's integers would grow where C's wrap around. Lengths are
  compared with what remains, never added up first.

C tells an exception by the value returned: ``exceptval`` names one that is rare, and what would
return nothing returns True.

A record, as v2 batches hold it (varint: zigzag, 7 bits a byte, at most 5 bytes; varlong: at most 10)::

    length varint | attributes int8 | timestamp delta varlong | offset delta varint
    | key length varint (-1: null) | key | value length varint (-1: null) | value
    | headers count varint | per header: name length varint | name | value length varint (-1: null) | value
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from trivium.records.record import (
    RECORD_BYTES_MIN,
    Blobs,
    Columns,
    Header,
    Packed,
    Record,
    RowColumns,
    Section,
)
from trivium.wire.errors import DecodeError, EncodeError
from trivium.wire.limits import RECORD_HEADERS_MAX

if TYPE_CHECKING:
    from trivium.records import interpreted as cython
else:
    try:
        import cython
    except ImportError:
        from trivium.records import interpreted as cython

compiled: bool = cython.compiled

INT32_MAX = cython.declare(cython.longlong, 0x7FFFFFFF)
INT64_MAX = cython.declare(cython.longlong, 0x7FFFFFFFFFFFFFFF)
VARINT_BYTES_MAX = cython.declare(cython.Py_ssize_t, 10)
NO_HEADERS = bytearray()

# From 3.14 on a tuple carries its hash, and only its own constructor prepares the place for it.
ALLOCATES_RECORDS = cython.declare(cython.bint, sys.version_info < (3, 14))

if cython.compiled:
    from cython.cimports.cpython.bytearray import PyByteArray_Resize
    from cython.cimports.cpython.ref import Py_INCREF
    from cython.cimports.cpython.tuple import PyTuple_GetItem, PyTuple_SET_ITEM
    from cython.cimports.libc.string import memcpy
    from cython.cimports.trivium.records.allocation import PyType_GenericAlloc


@cython.final
@cython.cclass
class Cursor:
    """Walks over the records of a section; after ``advance`` the fields are those of one record."""

    data: bytes
    p: cython.p_const_uchar
    position: cython.Py_ssize_t
    limit: cython.Py_ssize_t
    end: cython.Py_ssize_t
    remaining: cython.Py_ssize_t
    headers_max: cython.Py_ssize_t
    base_offset: cython.longlong
    last_offset_delta: cython.longlong
    base_timestamp: cython.longlong
    append_timestamp: cython.longlong
    is_append_time: cython.bint

    offset_delta: cython.longlong
    timestamp: cython.longlong
    body_at: cython.Py_ssize_t
    after_timestamp_at: cython.Py_ssize_t
    key_at: cython.Py_ssize_t
    key_length: cython.Py_ssize_t
    value_at: cython.Py_ssize_t
    value_length: cython.Py_ssize_t
    headers_count: cython.Py_ssize_t

    def __init__(self, section: Section) -> None:
        data: bytes = section.data
        self.data = data
        self.p = data
        self.position = 0
        self.end = len(data)
        self.limit = self.end
        self.remaining = section.records_count
        self.headers_max = RECORD_HEADERS_MAX
        self.base_offset = section.base_offset
        self.last_offset_delta = section.last_offset_delta
        self.base_timestamp = section.base_timestamp
        self.is_append_time = section.append_timestamp is not None
        self.append_timestamp = section.append_timestamp or 0
        self.offset_delta = -1
        if self.remaining < 0 or self.remaining > self.end // RECORD_BYTES_MIN:
            raise DecodeError(f"{self.remaining} records in {self.end} bytes")
        if not 0 <= self.last_offset_delta <= INT32_MAX:
            raise DecodeError(f"no batch spans {self.last_offset_delta} offsets")
        if not 0 <= self.base_offset <= INT64_MAX - self.last_offset_delta:
            raise DecodeError(f"no batch starts at offset {self.base_offset}")

    def __iter__(self) -> Cursor:
        return self

    def __next__(self) -> Record:
        if not self.advance():
            raise StopIteration
        headers: tuple[Header, ...] = self.read_headers() if self.headers_count else ()
        return new_record(
            self.base_offset + self.offset_delta, self.timestamp, self.key(), self.value(), headers
        )

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def unsigned(self, last_shift: cython.longlong, last_byte_max: cython.ulonglong) -> cython.ulonglong:
        """A number of 7 bits a byte; the byte at ``last_shift`` is the last one and has a ceiling."""
        position: cython.Py_ssize_t = self.position
        number: cython.ulonglong = 0
        byte: cython.ulonglong
        shift: cython.longlong = 0
        while True:
            if position >= self.limit:
                raise DecodeError(f"the record ends within a number, at {position}")
            byte = self.p[position]
            if shift == last_shift and byte > last_byte_max:
                raise DecodeError(f"the number before {position} has too many bits")
            number |= (byte & 0x7F) << shift
            position += 1
            if byte < 0x80:
                break
            shift += 7
        self.position = position
        return number

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-0x7FFFFFFFFFFFFFFF, check=True)
    def varint(self) -> cython.longlong:
        number: cython.ulonglong
        # One byte is a short key or none, two are most values: both without the loop.
        if self.position < self.limit and self.p[self.position] < 0x80:
            number = self.p[self.position]
            self.position += 1
        elif self.position < self.limit - 1 and self.p[self.position + 1] < 0x80:
            number = (self.p[self.position] & 0x7F) | (self.p[self.position + 1] << 7)
            self.position += 2
        else:
            number = self.unsigned(28, 0x0F)
        return (number >> 1) ^ -(number & 1)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-0x7FFFFFFFFFFFFFFF, check=True)
    def varlong(self) -> cython.longlong:
        number: cython.ulonglong = self.unsigned(63, 0x01)
        return (number >> 1) ^ -(number & 1)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-2, check=True)
    def skip_bytes(self) -> cython.Py_ssize_t:
        """Move past a length and as many bytes; the length, -1 for null. The bytes end at ``position``."""
        length: cython.longlong = self.varint()
        if length < -1 or length > self.limit - self.position:
            raise DecodeError(f"{length} bytes at {self.position}, where {self.limit - self.position} remain")
        if length > 0:
            self.position += length
        return length

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def advance(self) -> cython.bint:
        """Read the next record up to its headers. False after the last one, which must end the section."""
        length: cython.longlong
        delta: cython.longlong
        self.limit = self.end
        if self.remaining == 0:
            if self.position != self.end:
                raise DecodeError(f"{self.end - self.position} bytes follow the last record")
            return False
        self.remaining -= 1
        length = self.varint()
        if length < 0 or length > self.end - self.position:
            raise DecodeError(f"a record of {length} bytes, where {self.end - self.position} remain")
        self.body_at = self.position
        self.limit = self.position + length
        self.position += 1  # Attributes: no bit of them has a meaning yet.
        self.read_timestamp(self.varlong())
        self.after_timestamp_at = self.position
        delta = self.varint()
        if delta <= self.offset_delta or delta > self.last_offset_delta:
            raise DecodeError(f"offset delta {delta} after {self.offset_delta}, of {self.last_offset_delta}")
        self.offset_delta = delta
        self.key_length = self.skip_bytes()
        self.key_at = self.position - max(self.key_length, 0)
        self.value_length = self.skip_bytes()
        self.value_at = self.position - max(self.value_length, 0)
        self.headers_count = self.varint()
        if not 0 <= self.headers_count <= min((self.limit - self.position) // 2, self.headers_max):
            raise DecodeError(f"{self.headers_count} headers in {self.limit - self.position} bytes")
        if self.headers_count == 0 and self.position != self.limit:
            raise DecodeError(f"a record has {self.limit - self.position} bytes too many")
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def read_timestamp(self, delta: cython.longlong) -> cython.bint:
        if self.is_append_time:
            self.timestamp = self.append_timestamp
            return True
        if self.base_timestamp > INT64_MAX - delta if delta > 0 else self.base_timestamp < -INT64_MAX - delta:
            raise DecodeError(f"timestamp delta {delta} leaves 64 bits")
        self.timestamp = self.base_timestamp + delta
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def skip_header(self) -> cython.Py_ssize_t:
        """Move past a header's name, which is not null; its length. The value follows."""
        length: cython.Py_ssize_t = self.skip_bytes()
        if length < 0:
            raise DecodeError(f"a header without a name, at {self.position}")
        return length

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def end_headers(self) -> cython.bint:
        if self.position != self.limit:
            raise DecodeError(f"a record has {self.limit - self.position} bytes too many")
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def skip_headers(self) -> cython.bint:
        for _ in range(self.headers_count):
            self.skip_header()
            self.skip_bytes()
        return self.end_headers()

    @cython.cfunc
    def read_headers(self) -> tuple[Header, ...]:
        length: cython.Py_ssize_t
        headers: list[Header] = []
        for _ in range(self.headers_count):
            length = self.skip_header()
            name = self.p[self.position - length : self.position].decode("utf-8", "surrogateescape")
            length = self.skip_bytes()
            headers.append((name, None if length < 0 else self.p[self.position - length : self.position]))
        self.end_headers()
        return tuple(headers)

    @cython.cfunc
    @cython.inline
    def key(self) -> bytes | None:
        if self.key_length < 0:
            return None
        found: bytes = self.p[self.key_at : self.key_at + self.key_length]
        return found

    @cython.cfunc
    @cython.inline
    def value(self) -> bytes | None:
        if self.value_length < 0:
            return None
        found: bytes = self.p[self.value_at : self.value_at + self.value_length]
        return found


@cython.final
@cython.cclass
class Writer:
    """Appends to a block of bytes that grows before it is written to, never after."""

    data: bytearray
    p: cython.p_uchar
    position: cython.Py_ssize_t
    capacity: cython.Py_ssize_t

    def __init__(self, capacity: int) -> None:
        self.data = bytearray()
        self.position = 0
        self.capacity = 0
        self.reserve(max(capacity, 64))

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def reserve(self, size_bytes: cython.Py_ssize_t) -> cython.bint:
        """Make room for ``size_bytes`` more."""
        if size_bytes > self.capacity - self.position:
            grown: cython.Py_ssize_t = self.capacity + max(size_bytes, self.capacity)
            if cython.compiled:
                # Python's own ways to grow fill the new room with zeros, which costs as much as the records.
                PyByteArray_Resize(self.data, grown)
            else:
                self.data.extend(bytes(grown - self.capacity))
            self.p = self.data
            self.capacity = grown
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def varint(self, value: cython.longlong) -> cython.void:
        """A zigzag number, into room that the caller has reserved: 10 bytes at most."""
        number: cython.ulonglong = zigzag(value)
        while number >= 0x80:
            self.p[self.position] = (number & 0x7F) | 0x80
            self.position += 1
            number >>= 7
        self.p[self.position] = number
        self.position += 1

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def copy(
        self, source: cython.p_const_uchar, start: cython.Py_ssize_t, length: cython.Py_ssize_t
    ) -> cython.void:
        """``length`` bytes of ``source``, into room that the caller has reserved."""
        if cython.compiled:
            memcpy(self.p + self.position, source + start, length)
        else:
            self.data[self.position : self.position + length] = source[start : start + length]
        self.position += length

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def open_record(
        self,
        timestamp_delta: cython.longlong,
        offset_delta: cython.longlong,
        key_length: cython.Py_ssize_t,
        value_length: cython.Py_ssize_t,
        headers_count: cython.Py_ssize_t,
        headers_bytes: cython.Py_ssize_t,
    ) -> cython.bint:
        """Reserve room for a whole record and write its length and numbers up to the key's length."""
        body_bytes: cython.Py_ssize_t = (
            1
            + varint_bytes(timestamp_delta)
            + varint_bytes(offset_delta)
            + varint_bytes(key_length)
            + max(key_length, 0)
            + varint_bytes(value_length)
            + max(value_length, 0)
            + varint_bytes(headers_count)
            + headers_bytes
        )
        if body_bytes > INT32_MAX:
            raise EncodeError(f"no record may have {body_bytes} bytes")
        self.reserve(VARINT_BYTES_MAX + body_bytes)
        self.varint(body_bytes)
        self.p[self.position] = 0  # Attributes.
        self.position += 1
        self.varint(timestamp_delta)
        self.varint(offset_delta)
        self.varint(key_length)
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def int32(self, value: cython.longlong) -> cython.bint:
        """The low 32 bits of ``value``, little-endian, as Arrow has them."""
        self.reserve(4)
        target: cython.p_uchar = self.p
        at: cython.Py_ssize_t = self.position
        target[at] = value & 0xFF
        target[at + 1] = (value >> 8) & 0xFF
        target[at + 2] = (value >> 16) & 0xFF
        target[at + 3] = (value >> 24) & 0xFF
        self.position = at + 4
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def int64(self, value: cython.longlong) -> cython.bint:
        self.int32(value)
        return self.int32(value >> 32)

    @cython.cfunc
    @cython.inline
    def taken(self) -> bytearray:
        """What was written. It is the writer's own block: nothing may be written after it."""
        del self.data[self.position :]
        return self.data


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def zigzag(value: cython.longlong) -> cython.ulonglong:
    number: cython.ulonglong
    if value >= 0:
        number = value
        return number << 1
    number = -1 - value
    return (number << 1) | 1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def varint_bytes(value: cython.longlong) -> cython.Py_ssize_t:
    number: cython.ulonglong = zigzag(value)
    size_bytes: cython.Py_ssize_t = 1
    while number >= 0x80:
        number >>= 7
        size_bytes += 1
    return size_bytes


def parse(section: Section) -> Iterator[Record]:
    """The records of a section, made one at a time: 100 MB of the smallest ones would fill gigabytes."""
    return Cursor(section)


@cython.cfunc
@cython.inline
def new_record(offset: Any, timestamp: Any, key: Any, value: Any, headers: Any) -> Record:
    """A ``Record``. The constructor of a named tuple takes longer than all the parsing before it."""
    if not cython.compiled or not ALLOCATES_RECORDS:
        return Record(offset, timestamp, key, value, headers)
    record: Record = PyType_GenericAlloc(Record, 5)
    fill(record, 0, offset)
    fill(record, 1, timestamp)
    fill(record, 2, key)
    fill(record, 3, value)
    fill(record, 4, headers)
    return record


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def fill(record: Any, index: cython.Py_ssize_t, field: Any) -> cython.void:
    Py_INCREF(field)  # The macro takes a reference over without counting it.
    PyTuple_SET_ITEM(record, index, field)


def build(records: Sequence[Record], base_timestamp: int | None) -> Packed:
    """These records, numbered from offset delta 0 on; without a base timestamp the first one's is taken."""
    writer: Writer = Writer(64 * len(records))
    has_base: cython.bint = base_timestamp is not None
    base: cython.longlong = -1 if base_timestamp is None else base_timestamp
    latest: cython.longlong = -1
    offset_delta: cython.longlong = 0
    timestamp: cython.longlong
    for record in records:
        timestamp = field(record, 1)
        latest = max(latest, timestamp)
        if not has_base:
            base, has_base = timestamp, True
        key = field(record, 2)
        value = field(record, 3)
        headers: tuple[Header, ...] = field(record, 4)
        key_bytes: bytes = b"" if key is None else key
        value_bytes: bytes = b"" if value is None else value
        named: bytearray = encode_headers(headers) if headers else NO_HEADERS
        writer.open_record(
            difference(timestamp, base),
            offset_delta,
            -1 if key is None else len(key_bytes),
            -1 if value is None else len(value_bytes),
            len(headers),
            len(named),
        )
        writer.copy(key_bytes, 0, len(key_bytes))
        writer.varint(-1 if value is None else len(value_bytes))
        writer.copy(value_bytes, 0, len(value_bytes))
        writer.varint(len(headers))
        writer.copy(named, 0, len(named))
        offset_delta += 1
    return Packed(writer.taken(), offset_delta, base, latest)


@cython.cfunc
@cython.inline
def field(record: Any, index: cython.Py_ssize_t) -> Any:
    """A field by number. Cython looks up ``__getitem__`` by name where a tuple has a class of its own."""
    if cython.compiled:
        return cython.cast(object, PyTuple_GetItem(record, index))
    else:  # noqa: RET505 - a compiler that sees one branch only calls the rest unreachable
        return record[index]


@cython.cfunc
@cython.inline
@cython.exceptval(-0x7FFFFFFFFFFFFFFF, check=True)
def difference(timestamp: cython.longlong, base: cython.longlong) -> cython.longlong:
    if timestamp > INT64_MAX + base if base < 0 else timestamp < base - INT64_MAX:
        raise EncodeError(f"timestamps {base} and {timestamp} are too far apart for one batch")
    return timestamp - base


@cython.cfunc
def encode_headers(headers: Iterable[Header]) -> bytearray:
    writer: Writer = Writer(64)
    for name, value in headers:
        name_bytes: bytes = name.encode("utf-8", "surrogateescape")
        value_bytes: bytes = b"" if value is None else value
        writer.reserve(2 * VARINT_BYTES_MAX + len(name_bytes) + len(value_bytes))
        writer.varint(len(name_bytes))
        writer.copy(name_bytes, 0, len(name_bytes))
        writer.varint(-1 if value is None else len(value_bytes))
        writer.copy(value_bytes, 0, len(value_bytes))
    return writer.taken()


def scan_keys(section: Section) -> Iterator[tuple[int, bytes | None, bool]]:
    """Offset, key, and whether there is a value, of every record: what compaction decides by."""
    cursor: Cursor = Cursor(section)
    while cursor.advance():
        cursor.skip_headers()
        yield cursor.base_offset + cursor.offset_delta, cursor.key(), cursor.value_length >= 0


def find_timestamp(section: Section, timestamp: int) -> tuple[int, int] | None:
    """Offset and timestamp of the first record that is not older than ``timestamp``."""
    cursor: Cursor = Cursor(section)
    wanted: cython.longlong = timestamp
    while cursor.advance():
        if cursor.timestamp >= wanted:
            return cursor.base_offset + cursor.offset_delta, cursor.timestamp
        cursor.skip_headers()
    return None


def find_latest(section: Section) -> tuple[int, int] | None:
    """Offset and timestamp of the first of the youngest records."""
    cursor: Cursor = Cursor(section)
    offset_delta: cython.longlong = -1
    latest: cython.longlong = -INT64_MAX
    while cursor.advance():
        if offset_delta < 0 or cursor.timestamp > latest:
            offset_delta, latest = cursor.offset_delta, cursor.timestamp
        cursor.skip_headers()
    if offset_delta < 0:
        return None
    return cursor.base_offset + offset_delta, latest


def check(section: Section, keys_required: bool) -> int:
    """The youngest timestamp of a batch as a producer must send it: no offset left out, nothing left over."""
    cursor: Cursor = Cursor(section)
    latest: cython.longlong = -1
    keyed: cython.bint = keys_required
    # Deltas rise and stay within the last one: as many records as offsets can only be 0, 1, 2, ...
    if cursor.remaining != cursor.last_offset_delta + 1:
        raise DecodeError(f"{cursor.remaining} records for {cursor.last_offset_delta + 1} offsets")
    while cursor.advance():
        if keyed and cursor.key_length < 0:
            raise DecodeError(f"record {cursor.offset_delta} has no key, and the topic is compacted by key")
        cursor.skip_headers()
        latest = max(latest, cursor.timestamp)
    return latest


def retain(section: Section, keep: bytes, base_timestamp: int | None) -> Packed:
    """The records whose byte in ``keep`` is not zero, on another base timestamp; offset deltas stay.

    Without a base the first kept record's timestamp becomes the base, as in a batch made anew.
    """
    cursor: Cursor = Cursor(section)
    mask: cython.p_const_uchar = keep
    writer: Writer = Writer(len(section.data))
    has_base: cython.bint = base_timestamp is not None
    base: cython.longlong = -1 if base_timestamp is None else base_timestamp
    latest: cython.longlong = -1
    index: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    delta: cython.longlong
    tail_bytes: cython.Py_ssize_t
    if len(keep) != cursor.remaining:
        raise ValueError(f"{len(keep)} decisions for {cursor.remaining} records")
    while cursor.advance():
        cursor.skip_headers()
        index += 1
        if not mask[index - 1]:
            continue
        if not has_base:
            base, has_base = cursor.timestamp, True
        delta = difference(cursor.timestamp, base)
        tail_bytes = cursor.limit - cursor.after_timestamp_at
        writer.reserve(2 * VARINT_BYTES_MAX + 1 + tail_bytes)
        writer.varint(1 + varint_bytes(delta) + tail_bytes)
        writer.copy(cursor.p, cursor.body_at, 1)
        writer.varint(delta)
        writer.copy(cursor.p, cursor.after_timestamp_at, tail_bytes)
        latest = max(latest, cursor.timestamp)
        kept += 1
    return Packed(writer.taken(), kept, base, latest)


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
        self.validity = Writer(rows_count // 8 + 1)
        self.rows_count = 0
        self.nulls_count = 0
        self.offsets.int32(0)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def append(
        self, source: cython.p_const_uchar, start: cython.Py_ssize_t, length: cython.Py_ssize_t
    ) -> cython.bint:
        """``length`` bytes that the caller has found to be within ``source``; -1 is null."""
        if self.rows_count & 7 == 0:
            self.validity.reserve(1)
            self.validity.p[self.validity.position] = 0
            self.validity.position += 1
        if length < 0:
            self.nulls_count += 1
        else:
            if length > INT32_MAX - self.data.position:
                raise EncodeError(
                    "a column of an Arrow batch holds less than 2 GiB: take fewer records at once"
                )
            self.validity.p[self.rows_count >> 3] |= 1 << (self.rows_count & 7)
            self.data.reserve(length)
            self.data.copy(source, start, length)
        self.rows_count += 1
        self.offsets.int32(self.data.position)
        return True

    @cython.cfunc
    def taken(self) -> Any:
        validity = self.validity.taken() if self.nulls_count else None
        return Blobs(validity, self.offsets.taken(), self.data.taken())


def to_columns(sections: Sequence[Section]) -> Columns:
    """The records of all these sections, one after the other."""
    rows_count: cython.Py_ssize_t = 0
    data_bytes: cython.Py_ssize_t = 0
    for section in sections:
        rows_count += min(max(section.records_count, 0), len(section.data) // RECORD_BYTES_MIN)
        data_bytes += len(section.data)
    offsets: Writer = Writer(8 * rows_count)
    timestamps: Writer = Writer(8 * rows_count)
    timestamp_types: Writer = Writer(4 * rows_count)
    keys: BlobsWriter = BlobsWriter(rows_count, 0)
    values: BlobsWriter = BlobsWriter(rows_count, data_bytes)
    header_ends: Writer = Writer(4 * rows_count + 4)
    header_names: BlobsWriter = BlobsWriter(0, 0)
    header_values: BlobsWriter = BlobsWriter(0, 0)
    cursor: Cursor
    length: cython.Py_ssize_t
    header_ends.int32(0)
    for section in sections:
        cursor = Cursor(section)
        while cursor.advance():
            offsets.int64(cursor.base_offset + cursor.offset_delta)
            timestamps.int64(microseconds(cursor.timestamp))
            timestamp_types.int32(1 if cursor.is_append_time else 0)
            keys.append(cursor.p, cursor.key_at, cursor.key_length)
            values.append(cursor.p, cursor.value_at, cursor.value_length)
            if cursor.headers_count:
                for _ in range(cursor.headers_count):
                    length = cursor.skip_header()
                    header_names.append(cursor.p, cursor.position - length, length)
                    length = cursor.skip_bytes()
                    header_values.append(cursor.p, cursor.position - max(length, 0), length)
                cursor.end_headers()
            header_ends.int32(header_names.rows_count)
    return Columns(
        keys.rows_count,
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


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def microseconds(timestamp: cython.longlong) -> cython.longlong:
    """Milliseconds as microseconds; what would leave 64 bits (in 292,000 years) stays at their end."""
    if timestamp > INT64_MAX // 1000:
        return INT64_MAX
    if timestamp < -(INT64_MAX // 1000):
        return -INT64_MAX
    return timestamp * 1000


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
        self.start = read_fixed(self.offsets_p, 4 * entry, 4)
        stop = read_fixed(self.offsets_p, 4 * entry + 4, 4)
        if not 0 <= self.start <= stop <= self.limit:
            raise EncodeError(f"row {row} of an Arrow column lies outside its data")
        self.length = stop - self.start
        return True


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def read_fixed(
    p: cython.p_const_uchar, at: cython.Py_ssize_t, size_bytes: cython.longlong
) -> cython.longlong:
    """A little-endian integer of 4 or 8 bytes, at a place that the caller has checked."""
    if not cython.compiled:
        return int.from_bytes(p[at : at + size_bytes], "little", signed=True)
    number: cython.ulonglong = 0
    byte: cython.ulonglong
    i: cython.longlong
    for i in range(size_bytes):
        byte = p[at + i]
        number |= byte << (8 * i)
    unused_bits: cython.longlong = 64 - 8 * size_bytes
    signed: cython.longlong = cython.cast(cython.longlong, number << unused_bits)
    return signed >> unused_bits


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
    base = read_fixed(timestamps, 8 * first, 8)
    while at < end:
        timestamp = read_fixed(timestamps, 8 * at, 8)
        key.locate(at)
        value.locate(at)
        header_range.locate(at)
        headers_count = max(header_range.length, 0)
        headers.position = 0
        for i in range(header_range.start, header_range.start + headers_count):
            copy_header(headers, name, header, i)
        writer.open_record(
            difference(timestamp, base), at - first, key.length, value.length, headers_count, headers.position
        )
        writer.copy(key.p, key.start, max(key.length, 0))
        writer.varint(value.length)
        writer.copy(value.p, value.start, max(value.length, 0))
        writer.varint(headers_count)
        writer.copy(headers.p, 0, headers.position)
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
    writer.reserve(2 * VARINT_BYTES_MAX + name.length + max(value.length, 0))
    writer.varint(name.length)
    writer.copy(name.p, name.start, name.length)
    writer.varint(value.length)
    writer.copy(value.p, value.start, max(value.length, 0))
    return True
