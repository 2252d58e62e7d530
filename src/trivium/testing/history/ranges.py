"""A set of offsets as few ranges: what has been read, of a log that is read again and again."""

from bisect import bisect_left, bisect_right


class Ranges:
    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        """All of ``[start, end)``; ranges that touch become one."""
        if start >= end:
            return
        first = bisect_left(self._ends, start)
        last = bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]

    def __contains__(self, offset: int) -> bool:
        return self.has_all(offset, offset + 1)

    def has_all(self, start: int, end: int) -> bool:
        """Whether nothing of ``[start, end)`` is missing."""
        number = bisect_right(self._starts, start) - 1
        return start >= end or (number >= 0 and end <= self._ends[number])

    def __repr__(self) -> str:
        return " ".join(f"[{start}, {end})" for start, end in zip(self._starts, self._ends, strict=True))
