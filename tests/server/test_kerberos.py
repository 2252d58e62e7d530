"""A node that offers GSSAPI, over a library that only pretends: loop, threads and sentences (S8, 003.20)."""

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tests.server.wire import Peer
from trivium.messages.api import ApiKey
from trivium.messages.api.metadata import MetadataRequest
from trivium.messages.api.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from trivium.messages.api.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from trivium.messages.errors import ErrorCode
from trivium.server.kerberos import MISSING
from trivium.server.listeners import CannotListen
from trivium.testing.broker import Broker

SETTINGS = {
    "listen.kafka": "SASL_PLAINTEXT://127.0.0.1:0",
    "sasl.enabled.mechanisms": "GSSAPI",
    "kerberos.keytab": "kafka.keytab",
    "kerberos.principal": "kafka/localhost@EXAMPLE.COM",
    "iggy.root.username": "admin",
    "iggy.root.password": "admin-password",
    "access.acls": "on",
    "super.users": "User:ann",
}


class PretendedError(Exception):
    maj_code = min_code = 0

    def get_all_statuses(self, code: int, is_major: bool) -> list[str]:
        return [str(self)] if is_major else []


class PretendedName(str):
    def __new__(cls, text: str, kind: object = None) -> "PretendedName":
        return super().__new__(cls, text)

    def canonicalize(self, mechanism: object) -> "PretendedName":
        return self


class PretendedContext:
    """A token is "ticket of PRINCIPAL"; wrapping is a pair of brackets."""

    def __init__(self, creds: object, usage: str) -> None:
        assert usage == "accept"
        self.initiator_name: str | None = None

    @property
    def complete(self) -> bool:
        return self.initiator_name is not None

    def step(self, token: bytes) -> bytes:
        word, _, principal = token.decode().partition(" of ")
        if word != "ticket":
            raise PretendedError("the ticket is not for this key")
        self.initiator_name = principal
        return b"and mine"

    def wrap(self, message: bytes, encrypt: bool) -> Any:
        assert not encrypt
        return SimpleNamespace(message=b"<" + message + b">")

    def unwrap(self, message: bytes) -> Any:
        if message[:1] != b"<" or message[-1:] != b">":
            raise PretendedError("the message has been changed")
        return SimpleNamespace(message=message[1:-1])


def pretended_credentials(name: str, usage: str, mechs: list[object], store: dict[str, str]) -> object:
    assert (usage, mechs) == ("accept", ["krb5"])
    if store["keytab"] != "FILE:kafka.keytab":
        raise PretendedError("No such file or directory.")
    return object()


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    pretended: Any = SimpleNamespace(
        Name=PretendedName,
        NameType=SimpleNamespace(kerberos_principal=object()),
        MechType=SimpleNamespace(kerberos="krb5"),
        Credentials=pretended_credentials,
        SecurityContext=PretendedContext,
        exceptions=SimpleNamespace(GSSError=PretendedError),
    )
    monkeypatch.setitem(sys.modules, "gssapi", pretended)


@pytest.fixture
def broker(library: None) -> Iterator[Broker]:
    with Broker(settings=SETTINGS) as made:
        yield made


def authenticate(peer: Peer, message: bytes) -> SaslAuthenticateResponse:
    peer.ask(SaslAuthenticateRequest(auth_bytes=message), 2)
    answer = peer.answer(ApiKey.SASL_AUTHENTICATE, 2)[1]
    assert isinstance(answer, SaslAuthenticateResponse)
    return answer


def played(broker: Broker, *messages: bytes) -> ErrorCode:
    """The code of the last answer; after a good one the connection is of use."""
    with Peer(broker.bootstrap) as peer:
        peer.ask(SaslHandshakeRequest(mechanism="GSSAPI"), 1)
        handshake = peer.answer(ApiKey.SASL_HANDSHAKE, 1)[1]
        assert isinstance(handshake, SaslHandshakeResponse)
        assert (handshake.error_code, handshake.mechanisms) == (ErrorCode.NONE, ["GSSAPI"])
        for message in messages:
            answer = authenticate(peer, message)
            if answer.error_code != ErrorCode.NONE:
                break
        if answer.error_code == ErrorCode.NONE:
            peer.ask(MetadataRequest(topics=None), 12)
            assert peer.answer(ApiKey.METADATA, 12)
        return ErrorCode(answer.error_code)


def test_owner_of_a_ticket_is_let_in(broker: Broker) -> None:
    messages = (b"ticket of ann@EXAMPLE.COM", b"", b"<\x01\0\0\0ann@EXAMPLE.COM>")
    assert played(broker, *messages) is ErrorCode.NONE


@pytest.mark.parametrize(
    "messages",
    [
        (b"nonsense",),
        (b"ticket of ann@OTHER.COM", b"", b"<\x01\0\0\0>"),
        (b"ticket of ann@EXAMPLE.COM", b"", b"\x01\0\0\0"),
        (b"ticket of ann@EXAMPLE.COM", b"", b"<\x04\0\0\0>"),
        (b"ticket of ann@EXAMPLE.COM", b"", b"<\x01\0\0\0admin>"),
    ],
)
def test_everybody_else_hears_one_answer(broker: Broker, messages: tuple[bytes, ...]) -> None:
    assert played(broker, *messages) is ErrorCode.SASL_AUTHENTICATION_FAILED


def test_node_without_the_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", None)
    with pytest.raises(CannotListen) as refused, Broker(settings=SETTINGS):
        pass
    assert str(refused.value) == MISSING


@pytest.mark.usefixtures("library")
def test_node_without_its_key_says_why() -> None:
    with pytest.raises(CannotListen) as refused, Broker(settings=SETTINGS | {"kerberos.keytab": "missing"}):
        pass
    said = str(refused.value)
    assert said.startswith("missing has no key that can be used for kafka/localhost@EXAMPLE.COM")
    assert "No such file or directory" in said


@pytest.mark.usefixtures("library")
def test_node_with_a_name_that_is_no_principal_says_so() -> None:
    settings = SETTINGS | {"kerberos.principal": "kafka/a/b@EXAMPLE.COM"}
    with pytest.raises(CannotListen) as refused, Broker(settings=settings):
        pass
    assert "is no principal" in str(refused.value)
