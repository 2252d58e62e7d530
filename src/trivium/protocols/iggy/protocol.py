"""What all Iggy sessions share: the engine behind them, the clocks, the generation, the heartbeats."""

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from trivium.core.commands.command import Engine
from trivium.core.ports import Clock
from trivium.core.timers import Timers
from trivium.protocols.iggy.commands import HANDLERS
from trivium.protocols.iggy.dialect import Generation
from trivium.protocols.iggy.exchange import Handler
from trivium.protocols.iggy.foresight import Ready

FRAME_BYTES_MAX: Final = 100 << 20
"""A SEND_MESSAGES: as large as Kafka's ``socket.request.max.bytes``."""

STALE_AFTER: Final = 1.2
"""Heartbeats may be late by a fifth of their interval, as with Iggy's own server."""


class Meter(Protocol):
    """Told of every request; it has the clock that a session has not."""

    def begin(self) -> float: ...
    def end(self, request: str, begun: float, error: str | None) -> None: ...


class Unmetered:
    def begin(self) -> float:
        return 0.0

    def end(self, request: str, begun: float, error: str | None) -> None:
        pass


class IggyProtocol:
    def __init__(
        self,
        engine: Engine,
        clock: Clock,
        timers: Timers,
        *,
        now_us: Callable[[], int],
        generation: Generation | None = None,
        sends_wait_for_disk: bool = False,
        heartbeat_ms: int = 0,
        frame_bytes_max: int = FRAME_BYTES_MAX,
        meter: Meter | None = None,
    ) -> None:
        """``now_us`` is the wall clock, for stamping messages. ``generation``: the one that every client
        belongs to; None finds out. ``heartbeat_ms``: how often clients must send a PING, 0 for never.
        """
        self.engine = engine
        self.handlers: Mapping[int, Handler] = HANDLERS
        self.now_us = now_us
        self.is_pinned = generation is not None
        self.generation = generation or Generation.V0_8
        self.sends_wait_for_disk = sends_wait_for_disk
        self.frame_bytes_max = frame_bytes_max
        self.is_stopping = False
        """Clients are being sent away because the node stops."""
        self.ready = Ready()
        self.meter: Meter = meter or Unmetered()
        self._clock = clock
        self._timers = timers
        self._heartbeat_ms = heartbeat_ms
        self._hearts: dict[Heart, int] = {}
        """When each was last heard, in milliseconds of the monotonic clock."""

    def heard(self, heart: "Heart") -> None:
        """A client is new, or has sent a PING."""
        if not self._heartbeat_ms:
            return
        if not self._hearts:
            self._timers.after(self._heartbeat_ms, self._listen)
        self._hearts[heart] = self._clock.monotonic_ms()

    def forget(self, heart: "Heart") -> None:
        self._hearts.pop(heart, None)

    def _listen(self) -> None:
        """Give up those that have been silent for too long."""
        silent_since_ms = self._clock.monotonic_ms() - int(self._heartbeat_ms * STALE_AFTER)
        for heart in [heart for heart, heard_ms in self._hearts.items() if heard_ms < silent_since_ms]:
            del self._hearts[heart]
            heart.stopped()
        if self._hearts:
            self._timers.after(self._heartbeat_ms, self._listen)


class Heart(Protocol):
    """Somebody who has to send a PING now and then."""

    def stopped(self) -> None:
        """It has not, for too long."""
        ...
