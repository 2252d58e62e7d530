"""What the headers of a record have in common with those of the record before.

Most records that came from Iggy have the sender's clock, and microseconds behind it, and nothing else. Where
these lie in one such record, they lie in the next, if all but their values is the same.
"""

from __future__ import annotations

from trivium.records.kernel import cython
from trivium.records.kernel.cursor import Cursor
from trivium.records.kernel.integers import big_endian
from trivium.records.kernel.text import are_same


@cython.final
@cython.cclass
class HeaderPattern:
    """The headers of one record, as the ``cursor`` that stands before them sees them."""

    at: cython.Py_ssize_t
    size_bytes: cython.Py_ssize_t
    count: cython.Py_ssize_t
    origin: cython.Py_ssize_t
    has_microseconds: cython.bint

    def __init__(self) -> None:
        self.at = -1

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def forget(self) -> cython.void:
        """The next record lies among other bytes."""
        self.at = -1

    @cython.cfunc
    @cython.exceptval(check=False)
    def learn(
        self, cursor: Cursor, origin_at: cython.Py_ssize_t, microseconds_at: cython.Py_ssize_t
    ) -> cython.void:
        """There are no headers but these two; -1: there are no microseconds."""
        self.size_bytes = cursor.limit - cursor.position
        self.count = cursor.headers_count
        self.origin = origin_at - cursor.position
        self.has_microseconds = microseconds_at >= 0
        # The clock's 8 bytes, or the 2 of the microseconds behind them, are the last of the record.
        values_end: cython.Py_ssize_t = microseconds_at + 2 if self.has_microseconds else origin_at + 8
        self.at = cursor.position if values_end == cursor.limit else -1

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def fits(self, cursor: Cursor) -> cython.bint:
        """Whether the headers of another record are the same, but for the values, and these are sound."""
        start: cython.Py_ssize_t = cursor.position
        if self.at < 0 or cursor.headers_count != self.count or cursor.limit - start != self.size_bytes:
            return False
        if not are_same(cursor.p, start, self.at, self.origin):
            return False
        if not self.has_microseconds:
            return True
        after: cython.Py_ssize_t = self.origin + 8
        end: cython.Py_ssize_t = self.size_bytes
        return (
            are_same(cursor.p, start + after, self.at + after, end - 2 - after)
            and 1 <= big_endian(cursor.p, cursor.limit - 2, 2) <= 999
        )
