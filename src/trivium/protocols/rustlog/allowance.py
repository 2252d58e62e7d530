"""How fast a consumer may read: so many bytes a second, and one second's worth at once."""


class Allowance:
    """Times are milliseconds of the monotonic clock."""

    __slots__ = ("_bytes_per_second", "_filled_at_ms", "_left_bytes")

    def __init__(self, bytes_per_second: int, now_ms: int) -> None:
        self._bytes_per_second = bytes_per_second
        self._left_bytes = float(bytes_per_second)
        self._filled_at_ms = now_ms

    def spend(self, size_bytes: int, now_ms: int) -> int:
        """Take so many bytes, and wait for so many milliseconds with giving them out."""
        rate = self._bytes_per_second
        earned_bytes = (now_ms - self._filled_at_ms) * rate / 1000
        self._filled_at_ms = now_ms
        self._left_bytes = min(rate, self._left_bytes + earned_bytes) - size_bytes
        return 0 if self._left_bytes >= 0 else int(-self._left_bytes * 1000 / rate) + 1
