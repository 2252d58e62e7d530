"""Reads records: the one place that knows how a record lies in its batch, and believes none of it.

A record, as v2 batches hold it (varint: zigzag, 7 bits a byte, at most 5 bytes; varlong: at most 10)::

    length varint | attributes int8 | timestamp delta varlong | offset delta varint
    | key length varint (-1: null) | key | value length varint (-1: null) | value
    | headers count varint | per header: name length varint | name | value length varint (-1: null) | value
"""

from __future__ import annotations

from trivium.records.compression import Compression, decompress
from trivium.records.header import LOG_APPEND_TIME_BIT, BatchHeader
from trivium.records.kernel import cython
from trivium.records.kernel.batches import CODEC_BITS, HEAD_BYTES, OVERHEAD_BYTES, proven_header
from trivium.records.kernel.integers import INT32_MAX, INT64_MAX
from trivium.records.kernel.named_tuples import ALLOCATES_TUPLES, blank, field, fill
from trivium.records.kernel.window import Window
from trivium.records.record import RECORD_BYTES_MIN, Header, Record, Section
from trivium.wire.errors import DecodeError
from trivium.wire.limits import DECOMPRESSED_BYTES_MAX, RECORD_HEADERS_MAX

if cython.compiled:
    from cython.cimports.cpython.ref import Py_REFCNT


LONG = cython.declare(cython.ulonglong, 1 << 15)
"""More than a number of two bytes can be."""


