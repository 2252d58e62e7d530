"""Goes round the connections: ends those whose time is up, and those that hold too much when memory is short.

There is one timer for all connections and not one for each: the round is due when the earliest of them is, or
when the shortest of all patiences has passed, since nothing that began after this round can be due before. A
node without connections is not woken.

Memory for requests. Whoever would hold more than there is waits, without being blamed for the time. Of those
who have been sending one request for more than ``GRACE_SECONDS`` the slowest is dropped. So that not
everybody waits for everybody, the one who waits longest may always go on.

Memory for answers. Whoever leaves most of them lying is dropped.
"""

import asyncio
from functools import partial
from typing import Final

from trivium.server.connection import Connection
from trivium.server.connections import Connections
from trivium.server.errand import Errand, report
from trivium.server.event_log import events

ROUND_SECONDS_MIN: Final = 0.05
"""Rounds are not closer to each other than that; so late may a connection be ended."""

GRACE_SECONDS: Final = 1.0
"""A request that takes no longer is nobody's fault, however short memory is."""


class Patrol:
    def __init__(self, connections: Connections) -> None:
        self._all = connections
        self._loop = connections.loop
        patience = connections.patience
        self._shortest = min(
            patience.first_request, patience.slow_sender, patience.slow_reader, patience.idle
        )
        self._timer: asyncio.TimerHandle | None = None
        self._relief: asyncio.TimerHandle | None = None
        self._waiting: dict[Connection, None] = {}
        """Those who wait for memory, the one who waits longest first."""
        self._privileged: Connection | None = None
        """The one who may go on all the same."""
        self.dropped = 0

    def stop(self) -> None:
        for timer in (self._timer, self._relief):
            if timer is not None:
                timer.cancel()
        self._timer = self._relief = None

    # -- deadlines -------------------------------------------------------------------------------

    def opened(self, connection: Connection) -> None:
        if self._timer is None:
            self._next_round(self._shortest)

    def closed(self, connection: Connection) -> None:
        self._waiting.pop(connection, None)
        if connection is self._privileged:
            self._privileged = None
        if self._waiting:
            self._let_go_on()

    def _next_round(self, seconds: float) -> None:
        errand = Errand(self._broken_off)
        self._timer = self._loop.call_later(max(seconds, ROUND_SECONDS_MIN), partial(errand.go, self._round))

    def _broken_off(self, error: Exception) -> None:
        report("going round the connections", error, f"in {self._shortest:g} s")
        if self._timer is None:
            self._next_round(self._shortest)

    def _round(self) -> None:
        self._timer = None
        now = self._loop.time()
        next_round = now + self._shortest
        for connection in list(self._all.open):
            due, reason = connection.due(now)
            if due <= now:
                if reason is None:
                    connection.drop()
                else:
                    self._drop(connection, reason)
            else:
                next_round = min(next_round, due)
        if self._all.open:
            self._next_round(next_round - now)

    def _drop(self, connection: Connection, reason: str) -> None:
        self.dropped += 1
        events.seldom("connection dropped", reason, peer=connection.peer, reason=reason)
        connection.drop()

    # -- memory ----------------------------------------------------------------------------------

    def short_of_request_memory(self, connection: Connection) -> None:
        """Memory for requests has run short, or some has come back."""
        if self._all.requests.is_over and connection.session.held_bytes:
            self._drop_slowest()
            spared = connection is self._privileged or connection.is_closed
            if self._all.requests.is_over and not spared:
                connection.is_waiting_for_memory = True
                self._waiting[connection] = None
                connection.decide_reading()
        self._let_go_on()

    def _let_go_on(self) -> None:
        privileged = self._privileged
        if privileged is not None and not privileged.session.held_bytes:
            self._privileged = None
        if not self._all.requests.is_over:
            waiting, self._waiting = self._waiting, {}
            for connection in waiting:
                self._resume(connection)
        elif self._waiting:
            if self._privileged is None:
                self._privileged = connection = next(iter(self._waiting))
                del self._waiting[connection]
                self._resume(connection)
            if self._relief is None:
                self._relief = self._loop.call_later(GRACE_SECONDS, self._relieve)

    def _relieve(self) -> None:
        self._relief = None
        if self._all.requests.is_over:
            self._drop_slowest()
        self._let_go_on()

    def _drop_slowest(self) -> None:
        now = self._loop.time()
        slow = [
            connection
            for connection in self._all.requests.held
            if connection.is_receiving and connection.receiving_for(now) > GRACE_SECONDS
        ]
        if slow:
            slowest = min(slow, key=lambda connection: connection.sender_bytes_per_second(now))
            self._all.requests.hold(slowest, 0)
            self._drop(slowest, "memory for requests ran short while it sent one slowly")

    def _resume(self, connection: Connection) -> None:
        connection.is_waiting_for_memory = False
        connection.decide_reading()

    def short_of_response_memory(self) -> None:
        largest = self._all.responses.largest()
        if largest is not None:
            # Its share counts as free at once, though the connection ends a moment later.
            self._all.responses.hold(largest, 0)
            self._drop(largest, "memory for answers ran short and it left most of them lying")
