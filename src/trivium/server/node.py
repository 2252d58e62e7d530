"""A node: log, core and protocols put together, started and stopped. Nothing is decided here.

A start binds its ports first (a busy one is found before anything is touched), opens the log, builds the core
on it, and listens last of all: who can connect is served. A stop is the same backwards: nobody new, answers
to what is under way, then the log.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

from trivium.core.metadata_cluster import Listener as Registered
from trivium.core.timers import Timers
from trivium.log.files import Files, RealFiles
from trivium.log.store import LogStore
from trivium.server.assembly import Assembly
from trivium.server.clock import SystemClock
from trivium.server.configuration.address import Address
from trivium.server.configuration.configuration import (
    Configuration,
    Listener,
    Protocol,
)
from trivium.server.connection import Connection
from trivium.server.connections import Connections, Patience
from trivium.server.console import METRICS_TYPE, Console, Page, sentence
from trivium.server.event_log import events
from trivium.server.exposure import refuse_open_doors
from trivium.server.limits import Admission, MemoryBudget
from trivium.server.listeners import Door, bind, descriptors_for_connections, start_listening
from trivium.server.metrics import Durations, as_text, prepare
from trivium.server.node_data import NodeData
from trivium.server.patrol import Patrol
from trivium.server.speakers import Speakers

if TYPE_CHECKING:
    from trivium.server.certificates import Certificates
    from trivium.server.kerberos import Keytab

STRAYS_SHOWN_MAX = 20
"""Names in one line of the log."""

STOP_SECONDS_MAX = 2.0
"""So long a stopping node waits for clients to take their last answers."""


class Node:
    """``start`` it in a running loop; ``stop`` it for a clean shutdown."""

    def __init__(self, configuration: Configuration, files: Files | None = None) -> None:
        self._configuration = configuration
        self._files = files or RealFiles()
        self._clock = SystemClock()
        self._sockets: list[tuple[Listener, list[socket.socket]]] = []
        self._certificates: dict[Listener, Certificates] = {}
        self._console: Console | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._log_is_open = False
        self.store: LogStore
        self.doors: list[Door] = []
        self.lateness = Durations()
        self.is_serving = False
        self.when_lost: Callable[[str], None] = lambda _reason: None
        """Told why, when the node can no longer do its work and should be stopped."""
        self.addresses: dict[Protocol, list[Address]] = {}

    # -- starting --------------------------------------------------------------------------------

    async def start(self) -> None:
        """Serve, or raise ``CannotListen`` or ``LogError`` with a sentence and leave nothing behind."""
        self._loop = asyncio.get_running_loop()
        with ExitStack() as undo:
            undo.callback(self._close_log)
            undo.callback(self._close_doors)
            for listener in self._configuration.listeners:
                if listener.protocol in _SERVED:
                    self._read_certificates(listener)
                    self._sockets.append((listener, bind(listener.address)))
            keytab = self._read_keytab()
            refuse_open_doors(self._configuration)
            self._open_log()
            self._report_opening()
            self._build_core(keytab)
            await self._data.settle(self.cluster, self._registered_listeners())
            await self.assembly.resume([listener for listener, _ in self._sockets if _has_users(listener)])
            self._data.start()
            await self._listen()
            undo.pop_all()
        self.is_serving = True

    def _read_certificates(self, listener: Listener) -> None:
        if listener.tls is not None:
            from trivium.server.certificates import Certificates  # most nodes start without

            self._certificates[listener] = Certificates(listener.tls, self._loop.time)

    def _read_keytab(self) -> "Keytab | None":
        if self._configuration.kerberos is None:
            return None
        from trivium.server.kerberos import Keytab  # few nodes need it

        return Keytab(self._configuration.kerberos)

    def _open_log(self) -> None:
        self._timers = Timers(self._clock, self._rearm)
        self._data = NodeData(self._loop, self._configuration, self._files, self._clock, self._timers)
        self._data.when_lost = lambda reason: self.when_lost(reason)
        self._log_is_open = True
        self.store, self.storage, self.meta = self._data.store, self._data.storage, self._data.meta

    def _build_core(self, keytab: "Keytab | None") -> None:
        self.assembly = assembly = Assembly(
            self._loop, self._configuration, self._data, self._clock, self._timers, keytab
        )
        self.broker, self.cluster = assembly.broker, assembly.cluster
        self.speakers = Speakers(
            assembly.broker,
            self._configuration,
            self._data.settings,
            self._clock,
            self._timers,
            assembly.budgets,
        )

    def _registered_listeners(self) -> dict[str, Registered]:
        """How others reach this node, for the metadata. One that listens everywhere is known by its name."""
        listeners = {}
        for listener, sockets in self._sockets:
            if listener.protocol in (Protocol.KAFKA, Protocol.AUTO):
                port = sockets[0].getsockname()[1]
                at = listener.advertised or Address(listener.address.host or socket.gethostname(), port)
                listeners[listener.name] = Registered(at.host, at.port, listener.security.value)
        return listeners

    def _report_opening(self) -> None:
        store = self.store
        for directory in store.directories:
            opening = directory.opening
            events.info(
                "directory opened",
                path=directory.path,
                partitions=len(directory.logs),
                stopped_cleanly=opening.clean,
                scanned_bytes=sum(recovery.scanned_bytes for recovery in opening.recoveries),
                cut_bytes=sum(recovery.cut_bytes for recovery in opening.recoveries),
            )
            if opening.strays:
                events.warning(
                    "directories of partitions that the metadata does not know, left alone",
                    path=directory.path,
                    count=len(opening.strays),
                    names=", ".join(opening.strays[:STRAYS_SHOWN_MAX]),
                )
            for note in opening.notes:
                events.warning("recovery", path=directory.path, note=note)
            for recovery in opening.recoveries:
                for note in recovery.notes:
                    events.warning("recovery", path=directory.path, partition=recovery.name, note=note)
        for path, reason in store.failed_to_open.items():
            events.error("directory offline", path=path, reason=reason)

    async def _listen(self) -> None:
        limits = self._configuration.limits
        self.connections = Connections(
            self._loop,
            Patience(
                first_request=limits.first_request_ms / 1000,
                slow_sender=limits.slow_sender_ms / 1000,
                slow_reader=limits.slow_reader_ms / 1000,
                # Below zero it is for ever, as with Kafka.
                idle=limits.connection_idle_ms / 1000 if limits.connection_idle_ms >= 0 else inf,
            ),
            MemoryBudget(limits.request_memory_bytes),
            MemoryBudget(limits.response_memory_bytes),
        )
        self.connections.guard = self.patrol = Patrol(self.connections)
        admission = Admission(
            limits.connections_max_per_address,
            limits.connections_max_by_address,
            limits.connections_per_second_max,
            self._loop.time,
            self.assembly.budgets.charge_connection,
        )
        for listener, sockets in self._sockets:
            start_listening(listener.address, sockets, limits.listen_backlog)
            certificates = self._certificates.get(listener)
            if listener.protocol is Protocol.CONSOLE:
                self._console = self._console or Console(self._loop, self._pages())
                tls = None if certificates is None else certificates.renewing_context()
                await self._console.serve(sockets, tls)
            else:
                for sock in sockets:
                    self._open_door(sock, listener, admission, certificates)
            host, port = sockets[0].getsockname()[:2]
            self.addresses.setdefault(listener.protocol, []).append(Address(host, port))
            events.info("listening", protocol=listener.protocol.value, address=Address(host, port))

    def _open_door(
        self,
        sock: socket.socket,
        listener: Listener,
        admission: Admission,
        certificates: "Certificates | None",
    ) -> None:
        door = Door(
            self._loop,
            sock,
            admission,
            self._configuration.limits.connections_max,
            lambda left: Connection(
                self.connections,
                lambda connection: self.speakers.session(connection, listener, certificates),
                left,
            ),
            descriptors_for_connections(),
        )
        self.doors.append(door)
        door.start()

    # -- time ------------------------------------------------------------------------------------

    def _rearm(self) -> None:
        due_ms = self._timers.next_due_ms
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due_ms is not None:
            delay_ms = max(0, due_ms - self._clock.monotonic_ms())
            self._timer = self._loop.call_later(delay_ms / 1000, self._tick)

    def _tick(self) -> None:
        self._timer = None
        due_ms = self._timers.next_due_ms
        if due_ms is not None:
            self.lateness.add(max(0, self._clock.monotonic_ms() - due_ms) / 1000)
        try:
            self._timers.run_due()
        finally:
            self._rearm()

    # -- what the console shows ------------------------------------------------------------------

    def _pages(self) -> dict[str, Callable[[], Awaitable[Page]]]:
        return {"/metrics": self._metrics_page, "/health": self._health_page, "/ready": self._ready_page}

    async def _metrics_page(self) -> Page:
        begun = perf_counter()
        await asyncio.sleep(0)
        families = prepare(self, perf_counter() - begun)
        return Page(200, await asyncio.to_thread(as_text, families), METRICS_TYPE)

    async def _health_page(self) -> Page:
        return sentence(200, "alive")

    async def _ready_page(self) -> Page:
        reasons = self.reasons_not_ready()
        return sentence(503, "\n".join(reasons)) if reasons else sentence(200, "ready")

    def reasons_not_ready(self) -> list[str]:
        """A sentence for everything that keeps clients from being served in full."""
        if not self.is_serving:
            return ["The node is starting or stopping."]
        store = self.store
        reasons = [f"{path} could not be opened: {reason}." for path, reason in store.failed_to_open.items()]
        for directory in store.directories:
            if directory.is_offline:
                reasons.append(f"{directory.path} is offline: {directory.health.reason}.")
        return reasons

    def sync_durations(self, path: str) -> Durations:
        return self._data.committers[path].durations

    # -- stopping --------------------------------------------------------------------------------

    async def stop(self) -> None:
        """Answer what is under way, and close the log so that the next start need not look through it."""
        self.is_serving = False
        self._close_doors()
        await self._dismiss_clients()
        await self.assembly.stop()
        await self._data.stop()
        if self._timer is not None:
            self._timer.cancel()
        self._close_log()
        events.info("stopped")

    async def _dismiss_clients(self) -> None:
        self.speakers.say_goodbye()
        for connection in list(self.connections.open):
            connection.dismiss()
        for committer in self._data.committers.values():
            await committer.drain()
        deadline = self._loop.time() + STOP_SECONDS_MAX
        while self.connections.open and self._loop.time() < deadline:
            await asyncio.sleep(0.005)
            for connection in list(self.connections.open):
                connection.dismiss()
        await self._drop_clients()
        self.patrol.stop()

    async def _drop_clients(self) -> None:
        while self.connections.open:
            # Each time anew: who had knocked before the doors were closed may come in only now.
            for connection in list(self.connections.open):
                connection.drop()
            await asyncio.sleep(0)

    def _close_doors(self) -> None:
        for door in self.doors:
            door.close()
        if self._console is not None:
            self._console.close()
        for _, sockets in self._sockets:
            for sock in sockets:
                sock.close()

    def _close_log(self) -> None:
        if self._log_is_open:
            self._log_is_open = False
            self._data.close()

    async def abandon(self) -> None:
        """End as a killed process does: nothing is answered and nothing put in order. For tests.

        The loop must not turn afterwards: whatever still waits in it has never happened.
        """
        self.is_serving = False
        self._close_doors()
        await self._drop_clients()
        self.assembly.end_threads()
        self._data.end_threads()


_SERVED = (Protocol.KAFKA, Protocol.IGGY, Protocol.RUSTLOG, Protocol.AUTO, Protocol.CONSOLE)
"""Protocols that have a door."""
_TO_STREAMS = (Protocol.IGGY, Protocol.AUTO)
"""Those by which clients of streams may come in."""


def _has_users(listener: Listener) -> bool:
    """Whether somebody has to be there who may come in by it."""
    return listener.protocol in _TO_STREAMS or (listener.sasl is not None and listener.sasl.is_required)
