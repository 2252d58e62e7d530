"""Deadlines without a clock: callbacks in the order of their due times, run when somebody tells the time.

The owner of the clock asks ``next_due_ms`` and calls ``run_due``; ``rearm`` tells it that an earlier deadline
than it knows has come up. Times are of the monotonic clock (promise R10): a jump of the wall clock
expires nobody. Two timers of one time run in the order they were set: one history, one outcome.
"""

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import count

from trivium.core.ports import Clock

_STALE_MIN = 256
"""So many cancelled timers are kept around before they are worth a clean-up."""


class Timer:
    """Cancel it, or it fires once."""

    __slots__ = ("_action", "_timers", "due_ms")

    def __init__(self, timers: "Timers", due_ms: int, action: Callable[[], None]) -> None:
        self._timers = timers
        self._action: Callable[[], None] | None = action
        self.due_ms = due_ms

    @property
    def is_pending(self) -> bool:
        return self._action is not None

    def cancel(self) -> None:
        if self._action is not None:
            self._action = None
            self._timers.forget()

    def fire(self) -> bool:
        """False if it was cancelled."""
        action = self._action
        if action is None:
            return False
        self._action = None
        action()
        return True


class Timers:
    def __init__(self, clock: Clock, rearm: Callable[[], None] = lambda: None) -> None:
        self._clock = clock
        self._heap: list[tuple[int, int, Timer]] = []
        self._order = count()
        self._stale = 0
        self.rearm = rearm

    def after(self, delay_ms: int, action: Callable[[], None]) -> Timer:
        """Call ``action`` in so many milliseconds, unless it is cancelled first."""
        timer = Timer(self, self._clock.monotonic_ms() + max(0, delay_ms), action)
        heappush(self._heap, (timer.due_ms, next(self._order), timer))
        if self._heap[0][2] is timer:
            self.rearm()
        return timer

    def forget(self) -> None:
        """One more timer in the heap is cancelled; a long poll that is answered early leaves one behind."""
        self._stale += 1
        if self._stale >= _STALE_MIN and self._stale * 2 > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[2].is_pending]
            heapify(self._heap)
            self._stale = 0

    @property
    def next_due_ms(self) -> int | None:
        heap = self._heap
        while heap:
            due_ms, _, timer = heap[0]
            if timer._action is not None:
                return due_ms
            heappop(heap)
            self._stale -= 1
        return None

    def run_due(self) -> None:
        """Fire everything whose time has come; what one of them raises is raised when all have been."""
        now_ms = self._clock.monotonic_ms()
        mistakes: list[Exception] = []
        while self._heap and self._heap[0][0] <= now_ms:
            try:
                if not heappop(self._heap)[2].fire():
                    self._stale -= 1
            except Exception as mistake:  # noqa: BLE001  (raised below)
                mistakes.append(mistake)
        if mistakes:
            raise mistakes[0] if len(mistakes) == 1 else ExceptionGroup("several timers", mistakes)
