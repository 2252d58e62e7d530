"""A session as a state machine, without sockets: order, late replies, ends, limits (002.3, 002.4; S3, S7)."""

import itertools
import struct
from collections.abc import Callable
from typing import Any

import pytest

from tests.core.fakes import FakeClock
from tests.protocols.iggy.raw_client import request, text
from trivium.core.caller import Caller
from trivium.core.commands.clients import GreetClient
from trivium.core.commands.command import Command
from trivium.core.commands.streams import DeleteStream, DescribedStream, DescribeStream
from trivium.core.commands.users import LoggedIn, LogIn, LogInWithToken, LogOut
from trivium.core.faults import Fault
from trivium.core.timers import Timers
from trivium.protocols.iggy.client import Endpoint
from trivium.protocols.iggy.commands import HANDLERS, OPEN_TO_ALL
from trivium.protocols.iggy.newcomer import Newcomer
from trivium.protocols.iggy.protocol import IggyProtocol
from trivium.protocols.iggy.session import CONTROL_BYTES_MAX, PASSED_OVER_BYTES_MAX, IggySession
from trivium.wire.errors import DecodeError
from trivium.wire.limits import FRAME_BYTES_MAX_BEFORE_LOGIN

PING = request(1)
LOGIN = request(38, text("iggy") + text("iggy") + bytes(8))
GET_STREAM = request(200, b"\x02" + text("s"))
DELETE_STREAM = request(203, b"\x02" + text("s"))
HEARTBEAT_MS = 1_000
FRAME_BYTES_MAX = 1 << 20


class FakeEngine:
    """Answers logins and what it was told to; everything else waits in ``asked``."""

    def __init__(self) -> None:
        self.asked: list[tuple[Command[Any], Caller, Callable[[Any], None]]] = []
        self.results: dict[type[Command[Any]], Any] = {
            GreetClient: 1,
            LogIn: LoggedIn(None, 0, "iggy"),
        }

    def execute(self, command: Command[Any], caller: Caller, reply: Callable[[Any], None]) -> None:
        if type(command) in self.results:
            reply(self.results[type(command)])
        else:
            self.asked.append((command, caller, reply))


class FakeMeter:
    def __init__(self) -> None:
        self.seen: list[tuple[str, str | None]] = []

    def begin(self) -> float:
        return 0.0

    def end(self, request: str, begun: float, error: str | None) -> None:
        self.seen.append((request, error))


class Conversation:
    def __init__(self, heartbeat_ms: int = 0) -> None:
        self.engine = FakeEngine()
        self.clock = FakeClock()
        self.timers = Timers(self.clock)
        self.protocol = IggyProtocol(
            self.engine,
            self.clock,
            self.timers,
            now_us=lambda: 0,
            heartbeat_ms=heartbeat_ms,
            frame_bytes_max=FRAME_BYTES_MAX,
            meter=(meter := FakeMeter()),
        )
        self.meter = meter
        self.wakes = 0
        self.session = IggySession(self.protocol, "10.0.0.7", 1234, Endpoint("broker", 8090), self._woken)
        self._scratch = memoryview(bytearray(256 << 10))

    def _woken(self) -> None:
        self.wakes += 1

    def send(self, data: bytes) -> None:
        while data:
            space = self.session.space(self._scratch)
            count = min(len(space), len(data))
            space[:count] = data[:count]
            data = data[count:]
            self.session.received(count, self._scratch)

    def statuses(self) -> list[int]:
        """Of the answers since the last call; they have left then."""
        data = b"".join(bytes(part) for part in self.session.data_to_send())
        found = []
        while data:
            status, size = struct.unpack_from("<II", data)
            found.append(status)
            data = data[8 + size :]
        return found

    def ask(self, data: bytes) -> list[int]:
        self.send(data)
        return self.statuses()

    def pass_time(self, milliseconds: int) -> None:
        self.clock.advance(milliseconds)
        self.timers.run_due()


@pytest.fixture
def conversation() -> Conversation:
    return Conversation()


# -- one after the other ---------------------------------------------------------------------------


def test_requests_in_one_segment_are_answered_in_order(conversation: Conversation) -> None:
    assert conversation.ask(PING + request(999) + PING) == [0, 3, 0]


