"""A session that does not know yet what it is."""

import pytest

from tests.protocols.rustlog.conversation import Conversation, Door
from tests.protocols.test_first_bytes import rustlog
from trivium.protocols.first_bytes import Spoken
from trivium.protocols.rustlog.session import RustLogSession
from trivium.protocols.undecided import UndecidedSession
from trivium.wire.errors import DecodeError


class Newcomer(Conversation):
    """A connection whose session has yet to find out that it is RustLog's."""

    def __init__(self, scratch_bytes: int = 1 << 16) -> None:
        super().__init__(Door(), scratch_bytes)
        self.asked: list[Spoken] = []
        self.session = UndecidedSession(self._make)  # type: ignore[assignment]

    def _make(self, spoken: Spoken) -> RustLogSession:
        self.asked.append(spoken)
        if spoken is Spoken.TLS:
            raise DecodeError("no TLS here")
        return RustLogSession(self.door.protocol, "10.0.0.7", lambda: None)


PING = rustlog(b'{"Ping":{}}')


@pytest.mark.parametrize("piece_bytes", range(1, 20))
def test_first_request_is_answered_however_it_is_split(piece_bytes: int) -> None:
    peer = Newcomer()
    peer.feed(PING + PING, piece_bytes)
    assert peer.asked == [Spoken.RUSTLOG]
    assert peer.bodies() == [b'{"Ping":{}}'] * 2
    assert peer.session.requests == 2


def test_request_that_fills_the_scratch_with_what_was_kept_is_handed_on_whole() -> None:
    peer = Newcomer(scratch_bytes=64)
    body = b'{"Ping":{}}'.ljust(200)
    peer.feed(rustlog(body)[:3])
    peer.feed(rustlog(body)[3:] + PING)
    assert peer.bodies() == [b'{"Ping":{}}'] * 2


def test_before_the_first_bytes_there_is_nothing() -> None:
    peer = Newcomer()
    session = peer.session
    assert (session.requests, session.out_bytes, session.in_flight, session.held_bytes) == (0, 0, 0, 0)
    assert session.has_room
    assert session.is_idle
    assert session.is_between_requests
    assert session.data_to_send() == []
    session.proceed()
    session.peer_finished()
    session.close()


def test_begun_head_counts_as_a_begun_request() -> None:
    """S5: or nobody would watch the time of a peer that sends one byte."""
    peer = Newcomer()
    peer.feed(PING[:2])
    assert not peer.session.is_between_requests
    assert peer.asked == []


@pytest.mark.parametrize("piece_bytes", [1, 3, 100])
@pytest.mark.parametrize(
    ("data", "reason"),
    [(bytes.fromhex("1603010200010001fc0303"), "TLS"), (b"GET / HTTP/1.1\r\n\r\n", "no protocol")],
)
def test_what_is_not_spoken_here_ends_with_a_reason(data: bytes, reason: str, piece_bytes: int) -> None:
    with pytest.raises(DecodeError, match=reason):
        Newcomer().feed(data, piece_bytes)


def test_decided_session_is_closed_with_it() -> None:
    peer = Newcomer()
    peer.feed(PING)
    inner = peer.session.decided  # type: ignore[attr-defined]
    peer.session.close()
    assert inner.is_closed
