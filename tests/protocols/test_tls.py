"""TLS around a session, without a socket."""

import ssl
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.clients.certificates import Certified, certified
from tests.protocols.rustlog.conversation import Door
from tests.protocols.test_first_bytes import rustlog
from trivium.protocols.rustlog.session import RustLogSession
from trivium.protocols.session import Session
from trivium.protocols.tls import Certificate, TlsFailed, TlsSession
from trivium.wire.errors import DecodeError

PING = rustlog(b'{"Ping":{}}')


@pytest.fixture(scope="module")
def certificates() -> Iterator[Certified]:
    with certified() as made:
        yield made


@pytest.fixture(scope="module")
def context(certificates: Certified) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(*certificates.server)
    return made


class Wire:
    """A client's end of TLS and our session, with the bytes between them in pieces of any size."""

    def __init__(self, context: ssl.SSLContext, certificates: Certified, piece_bytes: int = 1 << 16) -> None:
        self._to_client, self._from_client = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.client = ssl.create_default_context(cafile=str(certificates.ca)).wrap_bio(
            self._to_client, self._from_client, server_hostname="localhost"
        )
        self.shown: list[Certificate | None] = []
        self.session = TlsSession(context, self._make)
        self._scratch = memoryview(bytearray(1 << 16))
        self._piece_bytes = piece_bytes

    def _make(self, certificate: Certificate | None) -> Session:
        self.shown.append(certificate)
        return RustLogSession(Door().protocol, "10.0.0.7", lambda: None)

    def carry(self) -> None:
        """Everything that either side has to say, until nobody has anything."""
        while True:
            data = self._from_client.read()
            for at in range(0, len(data), self._piece_bytes):
                piece = data[at : at + self._piece_bytes]
                self._scratch[: len(piece)] = piece
                self.session.received(len(piece), self._scratch)
            answered = b"".join(self.session.data_to_send())
            self._to_client.write(answered)
            if not data and not answered:
                return

    def shake_hands(self) -> None:
        for _ in range(4):
            try:
                self.client.do_handshake()
            except ssl.SSLWantReadError:
                self.carry()
        self.carry()

    def read(self) -> bytes:
        data = b""
        try:
            while piece := self.client.read(1 << 16):
                data += piece
        except ssl.SSLWantReadError:
            pass
        return data


@pytest.mark.parametrize("piece_bytes", [1, 7, 1000, 1 << 16])
def test_requests_are_answered_however_the_bytes_are_split(
    context: ssl.SSLContext, certificates: Certified, piece_bytes: int
) -> None:
    wire = Wire(context, certificates, piece_bytes)
    assert wire.session.requests == 0
    wire.shake_hands()
    assert wire.shown == [None]
    large = rustlog(b'{"Ping":{}}'.ljust(100_000))
    wire.client.write(PING + PING)
    for at in range(0, len(large), 10_000):
        wire.client.write(large[at : at + 10_000])
    wire.carry()
    assert wire.read() == PING * 3
    assert wire.session.requests == 3
    assert wire.session.is_between_requests
    assert not wire.session.out_bytes


def test_large_answer_arrives_whole(context: ssl.SSLContext, certificates: Certified) -> None:
    wire = Wire(context, certificates)
    wire.shake_hands()
    inner = wire.session.inner
    assert isinstance(inner, RustLogSession)
    parts = [b"small", bytes(1_000_000), b"", b"more", b"x" * 16_384, b"y" * 16_385]
    for part in parts:
        inner._say(part)
    wire.carry()
    assert wire.read() == b"".join(parts)


def test_end_in_the_words_of_tls_is_heard_and_said(context: ssl.SSLContext, certificates: Certified) -> None:
    wire = Wire(context, certificates)
    wire.shake_hands()
    assert not wire.session.has_ended
    with pytest.raises(ssl.SSLWantReadError):
        wire.client.unwrap()
    wire.carry()
    assert wire.session.has_ended
    wire._to_client.write(wire.session.farewell())
    wire.client.unwrap()  # it has heard that we end, too


@settings(max_examples=50, deadline=None)
@given(st.binary(min_size=1, max_size=200), st.booleans())
def test_no_bytes_do_anything_but_fail(
    context: ssl.SSLContext, certificates: Certified, data: bytes, looks_right: bool
) -> None:
    """S1: before the handshake and in the middle of it."""
    wire = Wire(context, certificates)
    if looks_right:
        data = bytes.fromhex("160301") + data
    wire._from_client.write(data)
    try:
        wire.carry()
    except TlsFailed:
        assert wire.session.inner is None
    assert not wire.shown


def test_record_that_was_changed_on_its_way_ends_the_connection(
    context: ssl.SSLContext, certificates: Certified
) -> None:
    wire = Wire(context, certificates)
    wire.shake_hands()
    wire.client.write(PING)
    record = bytearray(wire._from_client.read())
    record[-1] ^= 1
    wire._from_client.write(record)
    with pytest.raises(TlsFailed, match="the TLS connection failed"):
        wire.carry()
    assert wire.session.requests == 0


def test_plaintext_is_told_that_this_is_tls(context: ssl.SSLContext, certificates: Certified) -> None:
    wire = Wire(context, certificates)
    wire._from_client.write(PING)
    with pytest.raises(DecodeError, match="this port speaks TLS, and the client does not"):
        wire.carry()
