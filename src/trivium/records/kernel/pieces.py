"""A key of Kafka, or the headers that Iggy cannot carry, put together again from user headers of 255 bytes.

Anybody may send such user headers: pieces that do not make a whole are no mistake, only not Kafka's.
"""

from __future__ import annotations

from trivium.records.kernel import cython
from trivium.records.kernel.header_names import FIELD_BYTES_MAX, RAW
from trivium.records.kernel.writer import Writer

PIECES_MAX = cython.declare(cython.Py_ssize_t, 400)
"""More pieces of 255 bytes than the user headers of a message have room for."""


@cython.final
@cython.cclass
class Pieces:
    """Bytes too long for one user header, gathered from the numbered ones that bring them in any order."""

    data: Writer
    seen: Writer
    count: cython.Py_ssize_t
    highest: cython.longlong
    size_bytes: cython.Py_ssize_t
    short_number: cython.longlong
    kind: cython.longlong
    is_raw: cython.bint
    is_sound: cython.bint

    def __init__(self) -> None:
        self.data = Writer(64)
        self.seen = Writer(PIECES_MAX)
        self.count = -1
        self.clear()

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def clear(self) -> cython.bint:
        i: cython.Py_ssize_t
        if self.count != 0:
            for i in range(PIECES_MAX):
                self.seen.p[i] = 0
        self.count = 0
        self.highest = -1
        self.size_bytes = 0
        self.short_number = -1
        self.kind = RAW
        self.is_raw = True
        self.is_sound = True
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def put(
        self,
        number: cython.longlong,
        kind: cython.longlong,
        source: cython.p_const_uchar,
        start: cython.Py_ssize_t,
        length: cython.Py_ssize_t,
    ) -> cython.bint:
        """Take one piece, which came as a value of this kind."""
        if not 0 <= number < PIECES_MAX or self.seen.p[number]:
            self.is_sound = False
            return True
        self.seen.p[number] = 1
        self.count += 1
        self.highest = max(self.highest, number)
        self.size_bytes += length
        self.kind = kind
        self.is_raw = self.is_raw and kind == RAW
        if length < FIELD_BYTES_MAX:
            self.is_sound = self.is_sound and self.short_number < 0
            self.short_number = number
        self.data.position = 0
        self.data.reserve(FIELD_BYTES_MAX * (number + 1))
        self.data.position = FIELD_BYTES_MAX * number
        self.data.copy(source, start, length)
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def are_whole(self) -> cython.bint:
        """Whether every piece is there, once, and all but the last are full."""
        return (
            self.is_sound
            and self.count > 0
            and self.highest == self.count - 1
            and (self.short_number < 0 or self.short_number == self.highest)
            and (self.is_raw or self.count == 1)
        )


@cython.cfunc
@cython.exceptval(-2, check=True)
def piece_number(
    p: cython.p_const_uchar, at: cython.Py_ssize_t, length: cython.Py_ssize_t, prefix: bytes
) -> cython.longlong:
    """The number that follows a dot after ``prefix``, 0 where nothing follows, -1 if it is no number."""
    number: cython.longlong = 0
    i: cython.Py_ssize_t
    start: cython.Py_ssize_t = len(prefix) + 1
    if length == start - 1:
        return 0
    if not start < length <= start + 3 or p[at + start] == ord("0"):
        return -1
    for i in range(at + start, at + length):
        if not ord("0") <= p[i] <= ord("9"):
            return -1
        number = 10 * number + p[i] - ord("0")
    return number
