"""What all RustLog sessions share: the engine behind them, the budgets, the counters.

The budgets are those that RustLog's own broker has (mission 004.27).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from trivium.core.commands.command import Engine
from trivium.core.ports import Clock
from trivium.core.timers import Timers
from trivium.protocols.rustlog.requests import CARRY_OUT, CarryOut
from trivium.protocols.rustlog.slow_consumer import SlowConsumer
from trivium.wire.limits import RUSTLOG_FRAME_BYTES_MAX

REQUESTS_IN_FLIGHT_MAX: Final = 100
"""Requests of one connection that are carried out at the same time. RustLog's clients send one at a time."""

FETCHES_IN_FLIGHT_MAX: Final = 2
"""Fetches among them; the connection is read no further until one of them is answered."""

CONSUMER_BYTES_PER_SECOND: Final = 10 << 20
"""Payload for a connection that fetches for a group; faster ones get their answers later."""


class Meter(Protocol):
    """Told of every request; it has the clock that a session has not."""

    def begin(self) -> float: ...
    def end(self, request: str, begun: float, error: str | None) -> None: ...


class Unmetered:
    def begin(self) -> float:
        return 0.0

    def end(self, request: str, begun: float, error: str | None) -> None:
        pass


@dataclass(slots=True)
class Counters:
    """What has passed this door since the start."""

    produced_records: int = 0
    produced_bytes: int = 0
    fetched_records: int = 0
    fetched_bytes: int = 0
    open_sessions: int = 0
    throttled: int = 0
    slow_consumers: int = 0

    def as_text(self) -> str:
        """In Prometheus' format, with the names of RustLog's broker."""
        rows = (
            ("messages_produced_total", "counter", "Records written.", self.produced_records),
            ("messages_fetched_total", "counter", "Records read.", self.fetched_records),
            ("bytes_in_total", "counter", "Payload of records written.", self.produced_bytes),
            ("bytes_out_total", "counter", "Payload of records read.", self.fetched_bytes),
            ("active_connections", "gauge", "Open connections.", self.open_sessions),
            ("throttled_consumers_total", "counter", "Fetches answered late.", self.throttled),
            ("slow_consumers_total", "counter", "Fetches of groups far behind.", self.slow_consumers),
        )
        return "".join(
            f"# HELP {name} {what}\n# TYPE {name} {kind}\n{name} {value}\n"
            for name, kind, what, value in rows
        )


class RustLogProtocol:
    def __init__(
        self,
        engine: Engine,
        clock: Clock,
        timers: Timers,
        *,
        requests_in_flight_max: int = REQUESTS_IN_FLIGHT_MAX,
        fetches_in_flight_max: int = FETCHES_IN_FLIGHT_MAX,
        consumer_bytes_per_second: int = CONSUMER_BYTES_PER_SECOND,
        frame_bytes_max: int = RUSTLOG_FRAME_BYTES_MAX,
        is_login_required: bool = False,
        meter: Meter | None = None,
        report_slow_consumer: Callable[[SlowConsumer], None] = lambda _consumer: None,
    ) -> None:
        """``consumer_bytes_per_second`` 0 is as fast as it goes."""
        self.engine = engine
        self.carry_out: Mapping[type[Any], tuple[str, CarryOut]] = CARRY_OUT
        self.clock = clock
        self.timers = timers
        self.requests_in_flight_max = requests_in_flight_max
        self.fetches_in_flight_max = fetches_in_flight_max
        self.consumer_bytes_per_second = consumer_bytes_per_second
        self.frame_bytes_max = frame_bytes_max
        self.is_login_required = is_login_required
        self.meter: Meter = meter or Unmetered()
        self.report_slow_consumer = report_slow_consumer
        self.counters = Counters()
