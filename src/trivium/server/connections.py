"""What the connections of a node have in common: memory, patience, traffic, and who watches over them.

All of them receive into one scratch buffer, because a session takes what it needs out of it before anything
else happens.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from trivium.protocols.session import Session
from trivium.server.limits import MemoryBudget

if TYPE_CHECKING:
    from trivium.server.connection import Connection

SCRATCH_BYTES: Final = 256 << 10
"""Read at once from a socket; a request larger than that gets memory of its own."""


class SessionFactory(Protocol):
    """Makes the session of a new connection."""

    def __call__(self, connection: "Connection") -> Session: ...


class Guard(Protocol):
    """Whoever enforces the budgets that all connections share (``patrol``)."""

    def opened(self, connection: "Connection") -> None: ...
    def closed(self, connection: "Connection") -> None: ...
    def short_of_request_memory(self, connection: "Connection") -> None: ...
    def short_of_response_memory(self) -> None: ...


@dataclass(slots=True)
class Traffic:
    """Bytes of all connections of a node, since its start."""

    in_bytes: int = 0
    out_bytes: int = 0


@dataclass(slots=True)
class Patience:
    """How long a peer may take, in seconds."""

    first_request: float
    slow_sender: float
    slow_reader: float
    idle: float


class Connections:
    """What the connections of a node have in common."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        patience: Patience,
        request_memory: "MemoryBudget[Connection]",
        response_memory: "MemoryBudget[Connection]",
    ) -> None:
        self.loop = loop
        self.patience = patience
        self.requests = request_memory
        self.responses = response_memory
        self.scratch = memoryview(bytearray(SCRATCH_BYTES))
        self.traffic = Traffic()
        self.guard: Guard
        self.open: dict[Connection, None] = {}

        self._for_later: list[Callable[[], None]] = []

    def when_idle(self, call: Callable[[], None]) -> None:
        """Call it when the loop has looked for bytes and found none. If it finds some those are more urgent,
        and it is not called at all.
        """
        if not self._for_later:
            # What is called soon is called before the loop looks for bytes.
            self.loop.call_soon(self._look_once, self.traffic.in_bytes)
        self._for_later.append(call)

    def _look_once(self, in_bytes: int) -> None:
        self.loop.call_soon(self._call_if_idle, in_bytes)

    def _call_if_idle(self, in_bytes: int) -> None:
        calls, self._for_later = self._for_later, []
        if self.traffic.in_bytes == in_bytes:
            for call in calls:
                call()
