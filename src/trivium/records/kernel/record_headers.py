"""What key and headers of a record, and a missing value, become: user headers of a message.

The way back is ``user_headers``.
"""

from __future__ import annotations

from trivium.records.kernel import cython
from trivium.records.kernel.cursor import Cursor
from trivium.records.kernel.header_names import (
    BOOL,
    EMPTY_KEY,
    ESCAPE,
    FIELD_BYTES_MAX,
    ID,
    IGGY_PREFIX,
    KEY,
    MICROSECONDS,
    ORIGIN,
    PLAIN_TYPE,
    RAW,
    REST,
    STRING,
    TOMBSTONE,
    TYPES,
    YES,
    fits,
    is_kafkas_own,
    is_plain,
)
from trivium.records.kernel.header_pattern import HeaderPattern
from trivium.records.kernel.integers import big_endian, u64_at
from trivium.records.kernel.text import begins, equals, hex_digit, is_text
from trivium.records.kernel.writer import VARINT_BYTES_MAX, Writer

# How a record's header travels: as it is, with its name unescaped, or among the rest.
PLAIN = cython.declare(cython.longlong, 0)
ESCAPED_TEXT = cython.declare(cython.longlong, 1)
ESCAPED_BYTES = cython.declare(cython.longlong, 2)
AWKWARD = cython.declare(cython.longlong, 3)


