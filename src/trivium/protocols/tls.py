"""TLS as a session around another: encrypted bytes on the outside, the verbs of every session on both sides.

A state machine over bytes like the protocols within (``ssl.SSLObject`` on memory, no socket). So encrypted
connections have the same patience, the same budgets and the same back-pressure as all others, and a port that
takes every protocol takes TLS too, found by its first bytes.

Rules:
- The session within is made when the handshake is done, with the certificate that the client has shown.
- What is wrong with the handshake, or with a record, ends the connection (``TlsFailed``); the alert that
  says so leaves first.
- Nothing is negotiated again: a peer could make us work for nothing.
"""

import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, cast

from trivium.protocols.session import Session
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError

RECORD_BYTES_MAX: Final = 16 << 10
"""Plain bytes of one TLS record. Smaller answers are put together up to it: each record has its price."""

TAKEN_BYTES: Final = 256 << 10
"""Encrypted bytes are taken out in pieces of about this size, so that an answer is not held twice."""


class TlsFailed(DecodeError):
    """What came is no TLS that this node agrees to; the text says why."""


Certificate = Mapping[str, Any]
"""What a client has shown of itself, as ``ssl.SSLObject.getpeercert`` has it."""

_NOT_TLS: Final = frozenset(("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST"))


class TlsSession:
    def __init__(
        self, context: ssl.SSLContext, make_session: Callable[[Certificate | None], Session]
    ) -> None:
        """``make_session`` may raise ``DecodeError`` for a certificate that nobody is known by."""
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._make_session: Callable[[Certificate | None], Session] | None = make_session
        """Until the handshake is done: it knows the connection, which knows this session."""
        self.has_ended = False
        self.inner: Session | None = None

    # -- bytes in --------------------------------------------------------------------------------

    def space(self, scratch: memoryview) -> memoryview:
        return scratch

    def received(self, count: int, scratch: memoryview) -> None:
        """``DecodeError``: close the connection."""
        self._incoming.write(scratch[:count])
        try:
            if self._make_session is not None:
                self._tls.do_handshake()
                make_session, self._make_session = self._make_session, None
                self.inner = make_session(self._tls.getpeercert() or None)
            if self.inner is not None:
                self._read(self.inner, scratch)
        except ssl.SSLWantReadError:
            return
        except ssl.SSLError as error:
            raise TlsFailed(_sentence(error)) from error

    def _read(self, inner: Session, scratch: memoryview) -> None:
        """Until ``SSLWantReadError``, or the peer's last byte; as much at once as there is space for."""
        while not self.has_ended:
            space = inner.space(scratch)
            filled = 0
            try:
                while filled < len(space):
                    # Into a buffer it reads numbers of bytes, and any buffer will do.
                    count = cast(int, self._tls.read(len(space) - filled, cast(bytearray, space[filled:])))
                    if not count:
                        self.has_ended = True
                        break
                    filled += count
            finally:
                if filled:
                    inner.received(filled, scratch)

    # -- bytes out -------------------------------------------------------------------------------

    @property
    def out_bytes(self) -> int:
        """What there is to send, before it is encrypted."""
        return self._outgoing.pending + (0 if self.inner is None else self.inner.out_bytes)

    def data_to_send(self) -> list[Buffer]:
        taken: list[Buffer] = []
        small = bytearray()
        for part in self.inner.data_to_send() if self.inner is not None else ():
            if len(small) + len(part) <= RECORD_BYTES_MAX:
                small += part
                continue
            self._write(memoryview(small), taken)
            small = bytearray()
            self._write(memoryview(part), taken)
        self._write(memoryview(small), taken)
        if self._outgoing.pending:
            taken.append(self._outgoing.read())
        return taken

    def _write(self, plain: memoryview, taken: list[Buffer]) -> None:
        at = 0
        while at < len(plain):
            try:
                at += self._tls.write(plain[at : at + RECORD_BYTES_MAX])
            except ssl.SSLError:
                # The peer has ended its side in a way that leaves nothing to say; reading finds out.
                return
            if self._outgoing.pending >= TAKEN_BYTES:
                taken.append(self._outgoing.read())

    def farewell(self) -> bytes:
        """That nothing more will come: without it, a peer cannot tell an end from a cut."""
        with suppress(ssl.SSLError):  # the peer has not answered, and need not
            self._tls.unwrap()
        return self._outgoing.read()

    # -- what is within --------------------------------------------------------------------------

    @property
    def in_flight(self) -> int:
        return 0 if self.inner is None else self.inner.in_flight

    @property
    def has_room(self) -> bool:
        return self.inner is None or self.inner.has_room

    @property
    def is_idle(self) -> bool:
        return self.inner is None or self.inner.is_idle

    @property
    def held_bytes(self) -> int:
        return self._incoming.pending + (0 if self.inner is None else self.inner.held_bytes)

    @property
    def is_between_requests(self) -> bool:
        return self.inner is not None and self.inner.is_between_requests

    @property
    def requests(self) -> int:
        return 0 if self.inner is None else self.inner.requests

    @property
    def has_foresight(self) -> bool:
        return self.inner is not None and self.inner.has_foresight

    def prepare(self) -> None:
        if self.inner is not None:
            self.inner.prepare()

    def proceed(self) -> None:
        if self.inner is not None:
            self.inner.proceed()

    def peer_finished(self) -> None:
        if self.inner is not None:
            self.inner.peer_finished()

    def close(self) -> None:
        self._make_session = None
        if self.inner is not None:
            self.inner.close()


def _sentence(error: ssl.SSLError) -> str:
    if error.reason in _NOT_TLS:
        return "this port speaks TLS, and the client does not"
    reason = (error.reason or str(error)).lower().replace("_", " ")
    return f"the TLS connection failed: {reason}"
