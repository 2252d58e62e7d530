"""What all Kafka sessions share: the engine behind them, the APIs, the fetch sessions, the meter."""

from collections.abc import Callable, Mapping
from typing import Protocol

from trivium.core.commands.command import Engine
from trivium.messages.schema import Response
from trivium.protocols.kafka.api import Api
from trivium.protocols.kafka.apis import APIS
from trivium.protocols.kafka.fetch_sessions import SESSIONS_MAX, FetchSessions

FRAME_BYTES_MAX = 100 << 20
"""Kafka's ``socket.request.max.bytes``."""
REQUESTS_IN_FLIGHT_MAX = 100
"""Requests of one connection that are carried out at the same time."""


class Meter(Protocol):
    """Told of every request; it has the clock that a session has not."""

    def begin(self) -> float: ...
    def end(self, api_key: int, begun: float, response: Response | None) -> None: ...


class Unmetered:
    def begin(self) -> float:
        return 0.0

    def end(self, api_key: int, begun: float, response: Response | None) -> None:
        pass


class KafkaProtocol:
    def __init__(
        self,
        engine: Engine,
        *,
        frame_bytes_max: int = FRAME_BYTES_MAX,
        requests_in_flight_max: int = REQUESTS_IN_FLIGHT_MAX,
        meter: Meter | None = None,
        now_ms: Callable[[], int] = lambda: 0,
        fetch_sessions_max: int = SESSIONS_MAX,
    ) -> None:
        """``now_ms`` is the monotonic clock; without one no fetch session ever grows old, and no login."""
        self.engine = engine
        self.apis: Mapping[int, Api] = APIS
        self.frame_bytes_max = frame_bytes_max
        self.requests_in_flight_max = requests_in_flight_max
        self.meter: Meter = meter or Unmetered()
        self.now_ms = now_ms
        self.fetch_sessions = FetchSessions(now_ms, fetch_sessions_max)
