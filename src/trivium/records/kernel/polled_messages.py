"""Records become the messages that an Iggy client polls.

The layout of messages is drawn in ``message``; what becomes of what is told in docs/one-truth.md.
"""

from __future__ import annotations

from trivium.records.header import CONTROL_BIT, TRANSACTIONAL_BIT, BatchHeader
from trivium.records.kernel import cython
from trivium.records.kernel.batches import CODEC_BITS, OVERHEAD_BYTES, believed_header
from trivium.records.kernel.cursor import Cursor, cursor_within
from trivium.records.kernel.header_names import LONG_HEAD
from trivium.records.kernel.integers import INT64_MAX, big_endian, put_big_endian
from trivium.records.kernel.named_tuples import field
from trivium.records.kernel.record_headers import RecordHeaders
from trivium.records.kernel.timestamps import microseconds
from trivium.records.kernel.window import Window
from trivium.records.kernel.writer import Writer
from trivium.records.kernel.xxh3 import xxh3_64
from trivium.records.message import LONG_HEADER_BYTES, SHORT_HEADER_BYTES, PolledMessages
from trivium.records.record import Section
from trivium.wire.buffer import Buffer
from trivium.wire.errors import EncodeError

CONTROL_BITS = cython.declare(cython.longlong, CONTROL_BIT)
TRANSACTION_BITS = cython.declare(cython.longlong, TRANSACTIONAL_BIT)
BITS_62 = cython.declare(cython.longlong, 0x3FFFFFFFFFFFFFFF)


