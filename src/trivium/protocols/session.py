"""The verbs that every protocol's session has: all that a connection knows of it."""

from typing import Protocol

from trivium.wire.buffer import Buffer


class AnswerFailed(Exception):
    """A request that has no answer because of a mistake of ours (its cause): the connection ends, since
    nothing that follows could be answered in order, and a client that hears nothing waits for ever.
    """

    def __init__(self, request: str) -> None:
        super().__init__(f"{request} could not be answered")
        self.request = request


class Session(Protocol):
    """What every protocol's session is to a connection."""

    @property
    def in_flight(self) -> int: ...
    @property
    def has_room(self) -> bool: ...
    @property
    def is_idle(self) -> bool: ...
    @property
    def held_bytes(self) -> int: ...
    @property
    def is_between_requests(self) -> bool: ...

    @property
    def has_ended(self) -> bool:
        """The peer has said that it sends nothing more: not by closing its side, but in so many words."""
        ...

    @property
    def has_foresight(self) -> bool:
        """Whether ``prepare``, at an idle moment, makes the next answer come sooner."""
        ...

    @property
    def out_bytes(self) -> int: ...
    @property
    def requests(self) -> int: ...

    def space(self, scratch: memoryview) -> memoryview: ...
    def received(self, count: int, scratch: memoryview) -> None:
        """``DecodeError``, ``AnswerFailed``: close the connection, after the answers that there are."""
        ...

    def proceed(self) -> None:
        """Begin what had to wait. Raises as ``received`` does."""
        ...

    def prepare(self) -> None: ...
    def data_to_send(self) -> list[Buffer]: ...
    def farewell(self) -> bytes:
        """What is said last, after all answers."""
        ...

    def peer_finished(self) -> None: ...
    def close(self) -> None: ...
