"""Logging in by SASL, as a Kafka session sees it (promises S3, S7, S8; mission 003.20)."""

import itertools
import struct
from typing import Any

import pytest

from tests.core.inhabited import InhabitedWorld
from tests.core.users.scram_client import ScramClient
from tests.protocols.kafka.conversation import HERE, Conversation
from trivium.core.caller import ANONYMOUS, Caller
from trivium.core.commands.command import Command
from trivium.core.commands.sasl import Authenticate, SaslStep
from trivium.core.faults import Fault
from trivium.messages.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from trivium.messages.api.list_groups import ListGroupsRequest, ListGroupsResponse
from trivium.messages.api.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from trivium.messages.api.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from trivium.messages.errors import ErrorCode
from trivium.messages.frames import encode_request
from trivium.protocols.kafka.apis import VERSIONS
from trivium.protocols.kafka.login import FAILED, OF_ANOTHER, Sasl
from trivium.protocols.kafka.protocol import KafkaProtocol
from trivium.protocols.kafka.session import KafkaSession
from trivium.wire.errors import DecodeError
from trivium.wire.limits import FRAME_BYTES_MAX_BEFORE_LOGIN

ALL = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
REQUIRED = Sasl(ALL, is_required=True)


class Guarded(Conversation):
    """A connection to a world with users, by a door where one logs in."""

    def __init__(self, world: InhabitedWorld, sasl: Sasl | None = REQUIRED) -> None:
        protocol = KafkaProtocol(world.broker, now_ms=world.clock.monotonic_ms)
        super().__init__(protocol)
        self.session = KafkaSession(protocol, "10.0.0.7", HERE, lambda: None, sasl=sasl)

    def choose(self, mechanism: str, version: int = 1) -> SaslHandshakeResponse:
        return self.ask(SaslHandshakeRequest(mechanism=mechanism), version, SaslHandshakeResponse)

    def say(self, message: bytes, version: int = 2) -> SaslAuthenticateResponse:
        return self.ask(SaslAuthenticateRequest(auth_bytes=message), version, SaslAuthenticateResponse)

    def log_in(self, username: str = "iggy", password: str = "iggy") -> SaslAuthenticateResponse:
        assert self.choose("PLAIN").error_code == ErrorCode.NONE
        return self.say(f"\0{username}\0{password}".encode())

    def is_served(self) -> bool:
        return self.ask(ListGroupsRequest(), 0, ListGroupsResponse).error_code == ErrorCode.NONE

    def say_last(self, request: Any, version: int) -> Any:
        """What is answered to a request that ends the connection."""
        with pytest.raises(DecodeError):
            self.send(request, version)
        [answer] = self.answers()
        return answer


@pytest.fixture
def world() -> InhabitedWorld:
    made = InhabitedWorld()
    made.found()
    return made


def test_plain_login_makes_the_caller_somebody(world: InhabitedWorld) -> None:
    peer = Guarded(world)
    answer = peer.log_in()
    assert (answer.error_code, answer.session_lifetime_ms) == (ErrorCode.NONE, 0)
    assert (peer.session.caller.principal, peer.session.caller.user_id) == ("User:iggy", 0)
    assert peer.is_served()


@pytest.mark.parametrize(("mechanism", "hash_name"), [(ALL[1], "sha256"), (ALL[2], "sha512")])
def test_scram_login_takes_two_messages(world: InhabitedWorld, mechanism: str, hash_name: str) -> None:
    peer = Guarded(world)
    assert peer.choose(mechanism).mechanisms == list(ALL)
    client = ScramClient(hash_name, "iggy", "iggy")
    first = peer.say(client.first())
    assert peer.session.caller.principal == ANONYMOUS
    last = peer.say(client.final(first.auth_bytes))
    assert last.auth_bytes == client.signature
    assert peer.session.caller.principal == "User:iggy"
    assert peer.is_served()


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "PLAIN"])
def test_messages_may_come_without_a_header_as_after_handshake_0(
    world: InhabitedWorld, mechanism: str
) -> None:
    peer = Guarded(world)
    peer.choose(mechanism, version=0)
    client = ScramClient("sha256", "iggy", "iggy")
    if mechanism == "PLAIN":
        assert bare(peer, b"\0iggy\0iggy") == b""
    else:
        assert bare(peer, client.final(bare(peer, client.first()))) == client.signature
    assert peer.session.caller.principal == "User:iggy"
    assert peer.is_served()


