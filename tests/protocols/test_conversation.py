"""The order and the bounds of every session, shown by a protocol that echoes when it is told to."""

import struct

import pytest

from trivium.core.caller import Caller
from trivium.protocols import conversation
from trivium.protocols.conversation import Conversation
from trivium.protocols.session import AnswerFailed
from trivium.wire.buffer import Buffer
from trivium.wire.receiving import Receiver

LENGTH = struct.Struct(">I")
FRAME_BYTES_MAX = 100


class Echo:
    def __init__(self, text: bytes, request_bytes: int) -> None:
        self.text = text
        self.request_bytes = request_bytes
        self.parts: list[Buffer] | None = None
        self.size_bytes = 0

    @property
    def name(self) -> str:
        return self.text.decode()


class EchoSession(Conversation[Echo]):
    def __init__(self, in_flight_max: int = 10) -> None:
        super().__init__(Receiver(LENGTH, FRAME_BYTES_MAX, self._refuse), in_flight_max, self.woken)
        self.caller = Caller()
        self.begun: list[Echo] = []
        self.wakes = 0

    def woken(self) -> None:
        self.wakes += 1

    def _begin(self, frame: memoryview, own_bytes: int) -> None:
        turn = Echo(bytes(frame), own_bytes)
        self.begun.append(turn)
        self._queue(turn)
        if turn.text.startswith(b"!"):
            self.answer(turn)

    def _begin_refused(self, frame_bytes: int) -> None:
        self._begin(memoryview(b"!%d is too much" % frame_bytes), 0)

    def admit(self, in_flight_max: int) -> None:
        self._requests_in_flight_max = in_flight_max

    def answer(self, turn: Echo) -> None:
        turn.parts = [turn.text]
        turn.size_bytes = len(turn.text)
        self.answered()

    def hear(self, *texts: bytes) -> None:
        scratch = memoryview(bytearray(b"".join(LENGTH.pack(len(text)) + text for text in texts)))
        self.received(len(scratch), scratch)

    def said(self) -> list[bytes]:
        return [bytes(part) for part in self.data_to_send()]


def test_answers_get_ready_in_any_order_and_leave_in_that_of_their_requests() -> None:
    """001.49."""
    session = EchoSession()
    session.hear(b"a", b"b", b"c")
    a, b, c = session.begun
    session.answer(c)
    session.answer(a)
    assert (session.said(), session.wakes) == ([b"a"], 1)
    session.answer(b)
    assert session.said() == [b"b", b"c"]
    assert session.is_idle


def test_request_beyond_those_in_flight_waits_and_is_begun_when_there_is_room() -> None:
    session = EchoSession(in_flight_max=2)
    session.hear(b"a", b"b", b"c", b"d")
    assert [turn.text for turn in session.begun] == [b"a", b"b"]
    assert session.held_bytes == 2
    session.answer(session.begun[0])
    assert session.said() == [b"a"]
    session.proceed()
    assert [turn.text for turn in session.begun] == [b"a", b"b", b"c"]
    assert not session.has_room


def test_request_that_came_behind_the_rest_of_another_is_not_charged_for_that() -> None:
    session = EchoSession()
    sent = b"".join(LENGTH.pack(len(text)) + text for text in (b"a" * 50, b"b", b"c"))
    scratch = memoryview(bytearray(200))
    for part in (sent[:40], sent[40:]):
        session.space(scratch)[: len(part)] = part
        session.received(len(part), scratch)
    assert [(turn.text[:1], turn.request_bytes) for turn in session.begun] == [
        (b"a", 0),
        (b"b", 0),
        (b"c", 0),
    ]


def test_answers_that_nobody_takes_hold_the_next_request_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "ANSWER_BYTES_MAX", 3)
    session = EchoSession()
    session.hear(b"!ab", b"!cd")
    assert len(session.begun) == 1
    assert session.said() == [b"!ab"]
    session.proceed()
    assert session.said() == [b"!cd"]


def test_frame_too_large_is_answered_in_its_turn() -> None:
    session = EchoSession(in_flight_max=1)
    session.hear(b"a", b"x" * (FRAME_BYTES_MAX + 1), b"!b")
    for _ in range(3):
        session.proceed()
    assert session.said() == []
    session.answer(session.begun[0])
    session.proceed()
    session.proceed()
    assert session.said() == [b"a", b"!101 is too much", b"!b"]
    assert session.requests == 3


def test_answer_given_while_requests_are_read_wakes_nobody() -> None:
    """Who hands in the bytes asks for the answers right after."""
    session = EchoSession()
    session.hear(b"!a")
    assert session.wakes == 0
    assert session.said() == [b"!a"]


def test_closed_conversation_keeps_nothing_and_wakes_nobody() -> None:
    session = EchoSession(in_flight_max=1)
    session.hear(b"a", b"b")
    session.close()
    assert (session.in_flight, session.held_bytes, session.out_bytes) == (0, 0, 0)
    assert session.is_idle
    assert session.wakes == 0


def fail(_turn: Echo) -> None:
    raise RuntimeError("a bolt is loose")


def test_answer_that_cannot_be_made_wakes_the_connection_which_hears_of_it_once() -> None:
    session = EchoSession()
    session.hear(b"a", b"b")
    a, b = session.begun
    session.attempt(b, fail, b)
    assert (session.wakes, session.has_room) == (1, False)
    session.admit(10)  # A login may widen what was taken away.
    assert not session.has_room
    session.answer(a)
    assert session.said() == [b"a"]
    with pytest.raises(AnswerFailed, match="b could not be answered") as failed:
        session.proceed()
    assert isinstance(failed.value.__cause__, RuntimeError)
    session.proceed()


def test_answer_that_cannot_be_made_of_a_peer_that_has_gone_is_nobodys_trouble() -> None:
    session = EchoSession()
    session.hear(b"a")
    session.close()
    session.attempt(session.begun[0], fail, session.begun[0])
    assert session.wakes == 0
    session.proceed()
