"""Records that are nothing but a value, which is all that RustLog knows of a record: written and read."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.records.kernel import cython
from trivium.records.kernel.cursor import Cursor
from trivium.records.kernel.writer import Writer
from trivium.records.record import Packed, Section, TakenValues, ValuesWanted


def build_values(values: Sequence[bytes], timestamp: int) -> Packed:
    """Records of these values, numbered from offset delta 0 on, all with one timestamp."""
    writer: Writer = Writer(64 * len(values))
    offset_delta: cython.longlong = 0
    value: bytes
    for value in values:
        writer.record(0, offset_delta, value, 0, -1, value, 0, len(value), 0, value, 0)
        offset_delta += 1
    return Packed(writer.taken(), offset_delta, timestamp, timestamp)


@cython.final
@cython.cclass
class Values:
    """The values of records, with their offsets, up to as many as are wanted."""

    records: list[tuple[int, bytes]]
    count: cython.longlong
    payload_bytes: cython.longlong
    payload_bytes_max: cython.longlong
    answer_bytes_max: cython.longlong
    record_bytes: cython.longlong
    byte_bytes: cython.longlong
    takes_gaps: cython.bint
    offset_first: cython.longlong
    offset_next: cython.longlong

    def __init__(self, wanted: ValuesWanted) -> None:
        self.records = []
        self.count = 0
        self.payload_bytes = 0
        self.payload_bytes_max = wanted.payload_bytes_max
        self.answer_bytes_max = wanted.answer_bytes_max
        self.record_bytes = wanted.record_bytes
        self.byte_bytes = wanted.byte_bytes
        self.takes_gaps = wanted.takes_gaps
        self.offset_first = wanted.offset_first
        self.offset_next = wanted.offset_first

    def take(self, section: Section) -> bool:
        """Take the records of a section that are wanted; False when no more are. ``DecodeError`` may come
        after some have been taken.
        """
        cursor: Cursor = Cursor(section)
        offset: cython.longlong
        length: cython.Py_ssize_t
        while cursor.advance():
            cursor.skip_headers()
            offset = cursor.base_offset + cursor.offset_delta
            if offset < self.offset_first:
                continue
            length = max(cursor.value_length, 0)
            if self.count and not self.has_room(offset, length):
                return False
            self.records.append((offset, cursor.p[cursor.value_at : cursor.value_at + length]))
            self.count += 1
            self.payload_bytes += length
            self.offset_next = offset + 1
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def has_room(self, offset: cython.longlong, length: cython.longlong) -> cython.bint:
        payload_bytes: cython.longlong = self.payload_bytes + length
        answer_bytes: cython.longlong = self.record_bytes * (self.count + 1) + self.byte_bytes * payload_bytes
        if payload_bytes > self.payload_bytes_max or answer_bytes > self.answer_bytes_max:
            return False
        return self.takes_gaps or offset == self.offset_next

    def pass_over(self, offset_end: int) -> None:
        """Nothing before ``offset_end`` is left to be taken; it counts while nothing has been."""
        if not self.count:
            self.offset_next = max(self.offset_next, offset_end)

    def taken(self) -> TakenValues:
        return TakenValues(self.records, self.payload_bytes, self.offset_next)
