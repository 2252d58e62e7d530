"""Login at RustLog's door, by the users that all doors share (promises S3, S7, S8, S15)."""

import json
import struct
from typing import Any

import pytest

from tests.core.inhabited import InhabitedWorld
from tests.protocols.rustlog.test_dialects import as_binary
from trivium.core.access import Anonymous
from trivium.core.caller import ANONYMOUS
from trivium.protocols.rustlog import messages as m
from trivium.protocols.rustlog.login import FIRST, WRONG
from trivium.protocols.rustlog.protocol import RustLogProtocol
from trivium.protocols.rustlog.session import RustLogSession
from trivium.wire.limits import FRAME_BYTES_MAX_BEFORE_LOGIN


class Peer:
    def __init__(self, world: InhabitedWorld) -> None:
        protocol = RustLogProtocol(world.broker, world.clock, world.timers, is_login_required=True)
        self.session = RustLogSession(protocol, "10.0.0.7", lambda: None)
        self._scratch = memoryview(bytearray(1 << 20))

    def send(self, body: bytes) -> None:
        data = struct.pack(">I", len(body)) + body
        self.session.space(self._scratch)[: len(data)] = data
        self.session.received(len(data), self._scratch)

    def answers(self) -> list[bytes]:
        data, found = b"".join(map(bytes, self.session.data_to_send())), []
        while data:
            (size,) = struct.unpack_from(">I", data)
            found.append(data[4 : 4 + size])
            data = data[4 + size :]
        return found

    def ask(self, kind: str, **fields: Any) -> Any:
        self.send(json.dumps({kind: fields}).encode())
        [answer] = self.answers()
        return json.loads(answer)

    def log_in(self, username: str = "iggy", password: str = "iggy") -> Any:
        return self.ask("Login", username=username, password=password)


@pytest.fixture
def world() -> InhabitedWorld:
    made = InhabitedWorld(Anonymous.DENY)
    made.found()
    return made


def test_login_makes_the_connection_somebodys(world: InhabitedWorld) -> None:
    peer = Peer(world)
    assert peer.ask("CreateTopic", topic="t", partitions=1) == {"Error": {"message": FIRST}}
    assert peer.ask("Ping") == {"Ping": {}}
    assert peer.log_in() == {"Login": {"success": True}}
    assert (peer.session.caller.principal, peer.session.caller.user_id) == ("User:iggy", 0)
    assert peer.ask("CreateTopic", topic="t", partitions=1) == {"CreateTopic": {"success": True}}


def test_login_in_the_binary_form(world: InhabitedWorld) -> None:
    peer = Peer(world)
    peer.send(as_binary(m.LoginRequest("iggy", "iggy")))
    assert peer.answers() == [b"\x0b\x01"]
    assert peer.session.caller.principal == "User:iggy"


@pytest.mark.parametrize(("username", "password"), [("iggy", "wrong"), ("nobody", "iggy"), ("", "")])
def test_wrong_name_and_wrong_password_are_one_answer(
    world: InhabitedWorld, username: str, password: str
) -> None:
    peer = Peer(world)
    assert peer.log_in(username, password) == {"Error": {"message": WRONG}}
    assert peer.session.caller.principal == ANONYMOUS
    assert peer.ask("ListTopics") == {"Error": {"message": FIRST}}
    assert peer.log_in() == {"Login": {"success": True}}


def test_every_request_waits_for_the_login_before_it(world: InhabitedWorld) -> None:
    peer = Peer(world)
    world.passwords.holds = True
    peer.send(b'{"Login":{"username":"iggy","password":"iggy"}}')
    peer.send(b'{"CreateTopic":{"topic":"t","partitions":1}}')
    assert peer.answers() == []
    world.passwords.release()
    assert peer.answers() == [b'{"Login":{"success":true}}']
    peer.session.proceed()
    assert peer.answers() == [b'{"CreateTopic":{"success":true}}']


def test_large_frame_is_refused_before_a_login_and_taken_after(world: InhabitedWorld) -> None:
    """S3."""
    peer = Peer(world)
    large = json.dumps({"Ping": {"x": "y" * FRAME_BYTES_MAX_BEFORE_LOGIN}}).encode()
    peer.send(large)
    [answer] = peer.answers()
    assert "max frame size exceeded" in json.loads(answer)["Error"]["message"]
    peer.log_in()
    peer.send(large)
    assert peer.answers() == [b'{"Ping":{}}']


def test_password_is_repeated_nowhere() -> None:
    """S15."""
    assert "canary" not in repr(m.LoginRequest("ann", "canary"))
    world = InhabitedWorld()
    peer = Peer(world)
    answer = peer.ask("Login", username="ann", password={"canary": "canary"})
    assert "canary" not in json.dumps(answer)
