"""Sockets that listen, and who gets in.

The accept loop is our own, because it must be able to wait: when a listener has all the connections it may
have, when they come faster than allowed, and when the process runs out of descriptors. Peers then wait in the
backlog of the operating system, as with Kafka. An address with too many connections is turned away instead:
waiting would punish everybody else.
"""

import asyncio
import errno
import os
import socket
from collections.abc import Callable
from typing import Final

from trivium.server.configuration.address import Address
from trivium.server.connection import Connection
from trivium.server.event_log import events
from trivium.server.limits import Admission

ACCEPTS_PER_TURN: Final = 64
"""New connections that are taken before others get their turn."""

RETRY_SECONDS: Final = 1.0
"""So long nobody is accepted after the system had no room for one more."""

BACKLOG_MIN: Final = 1_024
"""Connections that may wait to be accepted, even if ``socket.listen.backlog.size`` is less: beyond it the
system drops them, and each tries again a second later. A shorter queue helps nobody."""

RESERVED_DESCRIPTORS_MAX: Final = 1_024
"""Descriptors that connections leave to the log, at most; a quarter of all where there are few."""

_OUT_OF_ROOM: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class CannotListen(Exception):
    """The address cannot be listened on; the message says why and what to do."""


def bind(address: Address) -> list[socket.socket]:
    """Bound sockets for an address: one, or one for each family where the host has several.

    Nobody can connect yet: that is ``start_listening``.
    """
    try:
        found = socket.getaddrinfo(
            address.host or None, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as error:
        raise CannotListen(f"{address.host} is no host that is known here ({error.strerror}).") from error
    sockets: list[socket.socket] = []
    port = address.port
    try:
        for family, kind, protocol, _, where in dict.fromkeys(found):
            try:
                sock = socket.socket(family, kind, protocol)
            except OSError:
                continue  # the family is switched off on this machine
            sockets.append(sock)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.bind((where[0], port, *where[2:]))
            sock.setblocking(False)
            port = sock.getsockname()[1]
    except OSError as error:
        for sock in sockets:
            sock.close()
        raise CannotListen(_why(address, error)) from error
    if not sockets:
        raise CannotListen(f"{address} has no family of addresses that this machine serves.")
    return sockets


def start_listening(address: Address, sockets: list[socket.socket], backlog: int) -> None:
    try:
        for sock in sockets:
            sock.listen(max(backlog, BACKLOG_MIN))
    except OSError as error:
        raise CannotListen(_why(address, error)) from error


def _why(address: Address, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        host = address.host or "this machine"
        return f"Port {address.port} on {host} is in use; choose another, or 0 for any free one."
    if error.errno == errno.EADDRNOTAVAIL:
        return (
            f"{address.host} is no address of this machine; choose one that is, or :{address.port} for all."
        )
    if error.errno == errno.EACCES:
        return f"This user may not listen on port {address.port}; choose one above 1023."
    return f"{address} cannot be listened on: {error.strerror}."


def descriptors_for_connections() -> int:
    """The highest descriptor that a connection may get, so that the log never runs out of them."""
    limit = os.sysconf("SC_OPEN_MAX")
    return limit - min(RESERVED_DESCRIPTORS_MAX, limit // 4)


class Door:
    """One listening socket, and the connections that came in by it."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        sock: socket.socket,
        admission: Admission,
        connections_max: int,
        make_connection: Callable[[Callable[[], None]], Connection],
        descriptor_max: int,
    ) -> None:
        """``make_connection`` gets what is to be called when the connection has ended."""
        self._loop = loop
        self._socket = sock
        self._admission = admission
        self._connections_max = connections_max
        self._make_connection = make_connection
        self._descriptor_max = descriptor_max
        self._open = 0
        self._is_accepting = False
        self._is_throttled = False
        """Waiting for the rate of new connections: an end of one makes no difference."""
        self._retry: asyncio.TimerHandle | None = None
        self._entering: set[asyncio.Task[object]] = set()
        self.refused = 0
        self.accepted = 0
        host, port = sock.getsockname()[:2]
        self.address = Address(host, port)

    def start(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        self._is_throttled = False
        if not self._is_accepting:
            self._is_accepting = True
            self._loop.add_reader(self._socket, self._accept)

    def close(self) -> None:
        self._pause()
        if self._retry is not None:
            self._retry.cancel()
        self._socket.close()

    def _pause(self, seconds: float | None = None) -> None:
        """Accept nobody for so long; without a time, until a connection has ended."""
        if self._is_accepting:
            self._is_accepting = False
            self._loop.remove_reader(self._socket)
        if seconds is not None:
            self._retry = self._loop.call_later(seconds, self.start)

    def _accept(self) -> None:
        if not self._has_descriptors():
            self._out_of_room("the remaining descriptors are for the log; raise the limit (ulimit -n)")
            return
        for _ in range(ACCEPTS_PER_TURN):
            if self._open >= self._connections_max:
                events.seldom("listener full", address=self.address, connections_max=self._connections_max)
                self._pause()
                return
            wait_seconds = self._admission.wait_seconds()
            if wait_seconds:
                self._is_throttled = True
                self._pause(wait_seconds)
                return
            try:
                sock, peer = self._socket.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _OUT_OF_ROOM:
                    self._out_of_room(error.strerror or "")
                    return
                continue  # the peer has gone before it came
            self._enter(sock, peer[0])
            if sock.fileno() > self._descriptor_max:
                return

    def _has_descriptors(self) -> bool:
        """Whether the next descriptor is one for connections: the system gives the lowest that is free."""
        try:
            probe = os.dup(self._socket.fileno())
        except OSError:
            return False
        os.close(probe)
        return probe <= self._descriptor_max

    def _out_of_room(self, reason: str) -> None:
        events.seldom("not accepting connections", address=self.address, reason=reason)
        self._pause(RETRY_SECONDS)

    def _enter(self, sock: socket.socket, address: str) -> None:
        refusal = self._admission.refusal(address)
        if refusal is not None:
            self.refused += 1
            events.seldom("connection refused", address, peer=address, reason=refusal)
            sock.close()
            return
        self.accepted += 1
        self._open += 1
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = self._loop.create_task(self._attach(sock, address))
        self._entering.add(task)
        task.add_done_callback(self._entering.discard)

    async def _attach(self, sock: socket.socket, address: str) -> None:
        connection = self._make_connection(lambda: self._left(address))
        try:
            await self._loop.connect_accepted_socket(lambda: connection, sock)
        except OSError:
            # The peer has gone already. Where the connection knows of it, it says so itself.
            if not hasattr(connection, "transport"):
                sock.close()
                self._left(address)

    def _left(self, address: str) -> None:
        self._admission.release(address)
        self._open -= 1
        if not self._is_accepting and not self._is_throttled and self._socket.fileno() >= 0:
            self.start()
