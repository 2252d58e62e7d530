"""One time by two clocks: the wall's is stored, the one that never jumps measures ages (promise R10)."""

from typing import NamedTuple

from trivium.core.ports import Clock


class Moment(NamedTuple):
    wall_ms: int
    steady_ms: int

    def recall(self, stored_ms: int) -> "Moment":
        """An earlier time, known by the wall clock only, as it looks from now."""
        return Moment(stored_ms, self.steady_ms - max(0, self.wall_ms - stored_ms))

    def since_ms(self, earlier: "Moment") -> int:
        return self.steady_ms - earlier.steady_ms


def moment(clock: Clock) -> Moment:
    return Moment(clock.wall_ms(), clock.monotonic_ms())
