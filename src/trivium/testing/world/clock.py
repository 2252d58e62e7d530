"""Time that passes when somebody says so."""

from typing import Final

EPOCH_MS: Final = 1_750_000_000_000
"""When every world begins, by the wall clock."""


class SimulatedClock:
    """The core's port ``Clock``. The wall clock goes as the other one does, unless it is made to ``jump``."""

    def __init__(self) -> None:
        self.now_ms = 0
        self._jumped_ms = 0

    def wall_ms(self) -> int:
        return EPOCH_MS + self.now_ms + self._jumped_ms

    def monotonic_ms(self) -> int:
        return self.now_ms

    def jump(self, milliseconds: int) -> None:
        self._jumped_ms += milliseconds
