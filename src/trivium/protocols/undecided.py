"""A connection of which nobody knows yet what it speaks: a session that becomes another by its first bytes.

It has the verbs of every session. It keeps the few bytes that it needs to decide, hands them on with all that
follows, and is a mere corridor from then on.
"""

from collections.abc import Callable
from typing import Final

from trivium.protocols.first_bytes import Spoken, spoken_by
from trivium.protocols.session import Session
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError

_UNKNOWN: Final = "these are the first bytes of no protocol that is spoken here"


class UndecidedSession:
    def __init__(self, make_session: Callable[[Spoken], Session]) -> None:
        """``make_session`` may raise ``DecodeError`` for what is not served."""
        self._make_session = make_session
        self._head = b""
        self.decided: Session | None = None

    def space(self, scratch: memoryview) -> memoryview:
        return scratch if self.decided is None else self.decided.space(scratch)

    def received(self, count: int, scratch: memoryview) -> None:
        """``DecodeError``: close the connection."""
        if self.decided is not None:
            self.decided.received(count, scratch)
            return
        self._head += bytes(scratch[:count])
        spoken = spoken_by(self._head)
        if spoken is None:
            return
        if spoken is Spoken.UNKNOWN:
            raise DecodeError(_UNKNOWN)
        self.decided = self._make_session(spoken)
        head, self._head = self._head, b""
        self._hand_on(self.decided, head, scratch)

    def _hand_on(self, session: Session, head: bytes, scratch: memoryview) -> None:
        at = 0
        while at < len(head):
            space = session.space(scratch)
            count = min(len(space), len(head) - at)
            space[:count] = head[at : at + count]
            session.received(count, scratch)
            at += count

    # -- what it becomes -------------------------------------------------------------------------

    @property
    def in_flight(self) -> int:
        return 0 if self.decided is None else self.decided.in_flight

    @property
    def has_room(self) -> bool:
        return self.decided is None or self.decided.has_room

    @property
    def is_idle(self) -> bool:
        return self.decided is None or self.decided.is_idle

    @property
    def held_bytes(self) -> int:
        return 0 if self.decided is None else self.decided.held_bytes

    @property
    def is_between_requests(self) -> bool:
        return not self._head if self.decided is None else self.decided.is_between_requests

    @property
    def has_ended(self) -> bool:
        return self.decided is not None and self.decided.has_ended

    @property
    def out_bytes(self) -> int:
        return 0 if self.decided is None else self.decided.out_bytes

    @property
    def requests(self) -> int:
        return 0 if self.decided is None else self.decided.requests

    @property
    def has_foresight(self) -> bool:
        return self.decided is not None and self.decided.has_foresight

    def prepare(self) -> None:
        if self.decided is not None:
            self.decided.prepare()

    def proceed(self) -> None:
        if self.decided is not None:
            self.decided.proceed()

    def data_to_send(self) -> list[Buffer]:
        return [] if self.decided is None else self.decided.data_to_send()

    def farewell(self) -> bytes:
        return b"" if self.decided is None else self.decided.farewell()

    def peer_finished(self) -> None:
        if self.decided is not None:
            self.decided.peer_finished()

    def close(self) -> None:
        if self.decided is not None:
            self.decided.close()