def bare(peer: Guarded, message: bytes) -> bytes:
    data = struct.pack(">i", len(message)) + message
    peer.session.space(peer._scratch)[: len(data)] = data
    peer.session.received(len(data), peer._scratch)
    answer = b"".join(map(bytes, peer.session.data_to_send()))
    assert struct.unpack_from(">i", answer)[0] == len(answer) - 4
    return answer[4:]


def test_failed_message_without_a_header_ends_the_connection(world: InhabitedWorld) -> None:
    peer = Guarded(world)
    peer.choose("PLAIN", version=0)
    with pytest.raises(DecodeError):
        bare(peer, b"\0iggy\0wrong")
    assert peer.session.caller.principal == ANONYMOUS


@pytest.mark.parametrize("message", [b"\0iggy\0wrong", b"\0nobody\0iggy", b"rubbish"])
def test_failed_login_is_answered_and_ends_the_connection(world: InhabitedWorld, message: bytes) -> None:
    """S8, S11: the same words, whatever was wrong."""
    peer = Guarded(world)
    peer.choose("PLAIN")
    answer = peer.say_last(SaslAuthenticateRequest(auth_bytes=message), 2)
    assert (answer.error_code, answer.error_message) == (ErrorCode.SASL_AUTHENTICATION_FAILED, FAILED)
    assert answer.auth_bytes == b""
    assert not peer.session.has_room


def test_requests_wait_while_a_password_is_checked(world: InhabitedWorld) -> None:
    """What comes behind a login is asked by whoever has logged in, and by nobody if that fails."""
    peer = Guarded(world)
    peer.choose("PLAIN")
    world.passwords.holds = True
    peer.send(SaslAuthenticateRequest(auth_bytes=b"\0iggy\0iggy"), 2)
    peer.send(ListGroupsRequest(), 0)
    assert peer.answers() == []
    assert not peer.session.has_room
    world.passwords.release()
    [answer] = peer.answers()
    assert isinstance(answer, SaslAuthenticateResponse)
    peer.session.proceed()
    [answer] = peer.answers()
    assert isinstance(answer, ListGroupsResponse)
    assert answer.error_code == ErrorCode.NONE


def test_mechanism_that_is_not_offered_is_refused_with_those_that_are(world: InhabitedWorld) -> None:
    peer = Guarded(world)
    answer = peer.choose("GSSAPI")
    assert (answer.error_code, answer.mechanisms) == (ErrorCode.UNSUPPORTED_SASL_MECHANISM, list(ALL))
    assert peer.log_in().error_code == ErrorCode.NONE, "and another can be chosen"


def test_where_nobody_logs_in_sasl_is_out_of_place(world: InhabitedWorld) -> None:
    peer = Guarded(world, None)
    assert peer.choose("PLAIN").error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert peer.say(b"").error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert peer.is_served()


def test_login_may_be_left_out_where_it_is_not_required(world: InhabitedWorld) -> None:
    peer = Guarded(world, Sasl(ALL, is_required=False))
    assert peer.is_served()
    assert peer.log_in().error_code == ErrorCode.NONE
    assert peer.session.caller.principal == "User:iggy"


# -- before the login ----------------------------------------------------------------------------------


class Listening:
    """An engine that nobody may reach: it takes note of every command, and lets nobody in."""

    def __init__(self) -> None:
        self.commands: list[Command[Any]] = []

    def execute(self, command: Command[Any], caller: Caller, reply: Any) -> None:
        if isinstance(command, Authenticate):
            more = command.message == b"more" and command.exchange is None
            reply(SaslStep(exchange="begun") if more else SaslStep(Fault.INVALID_CREDENTIALS))
        else:
            self.commands.append(command)


def framed(request: Any, version: int) -> bytes:
    frame = encode_request(request, version, 1, "client")
    return struct.pack(">i", len(frame)) + frame


SYMBOLS = {
    "versions": framed(ApiVersionsRequest(), 0),
    "handshake": framed(SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1),
    "bare": framed(SaslHandshakeRequest(mechanism="PLAIN"), 0),
    "unknown": framed(SaslHandshakeRequest(mechanism="NONE"), 1),
    "more": framed(SaslAuthenticateRequest(auth_bytes=b"more"), 2),
    "wrong": framed(SaslAuthenticateRequest(auth_bytes=b"wrong"), 2),
    "asks": framed(ListGroupsRequest(), 0),
    "rubbish": struct.pack(">i", 4) + b"more",
}