@pytest.mark.parametrize("cut", range(1, 8))
def test_request_that_comes_in_pieces_is_answered_when_it_is_whole(
    conversation: Conversation, cut: int
) -> None:
    conversation.send(PING[:cut])
    assert conversation.statuses() == []
    assert not conversation.session.is_between_requests
    assert conversation.ask(PING[cut:]) == [0]


def test_request_behind_one_that_takes_time_waits_for_its_answer(conversation: Conversation) -> None:
    conversation.ask(LOGIN)
    conversation.send(GET_STREAM + PING + PING)
    assert conversation.statuses() == []
    assert not conversation.session.has_room
    assert conversation.session.held_bytes > 0
    [(command, _, reply)] = conversation.engine.asked
    assert command == DescribeStream("s")
    reply(DescribedStream(Fault.UNKNOWN_STREAM))
    assert conversation.wakes == 1
    assert conversation.statuses() == [0]
    conversation.session.proceed()
    assert conversation.statuses() == [0, 0]
    assert conversation.session.is_idle
    assert conversation.session.held_bytes == 0


def test_login_that_takes_time_counts_for_the_request_behind_it(conversation: Conversation) -> None:
    del conversation.engine.results[LogIn]
    conversation.send(LOGIN + GET_STREAM)
    [(_, _, reply)] = conversation.engine.asked
    reply(LoggedIn(None, 0, "iggy"))
    conversation.session.proceed()
    assert conversation.statuses() == [0]
    assert conversation.engine.asked[1][1].user_id == 0


def test_reply_after_the_peer_has_gone_is_dropped(conversation: Conversation) -> None:
    conversation.ask(LOGIN)
    conversation.send(GET_STREAM)
    conversation.session.close()
    conversation.engine.asked[0][2](DescribedStream(Fault.UNKNOWN_STREAM))
    assert conversation.session.data_to_send() == []
    assert conversation.session.client.caller.presence.is_gone


def test_request_is_measured_by_its_name_and_its_error(conversation: Conversation) -> None:
    conversation.ask(PING + request(999) + GET_STREAM)
    assert conversation.meter.seen == [
        ("PING", None),
        ("UNKNOWN", "INVALID_COMMAND"),
        ("GET_STREAM", "UNAUTHENTICATED"),
    ]


# -- before a login --------------------------------------------------------------------------------


@pytest.mark.parametrize("code", sorted(set(HANDLERS) - OPEN_TO_ALL))
def test_command_before_a_login_reaches_nobody(conversation: Conversation, code: int) -> None:
    """S7: whatever its body."""
    for body in (b"", b"\x02\x01s", bytes(40)):
        assert conversation.ask(request(code, body)) == [40]
    assert conversation.engine.asked == []


SYMBOLS = [
    PING,
    request(38, text("iggy") + text("wrong") + bytes(8)),
    request(44, text("no token")),
    request(39),
    GET_STREAM,
    request(101, bytes(40)),
    request(999),
    struct.pack("<I", 0xFFFF),
]
"""What somebody may try who has no login; the last is a length, which makes a body of what follows."""


def test_no_sequence_of_requests_without_a_login_reaches_the_core() -> None:
    """S7: all sequences of four. None of them changes anything, so that longer ones are more of the same."""
    for sequence in itertools.product(SYMBOLS, repeat=4):
        conversation = Conversation()
        conversation.engine.results |= {
            LogIn: LoggedIn(Fault.INVALID_CREDENTIALS),
            LogInWithToken: LoggedIn(Fault.UNKNOWN_TOKEN),
        }
        statuses = conversation.ask(b"".join(sequence))
        assert set(statuses) <= {0, 3, 20, 40, 42}
        assert statuses.count(0) <= sequence.count(PING)
        assert conversation.engine.asked == []


def test_unknown_command_before_a_login_is_invalid(conversation: Conversation) -> None:
    assert conversation.ask(request(999) + request(0) + request(606)) == [3, 3, 3]


def test_failed_login_leaves_nobody_logged_in(conversation: Conversation) -> None:
    conversation.engine.results[LogIn] = LoggedIn(Fault.INVALID_CREDENTIALS)
    assert conversation.ask(LOGIN + GET_STREAM) == [42, 40]


