"""Nothing is reachable before a login (S7): every sequence of messages over eight symbols, at each door.

Sequences of six in the long form (262,144 a door), of three in the slice. A sequence whose beginning has
ended the connection stands for all that begin like it.
"""

import json
import struct
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import pytest

from tests.abuse.amount import IS_LONG
from tests.core.fakes import FakeClock
from tests.protocols.iggy import test_session as iggy
from tests.protocols.kafka import test_login as kafka
from tests.protocols.kafka.conversation import HERE
from tests.protocols.rustlog.test_dialects import as_binary
from trivium.core.caller import ANONYMOUS, Caller
from trivium.core.commands.clients import GreetClient
from trivium.core.commands.command import Command
from trivium.core.commands.sasl import Authenticate, SaslStep
from trivium.core.commands.users import LoggedIn, LogIn, LogInWithToken
from trivium.core.faults import Fault
from trivium.core.timers import Timers
from trivium.protocols.conversation import Conversation
from trivium.protocols.iggy.client import Endpoint
from trivium.protocols.iggy.protocol import IggyProtocol
from trivium.protocols.iggy.session import IggySession
from trivium.protocols.kafka.protocol import KafkaProtocol
from trivium.protocols.kafka.session import KafkaSession
from trivium.protocols.rustlog import messages as m
from trivium.protocols.rustlog.msgpack import pack
from trivium.protocols.rustlog.protocol import RustLogProtocol
from trivium.protocols.rustlog.session import RustLogSession
from trivium.wire.errors import DecodeError

LENGTH: Final = 6 if IS_LONG else 3


class Guard:
    """An engine that lets nobody in, and takes note of every command that is no login."""

    def __init__(self) -> None:
        self.reached: list[Command[Any]] = []
        self.lets_in = False

    def execute(self, command: Command[Any], caller: Caller, reply: Any) -> None:
        if isinstance(command, Authenticate):
            more = command.message == b"more" and command.exchange is None
            reply(SaslStep(exchange="begun") if more else SaslStep(Fault.INVALID_CREDENTIALS))
        elif isinstance(command, LogIn | LogInWithToken):
            reply(LoggedIn(None, 7, "ann") if self.lets_in else LoggedIn(Fault.INVALID_CREDENTIALS))
        elif isinstance(command, GreetClient):
            reply(1)
        else:
            self.reached.append(command)


def _kafka(guard: Guard) -> KafkaSession:
    return KafkaSession(KafkaProtocol(guard), "10.0.0.7", HERE, _nobody, sasl=kafka.REQUIRED)


def _iggy(guard: Guard) -> IggySession:
    clock = FakeClock()
    protocol = IggyProtocol(guard, clock, Timers(clock), now_us=lambda: 0)
    return IggySession(protocol, "10.0.0.7", 1234, Endpoint("broker", 8090), _nobody)


def _rustlog(guard: Guard) -> RustLogSession:
    clock = FakeClock()
    protocol = RustLogProtocol(guard, clock, Timers(clock), is_login_required=True)
    return RustLogSession(protocol, "10.0.0.7", _nobody)


def _nobody() -> None:
    """Whoever would be woken."""


def _framed(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


RUSTLOG_SYMBOLS: Final = [
    _framed(json.dumps({"Ping": {}}).encode()),
    _framed(json.dumps({"Login": {"username": "ann", "password": "wrong"}}).encode()),
    _framed(as_binary(m.LoginRequest("", ""))),
    _framed(json.dumps({"ListTopics": {}}).encode()),
    _framed(pack({"Produce": {"topic": "t", "partition": 0, "records": [b"x"]}})),
    _framed(as_binary(m.FetchRequest("t", 0, 0, 100))),
    _framed(b"\xff\xff"),
    struct.pack(">I", 30),  # a length, which makes a body of what follows
]


class Watched(NamedTuple):
    session: Callable[[Guard], Conversation[Any]]
    symbols: list[bytes]


DOORS: Final[Mapping[str, Watched]] = {
    "kafka": Watched(_kafka, list(kafka.SYMBOLS.values())),
    "iggy": Watched(_iggy, iggy.SYMBOLS),
    "rustlog": Watched(_rustlog, RUSTLOG_SYMBOLS),
}


def feed(session: Conversation[Any], data: bytes, scratch: memoryview) -> None:
    """As a connection does: as much at a time as the session has space for."""
    while data:
        space = session.space(scratch)
        count = min(len(space), len(data))
        space[:count] = data[:count]
        session.received(count, scratch)
        data = data[count:]


def goes_on(watched: Watched, sequence: tuple[bytes, ...], scratch: memoryview) -> bool:
    """Whether the connection is still open after these messages; nobody has got in by them in any case."""
    guard = Guard()
    session = watched.session(guard)
    for message in sequence:
        try:
            feed(session, message, scratch)
            session.data_to_send()
            session.proceed()
        except DecodeError:
            break
    is_open = not session.is_closed and session.has_room
    assert guard.reached == [], sequence
    assert session.caller.principal == ANONYMOUS, sequence
    assert session.caller.user_id is None, sequence
    session.close()
    return is_open


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("first", range(8))
def test_no_sequence_before_a_login_reaches_the_core(door: str, first: int) -> None:
    watched = DOORS[door]
    assert len(watched.symbols) == 8
    scratch = memoryview(bytearray(1 << 16))

    def covered(sequence: tuple[bytes, ...]) -> int:
        """How many sequences of the whole length begin like this one: all of them are tried."""
        if len(sequence) == LENGTH:
            goes_on(watched, sequence, scratch)
            return 1
        if not goes_on(watched, sequence, scratch):
            return int(8 ** (LENGTH - len(sequence)))
        return sum(covered((*sequence, symbol)) for symbol in watched.symbols)

    assert covered((watched.symbols[first],)) == 8 ** (LENGTH - 1)


@pytest.mark.parametrize("door", ["iggy", "rustlog"])
def test_the_same_messages_do_reach_the_core_after_a_login(door: str) -> None:
    """So that the silence above is no mistake of the test. (Kafka's is in its own tests of logins.)"""
    guard = Guard()
    guard.lets_in = True
    session = DOORS[door].session(guard)
    scratch = memoryview(bytearray(1 << 16))
    for message in DOORS[door].symbols[:6]:
        feed(session, message, scratch)
        session.data_to_send()
    assert guard.reached != []
