"""Whose password is hashed next: one at a time, addresses in turn, and no more in line than can be served.

Hashing takes tens of milliseconds on purpose, and anybody may ask for it. So an address that asks for a
hundred waits for itself and not before others; what does not fit in line is refused at once, and costs
nothing. What the node's own people ask for has a line like an address, without a bound.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from trivium.core.behalf import Asked, act_for, now
from trivium.server.worker import Worker

WAITING_MAX: Final = 1_024
"""In all lines: at thirty hashes a second the last waits for half a minute, which clients do."""
WAITING_PER_ADDRESS_MAX: Final = 64

INSIDE: Final = ""
"""The line of what an administrator has asked for, or the node itself."""

Result = TypeVar("Result")


class _Waiting(NamedTuple):
    asked: Asked | None
    job: Callable[[], Any]
    then: Callable[[Any], None]


class PasswordQueue:
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        worker: Worker,
        waiting_max: int = WAITING_MAX,
        waiting_per_address_max: int = WAITING_PER_ADDRESS_MAX,
    ) -> None:
        self._loop = loop
        self._worker = worker
        self._waiting_max = waiting_max
        self._waiting_per_address_max = waiting_per_address_max
        self._waiting = 0
        self._lines: dict[str, deque[_Waiting]] = {}
        """By address, the one whose turn it is first."""
        self._is_busy = False

    def run(self, address: str, job: Callable[[], Result], then: Callable[[Result], None]) -> bool:
        """Run ``job`` in the thread when it is its turn; False if there is no room for it."""
        line = self._lines.get(address, ())
        if address != INSIDE and (
            self._waiting >= self._waiting_max or len(line) >= self._waiting_per_address_max
        ):
            return False
        self._lines.setdefault(address, deque()).append(_Waiting(now.asked, job, then))
        self._waiting += 1
        if not self._is_busy:
            self._begin()
        return True

    def clear(self) -> None:
        """Nobody waits any more: the node stops."""
        self._lines.clear()
        self._waiting = 0

    def _begin(self) -> None:
        address = next(iter(self._lines), None)
        if address is None:
            return
        line = self._lines.pop(address)
        waiting = line.popleft()
        if line:
            self._lines[address] = line  # behind the others
        self._waiting -= 1
        self._is_busy = True
        act_for(waiting.asked, self._worker.run, partial(self._run, waiting.job), waiting.then)

    def _run(self, job: Callable[[], Result]) -> Result:
        """In the thread. The next one begins before anybody hears of this one, and even if this one fails."""
        try:
            return job()
        finally:
            self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        self._is_busy = False
        self._begin()
