"""Encrypted doors, by the clients that people use (mission 003.21, 004.25)."""

import socket
import ssl
import struct
import urllib.request
from collections.abc import Iterator

import pytest

from tests.clients.certificates import Certified, certified
from tests.clients.secured import TRIPS, Refused, Secured, Trip
from tests.server.wire import Peer
from trivium.testing.broker import Broker

RULES = "RULE:^CN=([a-z]+)$/$1/,DEFAULT"


@pytest.fixture(scope="module")
def certificates() -> Iterator[Certified]:
    with certified() as made:
        yield made


@pytest.fixture(scope="module")
def broker(certificates: Certified) -> Iterator[Broker]:
    doors = {
        "listen.kafka": "SSL://127.0.0.1:0",
        "listen.auto": "127.0.0.1:0",
        "listen.rustlog": "tls://127.0.0.1:0",
        "listen.console": "tls://127.0.0.1:0",
    }
    with Broker(settings={**certificates.settings, **doors}) as made:
        yield made


@pytest.fixture(params=list(TRIPS.values()), ids=list(TRIPS))
def trip(request: pytest.FixtureRequest) -> Trip:
    made: Trip = request.param
    return made


VALUES = [b"small", bytes(300_000), b"last"]


@pytest.mark.parametrize("door", ["kafka", "auto"])
def test_records_come_and_go_encrypted(
    broker: Broker, certificates: Certified, trip: Trip, door: str
) -> None:
    topic = f"{trip.__name__}-{door}"
    secured = Secured("SSL", ca=certificates.ca)
    assert trip(broker.address(door), secured, topic, VALUES) == VALUES


def test_port_for_all_protocols_also_speaks_plaintext(broker: Broker, trip: Trip) -> None:
    assert trip(broker.address("auto"), Secured(), f"{trip.__name__}-plain", VALUES) == VALUES


def test_client_that_does_not_know_the_authority_stays_away(broker: Broker) -> None:
    context = ssl.create_default_context()
    host, port = broker.bootstrap.split(":")
    with (
        socket.create_connection((host, int(port)), timeout=20) as sock,
        pytest.raises(ssl.SSLCertVerificationError),
    ):
        context.wrap_socket(sock, server_hostname="localhost")


def test_plaintext_client_at_an_encrypted_door_is_sent_away(broker: Broker) -> None:
    with Peer(broker.bootstrap) as peer:
        peer.socket.sendall(b"\0\0\0\x0a\0\x12\0\0\0\0\0\x01\xff\xff")
        assert peer.is_closed()


def test_rustlog_and_console_are_encrypted_too(broker: Broker, certificates: Certified) -> None:
    context = ssl.create_default_context(cafile=str(certificates.ca))
    host, port = broker.address("rustlog").split(":")
    with (
        socket.create_connection((host, int(port)), timeout=20) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as sock,
    ):
        body = b'{"Ping":{}}'
        sock.sendall(len(body).to_bytes(4, "big") + body)
        assert sock.recv(1000).endswith(body)
    with urllib.request.urlopen(f"https://{broker.address('console')}/health", context=context) as answer:
        assert answer.read() == b"alive\n"


def test_iggy_is_encrypted_too(strict: Broker, certificates: Certified) -> None:
    """PING, and its empty answer, as Iggy's clients send it."""
    context = ssl.create_default_context(cafile=str(certificates.ca))
    pair = certificates.authority.client_pair("reader")
    context.load_cert_chain(pair.certificate, pair.key)
    host, port = strict.address("iggy").split(":")
    with (
        socket.create_connection((host, int(port)), timeout=20) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as sock,
    ):
        sock.sendall(struct.pack("<II", 4, 1))
        assert sock.recv(100) == bytes(8)


def test_stalled_handshake_is_given_up(certificates: Certified) -> None:
    """S5: whoever begins to shake hands and falls silent is sent away by its deadline."""
    settings = certificates.settings | {"listen.kafka": "SSL://127.0.0.1:0", "limits.first-request-ms": "100"}
    with Broker(settings=settings) as broker, Peer(broker.bootstrap) as peer:
        peer.socket.sendall(bytes.fromhex("160301"))
        assert peer.is_closed()


# -- certificates of clients -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def strict(certificates: Certified) -> Iterator[Broker]:
    settings = certificates.settings | {
        "listen.kafka": "SSL://127.0.0.1:0",
        "listen.iggy": "tls://127.0.0.1:0",
        "tls.client-ca": certificates.ca,
        "tls.client-auth": "required",
        "ssl.principal.mapping.rules": RULES,
        "iggy.root.username": "admin",
        "iggy.root.password": "secret",
        "access.anonymous": "deny",
    }
    with Broker(settings=settings) as made:
        yield made


def test_certificate_says_who_a_client_is(strict: Broker, certificates: Certified, trip: Trip) -> None:
    """The first user may do everything, and nobody else has a right here: the name has arrived."""
    pair = certificates.authority.client_pair("admin")
    secured = Secured("SSL", certificates.ca, pair.certificate, pair.key)
    assert trip(strict.bootstrap, secured, trip.__name__, VALUES) == VALUES


def test_client_without_a_certificate_is_refused_where_one_is_required(
    strict: Broker, certificates: Certified
) -> None:
    context = ssl.create_default_context(cafile=str(certificates.ca))
    host, port = strict.bootstrap.split(":")
    with (
        socket.create_connection((host, int(port)), timeout=20) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as sock,
    ):
        sock.sendall(b"\0\0\0\x0a\0\x12\0\0\0\0\0\x01\xff\xff")
        with pytest.raises(ssl.SSLError, match="certificate required"):
            sock.recv(100)


def test_certificate_of_another_authority_is_refused(strict: Broker, certificates: Certified) -> None:
    with certified() as others:
        pair = others.authority.client_pair("admin")
        secured = Secured("SSL", certificates.ca, pair.certificate, pair.key)
        with pytest.raises(Refused):
            TRIPS["confluent-kafka"](strict.bootstrap, secured, "t", VALUES)
