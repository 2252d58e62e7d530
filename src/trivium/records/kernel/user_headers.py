"""What the user headers of a message become: key and headers of a record, and whether it has a value.

The way back is ``record_headers``.
"""

from __future__ import annotations

from trivium.records.kernel import cython
from trivium.records.kernel.cursor import Cursor
from trivium.records.kernel.header_names import (
    BOOL,
    EMPTY_KEY,
    ESCAPE,
    IGGY_PREFIX,
    KEY,
    PLAIN_TYPE,
    RAW,
    REST,
    STRING,
    TOMBSTONE,
    fits,
    is_kafkas_own,
    is_plain,
)
from trivium.records.kernel.integers import u32_at
from trivium.records.kernel.pieces import Pieces, piece_number
from trivium.records.kernel.text import begins, equals, is_text
from trivium.records.kernel.writer import VARINT_BYTES_MAX, Writer
from trivium.records.message import BadMessages, Flaw
from trivium.records.record import Section
from trivium.wire.errors import DecodeError


@cython.final
@cython.cclass
class UserHeaders:
    """The user headers of one message on their way to become key and headers of a record.

    They are walked over twice: first to find what stands for Kafka's own (key, missing value, headers that
    Iggy cannot carry), then to write all others. What only looks like Kafka's own is one of the others.
    """

    p: cython.p_const_uchar
    position: cython.Py_ssize_t
    end: cython.Py_ssize_t
    has_key_kinds: cython.bint

    key_kind: cython.longlong
    key_at: cython.Py_ssize_t
    key_length: cython.Py_ssize_t
    value_kind: cython.longlong
    value_at: cython.Py_ssize_t
    value_length: cython.Py_ssize_t

    key: Pieces
    rest: Pieces
    rest_cursor: Cursor | None
    rest_index: cython.longlong
    others_count: cython.Py_ssize_t
    empty_keys_count: cython.Py_ssize_t
    tombstones_count: cython.Py_ssize_t
    is_key: cython.bint
    is_empty_key: cython.bint
    is_tombstone: cython.bint
    is_rest: cython.bint

    named: Writer
    named_count: cython.Py_ssize_t
    types: Writer
    is_typed: cython.bint

    def __init__(self) -> None:
        self.key = Pieces()
        self.rest = Pieces()
        self.rest_cursor = None
        self.named = Writer(64)
        self.types = Writer(64)
        self.clear()

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def clear(self) -> cython.bint:
        self.key.clear()
        self.rest.clear()
        self.rest_index = -1
        self.others_count = 0
        self.empty_keys_count = 0
        self.tombstones_count = 0
        self.is_key = False
        self.is_empty_key = False
        self.is_tombstone = False
        self.is_rest = False
        self.named.position = 0
        self.named_count = 0
        self.types.position = 0
        self.is_typed = False
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def read(
        self,
        p: cython.p_const_uchar,
        start: cython.Py_ssize_t,
        length: cython.Py_ssize_t,
        has_key_kinds: cython.bint,
        has_payload: cython.bint,
    ) -> cython.bint:
        self.clear()
        if length == 0:
            return True
        self.p = p
        self.position = start
        self.end = start + length
        self.has_key_kinds = has_key_kinds
        while self.advance():
            self.look()
        self.is_key = self.key.are_whole()
        self.is_empty_key = self.empty_keys_count == 1 and self.key.count == 0 and self.key.is_sound
        self.is_tombstone = self.tombstones_count == 1 and not has_payload
        if self.is_key:
            self.others_count -= self.key.count
        self.others_count -= self.is_empty_key + self.is_tombstone
        self.is_rest = self.rest.are_whole() and self.rest.is_raw and self.rest_is_sound()
        self.position = start
        while self.advance():
            if not self.is_kafkas():
                self.write_rest()
                self.write_header()
        self.write_rest()
        if self.is_key and self.key.kind != RAW:
            self.write_type(STRING << 4 | self.key.kind)
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def record_key_length(self) -> cython.Py_ssize_t:
        """Of the key that the user headers brought; -1 is none."""
        if self.is_key:
            return self.key.size_bytes
        return 0 if self.is_empty_key else -1

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def advance(self) -> cython.bint:
        if self.position == self.end:
            return False
        self.key_kind = self.take_kind() if self.has_key_kinds else STRING
        self.key_length = self.take_length(self.key_kind, True)
        self.key_at = self.position
        self.position += self.key_length
        if self.key_kind == STRING and not is_text(self.p, self.key_at, self.key_length):
            raise BadMessages(Flaw.HEADER_KEY, "the key of a user header is not UTF-8")
        self.value_kind = self.take_kind()
        self.value_length = self.take_length(self.value_kind, False)
        self.value_at = self.position
        self.position += self.value_length
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def take_kind(self) -> cython.longlong:
        if self.position >= self.end:
            raise BadMessages(Flaw.HEADER_KIND, "the user headers end before a kind")
        kind: cython.longlong = self.p[self.position]
        if not 1 <= kind <= 15:
            raise BadMessages(Flaw.HEADER_KIND, f"no user header has a part of kind {kind}")
        self.position += 1
        return kind

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def take_length(self, kind: cython.longlong, is_key: cython.bint) -> cython.longlong:
        length: cython.longlong = -1
        if self.end - self.position >= 4:
            length = u32_at(self.p, self.position)
            self.position += 4
        if not fits(kind, length) or length > self.end - self.position:
            raise BadMessages(
                Flaw.HEADER_KEY if is_key else Flaw.HEADER_VALUE,
                f"{length} bytes of kind {kind} in user headers, where {self.end - self.position} remain",
            )
        return length

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def look(self) -> cython.bint:
        """Note what one user header may stand for."""
        self.others_count += 1
        if self.key_kind != STRING or not is_kafkas_own(self.p, self.key_at, self.key_length):
            return True
        if equals(self.p, self.key_at, self.key_length, TOMBSTONE):
            self.tombstones_count += 1 if self.is_yes() else 2
        elif equals(self.p, self.key_at, self.key_length, EMPTY_KEY):
            self.empty_keys_count += 1 if self.is_yes() else 2
        elif begins(self.p, self.key_at, self.key_length, KEY):
            self.gather(self.key, KEY)
        else:
            self.gather(self.rest, REST)
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def is_yes(self) -> cython.bint:
        return self.value_kind == BOOL and self.p[self.value_at] == 1

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def gather(self, pieces: Pieces, prefix: bytes) -> cython.bint:
        number: cython.longlong = piece_number(self.p, self.key_at, self.key_length, prefix)
        return pieces.put(number, self.value_kind, self.p, self.value_at, self.value_length)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def is_kafkas(self) -> cython.bint:
        """Whether this user header has been understood as one of Kafka's own."""
        if self.key_kind != STRING or not is_kafkas_own(self.p, self.key_at, self.key_length):
            return False
        if equals(self.p, self.key_at, self.key_length, TOMBSTONE):
            return self.is_tombstone
        if equals(self.p, self.key_at, self.key_length, EMPTY_KEY):
            return self.is_empty_key
        if begins(self.p, self.key_at, self.key_length, KEY):
            return self.is_key
        return self.is_rest

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def rest_is_sound(self) -> cython.bint:
        """Whether the gathered bytes are headers, each with its place, that could not travel otherwise."""
        last: cython.longlong = -1
        index: cython.longlong
        count: cython.Py_ssize_t = 0
        name_at: cython.Py_ssize_t
        name_length: cython.Py_ssize_t
        value_length: cython.Py_ssize_t
        cursor: Cursor = Cursor(Section(bytes(self.rest.data.p[: self.rest.size_bytes]), 0, 0, 0, 0, None))
        try:
            while cursor.position < cursor.end:
                index = cursor.varint()
                name_length = cursor.skip_header()
                name_at = cursor.position - name_length
                value_length = cursor.skip_bytes()
                if index <= last or begins(cursor.p, name_at, name_length, IGGY_PREFIX):
                    return False
                if is_plain(cursor.p, name_at, name_length, value_length):
                    return False
                last = index
                count += 1
        except DecodeError:
            return False
        if last >= self.others_count - self.rest.count + count:
            return False
        cursor.position = 0
        self.rest_cursor = cursor
        self.rest_index = cursor.varint()
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def write_rest(self) -> cython.bint:
        """The headers that Iggy could not carry and whose place is here."""
        start: cython.Py_ssize_t
        cursor: Cursor | None = self.rest_cursor
        if not self.is_rest or cursor is None:
            return True
        while self.rest_index == self.named_count:
            start = cursor.position
            cursor.skip_header()
            cursor.skip_bytes()
            self.named.reserve(cursor.position - start)
            self.named.copy(cursor.p, start, cursor.position - start)
            self.named_count += 1
            self.write_type(PLAIN_TYPE)
            self.rest_index = cursor.varint() if cursor.position < cursor.end else -1
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def write_header(self) -> cython.bint:
        writer: Writer = self.named
        i: cython.Py_ssize_t
        escape_bytes: cython.Py_ssize_t = len(ESCAPE)
        writer.reserve(2 * VARINT_BYTES_MAX + escape_bytes + 2 * self.key_length + self.value_length)
        if self.key_kind != STRING:
            writer.varint(escape_bytes + 2 * self.key_length)
            writer.copy(ESCAPE, 0, escape_bytes)
            for i in range(self.key_at, self.key_at + self.key_length):
                writer.hex_byte(self.p[i])
        elif begins(self.p, self.key_at, self.key_length, IGGY_PREFIX) or is_kafkas_own(
            self.p, self.key_at, self.key_length
        ):
            writer.varint(escape_bytes + self.key_length)
            writer.copy(ESCAPE, 0, escape_bytes)
            writer.copy(self.p, self.key_at, self.key_length)
        else:
            writer.varint(self.key_length)
            writer.copy(self.p, self.key_at, self.key_length)
        writer.varint(self.value_length)
        writer.copy(self.p, self.value_at, self.value_length)
        self.named_count += 1
        return self.write_type(self.key_kind << 4 | self.value_kind)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def write_type(self, kinds: cython.longlong) -> cython.bint:
        self.types.reserve(1)
        self.types.p[self.types.position] = kinds
        self.types.position += 1
        self.is_typed = self.is_typed or kinds != PLAIN_TYPE
        return True