@cython.final
@cython.cclass
class RecordHeaders:
    """The user headers that one record after the other becomes, in ``block``.

    A record's headers are walked over twice: first to find those that only Iggy has a use for (id, the
    sender's clock, microseconds, types), then to write all others. Of the former it is noted where the
    value lies, -1 if there is none.
    """

    has_key_kinds: cython.bint
    pattern: HeaderPattern
    block: Writer
    rest: Writer
    label: Writer

    id_at: cython.Py_ssize_t
    origin_at: cython.Py_ssize_t
    microseconds_at: cython.Py_ssize_t
    types_at: cython.Py_ssize_t
    types_length: cython.Py_ssize_t
    others_count: cython.Py_ssize_t

    name_at: cython.Py_ssize_t
    name_length: cython.Py_ssize_t
    value_at: cython.Py_ssize_t
    value_length: cython.Py_ssize_t

    def __init__(self, has_key_kinds: bool) -> None:
        self.has_key_kinds = has_key_kinds
        self.pattern = HeaderPattern()
        self.block = Writer(64)
        self.rest = Writer(64)
        self.label = Writer(64)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def read(self, cursor: Cursor) -> cython.bint:
        """Fill ``block`` with what the record's key, headers and missing value are in Iggy."""
        kind: cython.longlong
        self.block.position = 0
        self.rest.position = 0
        self.id_at = -1
        self.origin_at = -1
        self.microseconds_at = -1
        self.types_at = -1
        self.types_length = 0
        self.others_count = 0
        if self.pattern.fits(cursor):
            self.origin_at = cursor.position + self.pattern.origin
            if self.pattern.has_microseconds:
                self.microseconds_at = cursor.limit - 2
        elif cursor.headers_count:
            self.find_own(cursor)
        if cursor.value_length < 0:
            self.user_header(STRING, TOMBSTONE, 0, len(TOMBSTONE), BOOL, YES, 0, 1)
        if cursor.key_length == 0:
            self.user_header(STRING, EMPTY_KEY, 0, len(EMPTY_KEY), BOOL, YES, 0, 1)
        elif 0 < cursor.key_length <= FIELD_BYTES_MAX:
            kind = self.key_kind(cursor)
            self.user_header(STRING, KEY, 0, len(KEY), kind, cursor.p, cursor.key_at, cursor.key_length)
        elif cursor.key_length > 0:
            self.pieces(KEY, RAW, cursor.p, cursor.key_at, cursor.key_length)
        if self.others_count:
            self.map_others(cursor)
        else:
            cursor.position = cursor.limit
        if self.rest.position:
            self.pieces(REST, RAW, self.rest.p, 0, self.rest.position)
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def next_header(self, cursor: Cursor) -> cython.bint:
        self.name_length = cursor.skip_header()
        self.name_at = cursor.position - self.name_length
        self.value_length = cursor.skip_bytes()
        self.value_at = cursor.position - max(self.value_length, 0)
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def find_own(self, cursor: Cursor) -> cython.bint:
        """Look through all headers for those that only Iggy has a use for; of each name the first counts."""
        start: cython.Py_ssize_t = cursor.position
        p: cython.p_const_uchar = cursor.p
        for _ in range(cursor.headers_count):
            self.next_header(cursor)
            self.others_count += 1
            if not begins(p, self.name_at, self.name_length, IGGY_PREFIX):
                continue
            if self.is_first(p, ORIGIN, 8, self.origin_at):
                self.origin_at = self.value_at
            elif self.is_first(p, ID, 16, self.id_at):
                if u64_at(p, self.value_at) or u64_at(p, self.value_at + 8):
                    self.id_at = self.value_at
            elif self.is_first(p, MICROSECONDS, 2, self.microseconds_at):
                if 1 <= big_endian(p, self.value_at, 2) <= 999:
                    self.microseconds_at = self.value_at
            elif self.value_length > 0 and self.is_first(p, TYPES, self.value_length, self.types_at):
                self.types_at = self.value_at
                self.types_length = self.value_length
        cursor.end_headers()
        self.others_count -= (
            (self.origin_at >= 0) + (self.id_at >= 0) + (self.microseconds_at >= 0) + (self.types_at >= 0)
        )
        cursor.position = start
        if self.types_at >= 0 and not self.types_are_true(cursor):
            self.types_at = -1
            self.types_length = 0
            self.others_count += 1
        cursor.position = start
        if self.others_count == 0 and self.id_at < 0 and self.types_at < 0 and self.origin_at >= 0:
            self.pattern.learn(cursor, self.origin_at, self.microseconds_at)
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def is_first(
        self, p: cython.p_const_uchar, name: bytes, size_bytes: cython.Py_ssize_t, found_at: cython.Py_ssize_t
    ) -> cython.bint:
        """Whether the header at hand is ``name``, has its size, and no earlier one was found."""
        return (
            found_at < 0
            and self.value_length == size_bytes
            and equals(p, self.name_at, self.name_length, name)
        )

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def is_own(self) -> cython.bint:
        """Whether the header at hand is one of those that ``find_own`` found; an empty one cannot be."""
        return self.value_length > 0 and (
            self.value_at == self.origin_at
            or self.value_at == self.id_at
            or self.value_at == self.microseconds_at
            or self.value_at == self.types_at
        )

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def types_are_true(self, cursor: Cursor) -> cython.bint:
        """Whether the types that somebody has written down can be those of these headers."""
        index: cython.Py_ssize_t = 0
        kinds: cython.longlong
        key_kinds: cython.longlong
        if self.types_length == self.others_count + 1:
            key_kinds = cursor.p[self.types_at + self.others_count]
            if key_kinds >> 4 != STRING or not fits(key_kinds & 15, cursor.key_length):
                return False
        elif self.types_length != self.others_count:
            return False
        for _ in range(cursor.headers_count):
            self.next_header(cursor)
            if self.is_own():
                continue
            kinds = cursor.p[self.types_at + index]
            if kinds != PLAIN_TYPE and self.form(cursor, kinds) == AWKWARD:
                return False
            index += 1
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def key_kind(self, cursor: Cursor) -> cython.longlong:
        if self.types_length > self.others_count:
            kinds: cython.longlong = cursor.p[self.types_at + self.others_count]
            return kinds & 15
        return RAW

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def form(self, cursor: Cursor, kinds: cython.longlong) -> cython.longlong:
        """How the header at hand travels, if its key and value are of these kinds."""
        p: cython.p_const_uchar = cursor.p
        escape_bytes: cython.Py_ssize_t = len(ESCAPE)
        at: cython.Py_ssize_t = self.name_at + escape_bytes
        length: cython.Py_ssize_t = self.name_length - escape_bytes
        i: cython.Py_ssize_t
        if not fits(kinds & 15, self.value_length):
            return AWKWARD
        if kinds >> 4 == STRING:
            if is_plain(p, self.name_at, self.name_length, self.value_length):
                return PLAIN
            if not begins(p, self.name_at, self.name_length, ESCAPE):
                return AWKWARD
            if not begins(p, at, length, IGGY_PREFIX) and not is_kafkas_own(p, at, length):
                return AWKWARD
            return ESCAPED_TEXT if length <= FIELD_BYTES_MAX and is_text(p, at, length) else AWKWARD
        if not begins(p, self.name_at, self.name_length, ESCAPE) or length % 2:
            return AWKWARD
        if not fits(kinds >> 4, length // 2):
            return AWKWARD
        for i in range(at, at + length):
            if hex_digit(p[i]) < 0:
                return AWKWARD
        if self.has_key_kinds:
            return ESCAPED_BYTES
        # Keys were text before they had kinds: the name in Kafka is all that such a client can be shown.
        return PLAIN if self.name_length <= FIELD_BYTES_MAX else AWKWARD

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def map_others(self, cursor: Cursor) -> cython.bint:
        index: cython.Py_ssize_t = 0
        kinds: cython.longlong
        form: cython.longlong
        for _ in range(cursor.headers_count):
            self.next_header(cursor)
            if self.is_own():
                continue
            kinds = cursor.p[self.types_at + index] if self.types_at >= 0 else PLAIN_TYPE
            form = self.form(cursor, kinds)
            if form == AWKWARD:
                self.rest.reserve(VARINT_BYTES_MAX)
                self.rest.varint(index)
                self.rest.header(
                    cursor.p, self.name_at, self.name_length, cursor.p, self.value_at, self.value_length
                )
            else:
                self.map_header(cursor, form, kinds)
            index += 1
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def map_header(self, cursor: Cursor, form: cython.longlong, kinds: cython.longlong) -> cython.bint:
        p: cython.p_const_uchar = cursor.p
        kind: cython.longlong = kinds & 15
        escape_bytes: cython.Py_ssize_t = len(ESCAPE)
        at: cython.Py_ssize_t = self.name_at
        length: cython.Py_ssize_t = self.name_length
        i: cython.Py_ssize_t
        if form == PLAIN:
            return self.user_header(STRING, p, at, length, kind, p, self.value_at, self.value_length)
        at += escape_bytes
        length -= escape_bytes
        if form == ESCAPED_TEXT:
            return self.user_header(STRING, p, at, length, kind, p, self.value_at, self.value_length)
        self.label.position = 0
        self.label.reserve(length // 2)
        for i in range(at, at + length, 2):
            self.label.p[self.label.position] = hex_digit(p[i]) << 4 | hex_digit(p[i + 1])
            self.label.position += 1
        return self.user_header(
            kinds >> 4, self.label.p, 0, length // 2, kind, p, self.value_at, self.value_length
        )

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def pieces(
        self,
        name: bytes,
        kind: cython.longlong,
        source: cython.p_const_uchar,
        start: cython.Py_ssize_t,
        length: cython.Py_ssize_t,
    ) -> cython.bint:
        """As many user headers as it takes: ``name``, ``name.1``, ``name.2``…"""
        number: cython.longlong = 0
        part_bytes: cython.Py_ssize_t
        while length > 0:
            part_bytes = min(length, FIELD_BYTES_MAX)
            self.label.position = 0
            self.label.reserve(len(name) + 1 + VARINT_BYTES_MAX)
            self.label.copy(name, 0, len(name))
            if number:
                self.label.p[self.label.position] = ord(".")
                self.label.position += 1
                self.label.decimal(number)
            self.user_header(STRING, self.label.p, 0, self.label.position, kind, source, start, part_bytes)
            start += part_bytes
            length -= part_bytes
            number += 1
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def user_header(
        self,
        key_kind: cython.longlong,
        key: cython.p_const_uchar,
        key_at: cython.Py_ssize_t,
        key_length: cython.Py_ssize_t,
        value_kind: cython.longlong,
        value: cython.p_const_uchar,
        value_at: cython.Py_ssize_t,
        value_length: cython.Py_ssize_t,
    ) -> cython.bint:
        block: Writer = self.block
        block.reserve(10 + key_length + value_length)
        if self.has_key_kinds:
            block.p[block.position] = key_kind
            block.position += 1
        block.int32(key_length)
        block.copy(key, key_at, key_length)
        block.p[block.position] = value_kind
        block.position += 1
        block.int32(value_length)
        block.copy(value, value_at, value_length)
        return True
