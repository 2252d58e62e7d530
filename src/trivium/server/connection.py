"""One connection: bytes between a socket and a session, and the patience one has with a peer.

Answers are written at once; what the socket does not take stays with its connection, and until it is taken
the peer is neither read nor given anything else. A peer that has sent its last byte (a half-closed
connection) still gets every answer it has asked for. ``due`` says how long a peer may take for what, and
``patrol`` asks.
"""

import asyncio
import logging
import socket
import struct
from collections.abc import Callable
from math import inf
from typing import Final, cast

from trivium.protocols.session import AnswerFailed, Session
from trivium.protocols.tls import TlsFailed
from trivium.server.connections import Connections, SessionFactory
from trivium.server.event_log import events
from trivium.server.foreign_bytes import looks_like
from trivium.server.outgoing import Outgoing
from trivium.wire.errors import DecodeError

_AT_ONCE: Final = struct.pack("ii", 1, 0)
"""SO_LINGER: what has not been sent is thrown away, and the peer is told that the connection is gone."""


class Connection(asyncio.BufferedProtocol):
    """A peer is read or not, takes its answers or is stuck, sends more or has finished: three flags."""

    __slots__ = (
        "_all",
        "_flush_scheduled",
        "_held_bytes",
        "_left",
        "_make_session",
        "_outgoing",
        "_quiet_since",
        "_request_since",
        "_requests_seen",
        "_stuck_bytes",
        "_stuck_since",
        "is_closed",
        "is_finished",
        "is_reading",
        "is_stuck",
        "is_waiting_for_memory",
        "opened_at",
        "peer",
        "session",
        "transport",
    )

    def __init__(
        self, connections: Connections, make_session: SessionFactory, left: Callable[[], None]
    ) -> None:
        self._all = connections
        self._make_session = make_session
        self._left = left
        self._flush_scheduled = False
        self._held_bytes = 0
        self._requests_seen = 0
        self._request_since = 0.0
        """When the request that has come in part began; 0 between requests."""
        self._stuck_since = 0.0
        """When a byte of the answers was last seen to be taken, while some wait."""
        self._stuck_bytes = 0
        self.opened_at = self._quiet_since = connections.loop.time()
        self.is_reading = True
        self.is_stuck = False
        """The peer does not take its answers as fast as it gets them."""
        self.is_finished = False
        """The peer has said that it sends nothing more."""
        self.is_waiting_for_memory = False
        self.is_closed = False
        self.transport: asyncio.Transport
        self._outgoing: Outgoing
        self.session: Session
        self.peer = ""

    # -- asyncio's side --------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        # At once, and told about every byte that is left over: so what peers have not taken is known exactly.
        self.transport.set_write_buffer_limits(high=0)
        self._outgoing = Outgoing(self.transport)
        host, port = (transport.get_extra_info("peername") or ("", 0))[:2]
        self.peer = f"{host}:{port}"
        self.session = self._make_session(self)
        self._all.open[self] = None
        self._all.guard.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_closed = True
        self._all.open.pop(self, None)
        try:
            self.session.close()
        finally:
            self._all.requests.hold(self, 0)
            self._all.responses.hold(self, 0)
            self._all.guard.closed(self)
            self._left()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self.session.space(self._all.scratch)

    def buffer_updated(self, nbytes: int) -> None:
        shared, session = self._all, self.session
        shared.traffic.in_bytes += nbytes
        try:
            session.received(nbytes, shared.scratch)
        except DecodeError as error:
            self._give_up(error, bytes(shared.scratch[: min(nbytes, 8)]))
            return
        except AnswerFailed as failure:
            self._break_off(failure)
            return
        self._note_progress()
        held_bytes = session.held_bytes
        if held_bytes != self._held_bytes:
            self._hold(held_bytes)
        if session.has_ended and not self.is_finished:
            self.eof_received()
        else:
            self._flush()

    def eof_received(self) -> bool:
        self.is_finished = True
        self.session.peer_finished()
        self._flush()
        return True

    def pause_writing(self) -> None:
        self.is_stuck = True
        self._stuck_since = self._all.loop.time()
        self._stuck_bytes = self._outgoing.untaken_bytes
        self._count_untaken()

    def resume_writing(self) -> None:
        self.is_stuck = False
        self._outgoing.go_on()
        if self.is_stuck:
            return
        self._stuck_bytes = 0
        self._all.responses.hold(self, 0)
        self._quiet_since = self._all.loop.time()
        self.wake()

    # -- the session's side ----------------------------------------------------------------------

    def wake(self) -> None:
        """The session has something to send that no request of this moment asked for."""
        if not self._flush_scheduled and not self.is_closed:
            self._flush_scheduled = True
            self._all.loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_scheduled = False
        if self.is_closed:
            return
        session = self.session
        if session.out_bytes:
            if self.is_stuck:
                self._count_untaken()
            else:
                self._send()
                if session.has_foresight:
                    self._all.when_idle(self._prepare)
        if not self.is_stuck and not session.has_room:
            self._proceed()
        if self.is_finished and session.is_idle and not session.out_bytes:
            self._finish()
        elif self.may_read != self.is_reading:
            self.decide_reading()

    def _send(self) -> None:
        shared, session = self._all, self.session
        parts = session.data_to_send()
        size_bytes = sum(map(len, parts))
        shared.traffic.out_bytes += size_bytes
        self._outgoing.send(parts, size_bytes)
        self._quiet_since = shared.loop.time()
        self._hold(session.held_bytes)

    def _prepare(self) -> None:
        if not self.is_closed and not self.is_stuck:
            self.session.prepare()

    def _proceed(self) -> None:
        """Answers have left: begin what waited for that, and come back for its answers."""
        try:
            self.session.proceed()
        except DecodeError as error:
            self._give_up(error, b"")
            return
        except AnswerFailed as failure:
            self._break_off(failure)
            return
        self._hold(self.session.held_bytes)
        if self.session.out_bytes:
            self.wake()

    # -- reading or not --------------------------------------------------------------------------

    @property
    def may_read(self) -> bool:
        return self.session.has_room and not self.is_stuck and not self.is_waiting_for_memory

    def decide_reading(self) -> None:
        wanted = self.may_read
        if wanted == self.is_reading or self.is_closed or self.is_finished:
            return
        self.is_reading = wanted
        if wanted:
            # The time that the peer was not read is not held against it.
            now = self._all.loop.time()
            self._quiet_since = now
            if self._request_since:
                self._request_since = now
            self.transport.resume_reading()
        else:
            self.transport.pause_reading()

    def _note_progress(self) -> None:
        session = self.session
        now = self._all.loop.time()
        self._quiet_since = now
        if session.is_between_requests:
            self._request_since = 0.0
        elif not self._request_since or session.requests != self._requests_seen:
            self._request_since = now
        self._requests_seen = session.requests

    # -- memory ----------------------------------------------------------------------------------

    def _hold(self, held_bytes: int) -> None:
        grown = held_bytes > self._held_bytes
        if held_bytes != self._held_bytes:
            budget = self._all.requests
            was_over = budget.is_over
            self._held_bytes = held_bytes
            budget.hold(self, held_bytes)
            if budget.is_over if grown else was_over:
                self._all.guard.short_of_request_memory(self)

    def _count_untaken(self) -> None:
        budget = self._all.responses
        budget.hold(self, self._outgoing.untaken_bytes + self.session.out_bytes)
        if budget.is_over:
            self._all.guard.short_of_response_memory()

    @property
    def is_receiving(self) -> bool:
        """Whether part of a request has come, and the peer is free to send the rest."""
        return self._request_since > 0 and self.is_reading

    def sender_bytes_per_second(self, now: float) -> float:
        """How fast the request comes that has come in part."""
        return self._held_bytes / max(now - self._request_since, 0.001)

    def receiving_for(self, now: float) -> float:
        return now - self._request_since

    # -- patience --------------------------------------------------------------------------------

    def due(self, now: float) -> tuple[float, str | None]:
        """When this peer's time is up if nothing happens, and what to say then; None: nothing is wrong."""
        patience, session = self._all.patience, self.session
        if self.is_stuck:
            untaken = self._outgoing.untaken_bytes
            if untaken != self._stuck_bytes:
                self._stuck_bytes = untaken
                self._stuck_since = now
            return self._stuck_since + patience.slow_reader, "it does not take its answers"
        if not self.is_reading:
            return inf, None
        if not session.requests:
            return self.opened_at + patience.first_request, "no whole request has come"
        if self._request_since:
            return self._request_since + patience.slow_sender, "a request came too slowly"
        if session.is_idle and not session.out_bytes:
            return self._quiet_since + patience.idle, None
        return inf, None

    # -- the end ---------------------------------------------------------------------------------

    def _give_up(self, error: DecodeError, first_bytes: bytes) -> None:
        """What cannot be read ends the connection, after the answers to what could be."""
        is_told = self.session.requests or isinstance(error, TlsFailed)
        guess = None if is_told else looks_like(first_bytes)
        events.seldom(
            "protocol error",
            self.peer.rpartition(":")[0],
            peer=self.peer,
            reason=f"this looks like {guess}" if guess else str(error),
        )
        self._end_with_answers()

    def _break_off(self, failure: AnswerFailed) -> None:
        """A mistake of ours: it is told with all that is known of it, and the peer is not left waiting."""
        events.seldom(
            "request failed",
            failure.request,
            level=logging.ERROR,
            cause=failure.__cause__,
            request=failure.request,
            peer=self.peer,
        )
        self._end_with_answers()

    def _end_with_answers(self) -> None:
        if self.session.out_bytes and not self.is_stuck:
            self._send()
        self._finish()

    def _finish(self) -> None:
        """Close, when everything that was answered has been taken."""
        farewell = self.session.farewell()
        if farewell:
            self._outgoing.send([farewell], len(farewell))
        self._outgoing.finish()

    def dismiss(self) -> None:
        """Read nothing more, answer what was asked, then end: the node stops."""
        if not self.is_finished:
            if self.is_reading:
                self.is_reading = False
                self.transport.pause_reading()
            self.eof_received()
            self.wake()

    def drop(self) -> None:
        """End it now, whatever is on its way. A peer that takes nothing would otherwise keep what the system
        holds for it, for as long as it likes.
        """
        self.is_closed = True
        if self.is_stuck:
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self.transport.abort()