def speak(session: KafkaSession, data: bytes, scratch: memoryview) -> bool:
    """Whether the connection goes on."""
    try:
        session.space(scratch)[: len(data)] = data
        session.received(len(data), scratch)
    except DecodeError:
        return False
    return session.has_room


def test_no_sequence_before_a_login_reaches_the_core() -> None:
    """S7: every sequence of four over eight symbols; the long form is a matter of patience."""
    scratch = memoryview(bytearray(1 << 16))
    for sequence in itertools.product(SYMBOLS, repeat=4):
        engine = Listening()
        session = KafkaSession(KafkaProtocol(engine), "10.0.0.7", HERE, lambda: None, sasl=REQUIRED)
        for symbol in sequence:
            if not speak(session, SYMBOLS[symbol], scratch):
                break
        assert not engine.commands, sequence
        assert session.caller.principal == ANONYMOUS


@pytest.mark.parametrize("key", [key for key in VERSIONS if key not in (17, 18, 36)])
def test_no_api_is_served_before_a_login(key: int) -> None:
    """S7, S10: generated from the table of what is served."""
    scratch = memoryview(bytearray(1 << 16))
    version_min, version_last = VERSIONS[key]
    for version in range(version_min, version_last + 1):
        engine = Listening()
        session = KafkaSession(KafkaProtocol(engine), "10.0.0.7", HERE, lambda: None, sasl=REQUIRED)
        head = struct.pack(">hhih", key, version, 1, -1) + bytes(64)
        assert not speak(session, struct.pack(">i", len(head)) + head, scratch)
        assert not engine.commands


def test_large_frame_is_refused_before_a_login_and_taken_after(world: InhabitedWorld) -> None:
    """S3."""
    peer = Guarded(world)
    announced = struct.pack(">i", FRAME_BYTES_MAX_BEFORE_LOGIN + 1)
    peer._scratch[:4] = announced
    with pytest.raises(DecodeError):
        peer.session.received(4, peer._scratch)
    peer = Guarded(world)
    peer.log_in()
    peer._scratch[:4] = announced
    peer.session.received(4, peer._scratch)


# -- logging in again (KIP-368) ------------------------------------------------------------------------

FOR_A_SECOND = Sasl(ALL, is_required=True, reauthentication_ms=1000)


def test_login_that_has_expired_ends_the_connection_at_the_next_request(world: InhabitedWorld) -> None:
    peer = Guarded(world, FOR_A_SECOND)
    assert peer.log_in().session_lifetime_ms == 1000
    world.clock.advance(999)
    assert peer.is_served()
    world.clock.advance(1)
    with pytest.raises(DecodeError, match="before a login"):
        peer.send(ListGroupsRequest(), 0)


def test_login_made_again_counts_anew(world: InhabitedWorld) -> None:
    peer = Guarded(world, FOR_A_SECOND)
    peer.log_in()
    world.clock.advance(1500)
    assert peer.ask(ApiVersionsRequest(), 0, ApiVersionsResponse).error_code == ErrorCode.NONE
    assert peer.log_in().error_code == ErrorCode.NONE
    assert peer.is_served()


def test_login_made_again_as_somebody_else_ends_the_connection(world: InhabitedWorld) -> None:
    from trivium.core.commands.users import CreateUser

    world.ask(CreateUser("ann", "secret"), world.log_in("iggy", "iggy"))
    peer = Guarded(world, FOR_A_SECOND)
    peer.log_in()
    peer.choose("PLAIN")
    answer = peer.say_last(SaslAuthenticateRequest(auth_bytes=b"\0ann\0secret"), 2)
    assert answer.error_message == OF_ANOTHER
    assert peer.session.caller.principal == "User:iggy"


def test_client_that_cannot_know_when_to_log_in_again_need_not(world: InhabitedWorld) -> None:
    peer = Guarded(world, FOR_A_SECOND)
    peer.choose("PLAIN")
    peer.say(b"\0iggy\0iggy", version=0)
    world.clock.advance(5000)
    assert peer.is_served()