def test_frame_too_large_before_a_login_is_refused_and_passed_over(conversation: Conversation) -> None:
    """S3."""
    body = bytes(FRAME_BYTES_MAX_BEFORE_LOGIN)
    assert conversation.ask(request(200, body) + PING) == [3, 0]
    assert conversation.session.held_bytes == 0


@pytest.mark.parametrize("garbage", [struct.pack("<I", PASSED_OVER_BYTES_MAX + 1), b"GET / HTTP/1.1"])
def test_length_that_is_garbage_ends_the_connection_after_an_answer(
    conversation: Conversation, garbage: bytes
) -> None:
    with pytest.raises(DecodeError):
        conversation.send(garbage)
    assert conversation.statuses() == [3]


def test_length_that_is_no_garbage_yet_is_passed_over(conversation: Conversation) -> None:
    assert conversation.ask(struct.pack("<I", PASSED_OVER_BYTES_MAX)) == [3]
    assert not conversation.session.is_between_requests


def test_frame_as_large_as_allowed_is_taken_after_a_login(conversation: Conversation) -> None:
    conversation.ask(LOGIN)
    assert conversation.ask(request(999, bytes(FRAME_BYTES_MAX - 4)) + PING) == [3, 0]
    assert conversation.ask(request(999, bytes(FRAME_BYTES_MAX - 3)) + PING) == [3, 0]


def test_control_frame_above_its_limit_is_invalid() -> None:
    conversation = Conversation()
    conversation.protocol.frame_bytes_max = CONTROL_BYTES_MAX * 2
    conversation.ask(LOGIN)
    name = b"\x02" + text("s")
    conversation.engine.results[DescribeStream] = DescribedStream(Fault.UNKNOWN_STREAM)
    assert conversation.ask(request(200, name + bytes(CONTROL_BYTES_MAX - 4 - len(name)))) == [0]
    assert conversation.ask(request(200, name + bytes(CONTROL_BYTES_MAX - 3 - len(name)))) == [3]


# -- what is wrong with a request ------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 2, 3])
def test_request_without_room_for_a_code_is_invalid(conversation: Conversation, length: int) -> None:
    assert conversation.ask(PING) == [0]
    assert conversation.ask(struct.pack("<I", length) + bytes(length) + PING) == [3, 0]


def test_empty_request_later_on_is_invalid_and_no_newcomer(conversation: Conversation) -> None:
    assert conversation.ask(PING + bytes(4) + PING) == [0, 3, 0]


@pytest.mark.parametrize("code", sorted(HANDLERS))
def test_body_cut_anywhere_is_answered_and_the_connection_stays_in_step(code: int) -> None:
    """S1: no body, whatever it is, costs more than an error."""
    conversation = Conversation()
    conversation.ask(LOGIN)
    for size in range(24):
        for fill in (0, 1, 2, 255):
            before = len(conversation.engine.asked)
            conversation.send(request(code, bytes([fill]) * size))
            if len(conversation.engine.asked) > before:
                conversation.session.close()
                conversation = Conversation()
                conversation.ask(LOGIN)
            else:
                assert len(conversation.statuses()) == 1
    assert conversation.ask(PING) == [0]


# -- the end ---------------------------------------------------------------------------------------


def test_session_of_a_deleted_user_ends_with_its_answer(conversation: Conversation) -> None:
    conversation.ask(LOGIN)
    conversation.engine.results[DeleteStream] = Fault.USER_REMOVED
    with pytest.raises(DecodeError, match="deleted"):
        conversation.send(DELETE_STREAM + PING)
    assert conversation.statuses() == [100]


def test_session_of_a_deleted_user_ends_after_a_late_answer(conversation: Conversation) -> None:
    conversation.ask(LOGIN)
    conversation.send(DELETE_STREAM + PING)
    conversation.engine.asked[0][2](Fault.USER_REMOVED)
    assert conversation.statuses() == [100]
    assert not conversation.session.has_room
    with pytest.raises(DecodeError, match="deleted"):
        conversation.session.proceed()


def test_logout_leaves_the_connection_and_takes_the_rights(conversation: Conversation) -> None:
    conversation.engine.results[LogOut] = None
    conversation.ask(LOGIN)
    assert conversation.ask(request(39) + GET_STREAM + PING) == [0, 40, 0]