@cython.final
@cython.cclass
class Cursor:
    """Walks over the records of a section; after ``advance`` the fields are those of one record."""

    data: bytes
    window: Window | None
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

    last: Record | None
    last_but_one: Record | None

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
        self.window = None
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
        if not ALLOCATES_TUPLES:
            return Record(
                self.base_offset + self.offset_delta, self.timestamp, self.key(), self.value(), headers
            )
        record: Record = self.unused_record()
        fill(record, 0, self.base_offset + self.offset_delta)
        fill(record, 1, self.timestamp)
        fill(record, 2, self.key())
        fill(record, 3, self.value())
        fill(record, 4, headers)
        return record

    @cython.cfunc
    @cython.inline
    def unused_record(self) -> Record:
        """A ``Record`` to be filled: the last but one, if nobody but us has kept it, or else a new one.

        Making and freeing one takes as long as the parsing. Whoever walks over the records still holds the
        last one when asking for the next.
        """
        record = self.last_but_one
        if record is None or Py_REFCNT(record) > 2:  # This name and the field hold it too.
            record = blank(Record, 5)
        self.last_but_one = self.last
        self.last = record
        return record

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
    @cython.exceptval(check=False)
    def short(self) -> cython.ulonglong:
        """A number of one or two bytes, or ``LONG`` for one that is longer or does not end here.

        Nearly all are short; and as nothing can go wrong here, compilers put it in the place of the call.
        """
        position: cython.Py_ssize_t = self.position
        number: cython.ulonglong
        second: cython.ulonglong
        if position >= self.limit:
            return LONG
        number = self.p[position]
        if number < 0x80:
            self.position = position + 1
            return number
        if position + 1 >= self.limit:
            return LONG
        second = self.p[position + 1]
        if second >= 0x80:
            return LONG
        self.position = position + 2
        return (number & 0x7F) | (second << 7)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-0x7FFFFFFFFFFFFFFF, check=True)
    def varint(self) -> cython.longlong:
        number: cython.ulonglong = self.short()
        if number == LONG:
            number = self.unsigned(28, 0x0F)
        return (number >> 1) ^ -(number & 1)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-0x7FFFFFFFFFFFFFFF, check=True)
    def varlong(self) -> cython.longlong:
        number: cython.ulonglong = self.short()
        if number == LONG:
            number = self.unsigned(63, 0x01)
        return (number >> 1) ^ -(number & 1)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-2, check=True)
    def skip_bytes(self) -> cython.Py_ssize_t:
        """Move past a length and as many bytes; the length, -1 for null. The bytes end at ``position``."""
        length: cython.longlong = self.varint()
        if length < -1 or length > self.limit - self.position:
            self.refuse_bytes(length)
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
            return self.end_section()
        self.remaining -= 1
        length = self.varint()
        if length < 0 or length > self.end - self.position:
            self.refuse_record(length)
        self.body_at = self.position
        self.limit = self.position + length
        self.position += 1  # Attributes: no bit of them has a meaning yet.
        self.read_timestamp(self.varlong())
        self.after_timestamp_at = self.position
        delta = self.varint()
        if delta <= self.offset_delta or delta > self.last_offset_delta:
            self.refuse_offset(delta)
        self.offset_delta = delta
        self.key_length = self.skip_bytes()
        self.key_at = self.position - max(self.key_length, 0)
        self.value_length = self.skip_bytes()
        self.value_at = self.position - max(self.value_length, 0)
        self.headers_count = self.varint()
        if self.headers_count:
            return self.check_headers_count()
        return self.end_headers()

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def read_timestamp(self, delta: cython.longlong) -> cython.bint:
        if self.is_append_time:
            self.timestamp = self.append_timestamp
            return True
        if self.base_timestamp > INT64_MAX - delta if delta > 0 else self.base_timestamp < -INT64_MAX - delta:
            self.refuse_timestamp(delta)
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
    @cython.inline
    @cython.exceptval(-1, check=True)
    def end_headers(self) -> cython.bint:
        return True if self.position == self.limit else self.refuse_rest()

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

    # -- what may be wrong: sentences are made elsewhere than the loops run, which stay short ----------

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def end_section(self) -> cython.bint:
        if self.position != self.end:
            raise DecodeError(f"{self.end - self.position} bytes follow the last record")
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def check_headers_count(self) -> cython.bint:
        if not 0 <= self.headers_count <= min((self.limit - self.position) // 2, self.headers_max):
            raise DecodeError(f"{self.headers_count} headers in {self.limit - self.position} bytes")
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def refuse_record(self, length: cython.longlong) -> cython.bint:
        raise DecodeError(f"a record of {length} bytes, where {self.end - self.position} remain")

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def refuse_rest(self) -> cython.bint:
        raise DecodeError(f"a record has {self.limit - self.position} bytes too many")

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def refuse_timestamp(self, delta: cython.longlong) -> cython.bint:
        raise DecodeError(f"timestamp delta {delta} leaves 64 bits")

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def refuse_offset(self, delta: cython.longlong) -> cython.bint:
        raise DecodeError(f"offset delta {delta} after {self.offset_delta}, of {self.last_offset_delta}")

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def refuse_bytes(self, length: cython.longlong) -> cython.bint:
        raise DecodeError(f"{length} bytes at {self.position}, where {self.limit - self.position} remain")

    # -- what is there ---------------------------------------------------------------------------

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


@cython.cfunc
def cursor_over(window: Window, position: cython.Py_ssize_t) -> Cursor:
    """Over the records of the batch at ``position``, checked; decompressed if they have to be."""
    header: BatchHeader = proven_header(window, position)
    codec: cython.longlong = field(header, 5)
    records_count: cython.longlong = field(header, 12)
    codec &= CODEC_BITS
    if not codec or not records_count:  # One that compaction has emptied is a header and nothing else.
        return cursor_within(window, position, header)
    start: cython.Py_ssize_t = position + HEAD_BYTES
    end: cython.Py_ssize_t = position + header.batch_length + OVERHEAD_BYTES
    return Cursor(
        Section(
            decompress(Compression.of(codec), bytes(window.p[start:end]), DECOMPRESSED_BYTES_MAX),
            records_count,
            header.base_offset,
            header.last_offset_delta,
            header.base_timestamp,
            header.max_timestamp if header.attributes & LOG_APPEND_TIME_BIT else None,
        )
    )


@cython.cfunc
def cursor_within(window: Window, position: cython.Py_ssize_t, header: BatchHeader) -> Cursor:
    """Over the records of the batch at ``position``, which is whole and not compressed, where they lie."""
    append_timestamp: int | None = field(header, 8) if header.attributes & LOG_APPEND_TIME_BIT else None
    # The records' number and range of offsets have been checked with the header.
    cursor: Cursor = Cursor(
        Section(b"", 0, header.base_offset, header.last_offset_delta, header.base_timestamp, append_timestamp)
    )
    cursor.window = window
    cursor.p = window.p
    cursor.position = position + HEAD_BYTES
    cursor.end = position + header.batch_length + OVERHEAD_BYTES
    cursor.limit = cursor.end
    cursor.remaining = header.records_count
    return cursor
