"""What is to happen in a world, and when. Nothing on it is taken back, which makes it lighter than the
core's timers: whoever does not want a thing any more does nothing when its time comes.

Two things of one time happen in the order they were put down: one seed, one history. A world has few things
ahead of it, and a sorted list of so few is quicker than a heap.
"""

from bisect import insort
from collections.abc import Callable
from typing import Any, Final

from trivium.testing.world.clock import SimulatedClock

NEVER_MS: Final = 1 << 62


class Agenda:
    def __init__(self, clock: SimulatedClock) -> None:
        self._clock = clock
        self._events: list[tuple[int, int, Callable[..., None], tuple[Any, ...]]] = []
        """When, and which of that time; the next one is the first."""
        self._count = 0

    @property
    def next_ms(self) -> int:
        return self._events[0][0] if self._events else NEVER_MS

    def after(self, delay_ms: int, action: Callable[..., None], *arguments: Any) -> None:
        self.at(self._clock.now_ms + delay_ms, action, *arguments)

    def at(self, due_ms: int, action: Callable[..., None], *arguments: Any) -> None:
        self._count += 1
        insort(self._events, (due_ms, self._count, action, arguments))

    def run_due(self) -> None:
        """Let everything happen whose time has come."""
        events, now_ms = self._events, self._clock.now_ms
        while events and events[0][0] <= now_ms:
            _, _, action, arguments = events.pop(0)
            action(*arguments)