# -- heartbeats ------------------------------------------------------------------------------------


def test_client_that_sends_no_ping_grows_stale_and_leaves_its_groups() -> None:
    conversation = Conversation(HEARTBEAT_MS)
    conversation.ask(LOGIN)
    presence = conversation.session.client.caller.presence
    conversation.pass_time(HEARTBEAT_MS)
    assert not presence.is_gone, "a fifth of the interval is forgiven"
    conversation.pass_time(HEARTBEAT_MS)
    assert presence.is_gone
    with pytest.raises(DecodeError, match="heartbeats"):
        conversation.send(GET_STREAM)
    assert conversation.statuses() == [30]


def test_client_that_sends_pings_stays() -> None:
    conversation = Conversation(HEARTBEAT_MS)
    for _ in range(5):
        conversation.pass_time(HEARTBEAT_MS)
        assert conversation.ask(PING) == [0]
    assert not conversation.session.client.caller.presence.is_gone


def test_client_that_only_sends_other_requests_grows_stale() -> None:
    conversation = Conversation(HEARTBEAT_MS)
    conversation.ask(LOGIN)
    conversation.engine.results[DescribeStream] = DescribedStream(Fault.UNKNOWN_STREAM)
    conversation.pass_time(HEARTBEAT_MS)
    assert conversation.ask(GET_STREAM) == [0]
    conversation.pass_time(HEARTBEAT_MS)
    assert conversation.session.client.caller.presence.is_gone


def test_client_without_an_interval_never_grows_stale(conversation: Conversation) -> None:
    assert conversation.timers.next_due_ms is None
    conversation.pass_time(10**9)
    assert not conversation.session.client.caller.presence.is_gone


def test_client_that_has_gone_is_listened_for_no_more() -> None:
    conversation = Conversation(HEARTBEAT_MS)
    conversation.session.close()
    conversation.pass_time(HEARTBEAT_MS)
    assert conversation.timers.next_due_ms is None


# -- the node stops --------------------------------------------------------------------------------


def test_client_is_told_that_the_node_stops(conversation: Conversation) -> None:
    conversation.protocol.is_stopping = True
    conversation.session.peer_finished()
    assert conversation.statuses() == [8]


def test_client_is_told_that_the_node_stops_behind_its_last_answer(conversation: Conversation) -> None:
    conversation.ask(LOGIN)
    conversation.send(DELETE_STREAM + PING + PING)
    conversation.protocol.is_stopping = True
    conversation.session.peer_finished()
    assert conversation.statuses() == []
    conversation.engine.asked[0][2](Fault.UNKNOWN_STREAM)
    assert conversation.statuses() == [1009]
    conversation.session.proceed()
    assert conversation.statuses() == [0, 0, 8]


def test_client_that_has_finished_by_itself_is_told_nothing(conversation: Conversation) -> None:
    conversation.session.peer_finished()
    assert conversation.ask(PING) == [0]


def test_client_of_0_5_is_told_nothing_when_the_node_stops(conversation: Conversation) -> None:
    conversation.ask(request(38, text("iggy") + text("iggy") + struct.pack("<I", 5) + b"0.7.0" + bytes(4)))
    conversation.protocol.is_stopping = True
    conversation.session.peer_finished()
    assert conversation.statuses() == []


# -- newcomers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("piece_bytes", [256, 128, 7, 1])
def test_newcomer_is_evicted_in_its_own_words(conversation: Conversation, piece_bytes: int) -> None:
    header = bytearray(256)
    header[60] = 5
    header[128:144] = bytes(range(1, 17))
    pieces = [bytes(header[at : at + piece_bytes]) for at in range(0, len(header), piece_bytes)]
    for piece in pieces[:-1]:
        conversation.send(piece)
        assert conversation.session.data_to_send() == []
    with pytest.raises(Newcomer, match=r"0\.9"):
        conversation.send(pieces[-1])
    answer = b"".join(bytes(part) for part in conversation.session.data_to_send())
    assert len(answer) == 256
    assert struct.unpack_from("<I", answer, 48) == (256,)
    assert (answer[60], answer[255]) == (13, 14)
    assert answer[128:144] == bytes(range(1, 17))
    assert answer.count(0) == 256 - 16 - 1 - 2