@cython.final
@cython.cclass
class Messages:
    """Messages made of records, up to as many and as many bytes as a client wants."""

    place: bytes
    writer: Writer
    headers: RecordHeaders
    header_bytes: cython.Py_ssize_t
    bytes_max: cython.Py_ssize_t
    count: cython.longlong
    count_max: cython.longlong
    offset_first: cython.longlong
    offset_last: cython.longlong
    offset_next: cython.longlong

    def __init__(
        self, offset_first: int, count_max: int, bytes_max: int, header_bytes: int, place: bytes
    ) -> None:
        if header_bytes not in (SHORT_HEADER_BYTES, LONG_HEADER_BYTES) or len(place) != 8:
            raise EncodeError(f"no message has a header of {header_bytes} bytes in a place of {len(place)}")
        self.place = place
        self.writer = Writer(64)
        self.headers = RecordHeaders(header_bytes == LONG_HEADER_BYTES)
        self.header_bytes = header_bytes
        self.bytes_max = bytes_max
        self.count = 0
        self.count_max = count_max
        self.offset_first = offset_first
        self.offset_last = -1
        self.offset_next = offset_first

    def take(self, section: Section) -> bool:
        """Append the records of a section that are wanted; False when no more are."""
        return self.take_all(Cursor(section))

    def take_run(self, run: Buffer, position: int, are_some_aborted: bool) -> int:
        """The same for the batches from ``position`` on, where they lie; -1 when no more records are wanted.

        Else where it has ended: behind the last batch, or at one that has to be looked at, because it is
        compressed, a control batch, or one of a transaction while some were aborted.
        """
        window: Window = Window(run)
        at: cython.Py_ssize_t = position
        to_look_at: cython.longlong = CODEC_BITS | CONTROL_BITS
        attributes: cython.longlong
        offset_end: cython.longlong
        if are_some_aborted:
            to_look_at |= TRANSACTION_BITS
        while at < window.size_bytes:
            header: BatchHeader = believed_header(window, at)
            attributes = field(header, 5)
            if attributes & to_look_at:
                break
            offset_end = field(header, 0) + field(header, 6) + 1
            if offset_end > self.offset_first and not self.take_all(cursor_within(window, at, header)):
                return -1
            self.offset_next = max(self.offset_next, offset_end)
            at += field(header, 1) + OVERHEAD_BYTES
        return at

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def take_all(self, cursor: Cursor) -> cython.bint:
        self.make_room(cursor)
        self.headers.pattern.forget()
        while cursor.advance():
            if cursor.base_offset + cursor.offset_delta < self.offset_first:
                cursor.skip_headers()
            elif self.count >= self.count_max or not self.append(cursor):
                return False
        return True

    def pass_over(self, offset_end: int) -> None:
        """Nothing before ``offset_end`` is left to be taken."""
        self.offset_next = max(self.offset_next, offset_end)

    def taken(self) -> PolledMessages:
        return PolledMessages(self.writer.taken(), self.count, self.offset_last, self.offset_next)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def make_room(self, cursor: Cursor) -> cython.bint:
        """For as many messages as are wanted of these, if all are alike: growing costs more than writing."""
        wanted: cython.longlong = min(self.count_max - self.count, cursor.remaining)
        if wanted <= 0:
            return True
        records_bytes: cython.longlong = cursor.end - cursor.position
        message_bytes: cython.longlong = records_bytes // cursor.remaining + self.header_bytes + 32
        return self.writer.reserve(max(min(wanted * message_bytes, self.bytes_max - self.writer.position), 0))

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def append(self, cursor: Cursor) -> cython.bint:
        """A record as the next message; False if it does not fit into what the client wants."""
        writer: Writer = self.writer
        headers: RecordHeaders = self.headers
        start: cython.Py_ssize_t = writer.position
        value_length: cython.Py_ssize_t = max(cursor.value_length, 0)
        offset: cython.longlong = cursor.base_offset + cursor.offset_delta
        timestamp: cython.longlong
        headers.read(cursor)
        timestamp = self.timestamp(cursor)
        # Each part fits an int32, so their sum stays within 64 bits.
        size_bytes: cython.Py_ssize_t = self.header_bytes + value_length + headers.block.position
        if self.count and size_bytes > self.bytes_max - start:
            return False
        writer.reserve(size_bytes)
        writer.position = start + 8
        self.write_id(cursor, offset)
        writer.put_uint64(start + 24, offset)
        writer.put_uint64(start + 32, timestamp)
        writer.put_uint64(start + 40, timestamp)
        if headers.origin_at >= 0:
            writer.position = start + 40
            writer.reversed_copy(cursor.p, headers.origin_at, 8)
        writer.put_uint64(start + 48, headers.block.position | value_length << 32)
        if self.header_bytes == LONG_HEAD:
            writer.put_uint64(start + 56, 0)
        writer.position = start + self.header_bytes
        writer.copy(cursor.p, cursor.value_at, value_length)
        writer.copy(headers.block.p, 0, headers.block.position)
        writer.put_uint64(start, xxh3_64(writer.p, start + 8, size_bytes - 8))
        self.count += 1
        self.offset_last = offset
        self.offset_next = offset + 1
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def timestamp(self, cursor: Cursor) -> cython.longlong:
        """The server's microseconds. Where the log's clock counts, milliseconds are all that is known."""
        timestamp: cython.longlong = cursor.timestamp
        if timestamp < 0:
            return 0
        at: cython.Py_ssize_t = self.headers.microseconds_at
        if at < 0 or cursor.is_append_time or timestamp >= INT64_MAX // 1000:
            return microseconds(timestamp)
        return timestamp * 1000 + big_endian(cursor.p, at, 2)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def write_id(self, cursor: Cursor, offset: cython.longlong) -> cython.bint:
        """The message's own id, or one that tells where the record lies: a UUID of version 8."""
        writer: Writer = self.writer
        if self.headers.id_at >= 0:
            writer.copy(cursor.p, self.headers.id_at, 16)
            return True
        writer.copy(self.place, 0, 8)
        writer.p[writer.position - 2] = 0x80 | (writer.p[writer.position - 2] & 0x0F)
        put_big_endian(writer.p, writer.position, offset & BITS_62, 8)
        writer.p[writer.position] |= 0x80
        writer.position += 8
        return True
