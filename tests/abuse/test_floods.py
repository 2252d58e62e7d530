"""Peers by the hundred that announce, stall, stop reading or guess passwords, and a client that works on.

S3, S5, S6 and S17 (003.36): each peer is cut off by its deadline or its limit, whoever is well is served all
the while, and memory stays where it was. ``make abuse N=100`` comes with 10,000 that announce, 15,000 that
are idle, and the rest in proportion.
"""

import resource
import socket
import ssl
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.abuse.amount import IS_LONG, TIMES
from tests.clients.certificates import certified
from tests.server.serving import Served
from tests.server.wire import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    SECONDS_MAX,
    Peer,
    create_topic,
    fetch,
    produce,
)
from trivium.messages.api import ApiKey
from trivium.messages.api.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from trivium.messages.api.sasl_handshake import SaslHandshakeRequest
from trivium.messages.errors import ErrorCode
from trivium.wire.limits import FRAME_BYTES_MAX_BEFORE_LOGIN

MEGABYTE = 1 << 20
DEADLINE_MS = 4_000
"""Enough for a client that is well on a machine that is busy."""
TWO_GIGABYTES = 2**31 - 1
TCP_ESTABLISHED = 1
"""As Linux counts states (``tcp_info.tcpi_state``)."""
IDLE_BYTES_MAX = 300 * MEGABYTE // 15_000
"""Of one connection that does nothing (S6)."""


@pytest.fixture(autouse=True, scope="module")
def many_descriptors() -> Iterator[None]:
    """A test holds the other end of every connection."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def crowd_of(in_slice: int, per_time: int) -> int:
    return per_time * TIMES if IS_LONG else in_slice


class Healthy:
    """A client that was there before the crowd and works all the while."""

    def __init__(self, bootstrap: str) -> None:
        create_topic(bootstrap, "calm")
        self._peer = Peer(bootstrap)

    def works(self) -> bool:
        self._peer.ask(produce("calm", b"well", acks=1), PRODUCE_VERSION)
        _, answer = self._peer.answer(ApiKey.PRODUCE, PRODUCE_VERSION)
        part = answer.responses[0].partition_responses[0]  # type: ignore[attr-defined]
        self._peer.ask(fetch("calm", offset=part.base_offset), FETCH_VERSION)
        return not part.error_code and b"well" in self._peer.frame()

    def close(self) -> None:
        self._peer.socket.close()


def _flags(settings: Mapping[str, object]) -> list[str]:
    """Names of settings with underscores for dots and two for hyphens."""
    return [
        part
        for name, value in settings.items()
        for part in ("--set", f"{name.replace('__', '-').replace('_', '.')}={value}")
    ]


@contextmanager
def served(directory: Path, **settings: object) -> Iterator[tuple[Served, Healthy]]:
    with Served(directory, *_flags(settings)) as node:
        healthy = Healthy(node.bootstrap)
        try:
            yield node, healthy
        finally:
            healthy.close()


def test_two_gigabytes_are_refused_after_four_bytes(tmp_path: Path) -> None:
    """S3. Nothing else is sent: the length alone ends the connection, and costs no memory."""
    with served(tmp_path) as (node, healthy):
        assert healthy.works()
        before_bytes = node.resident_bytes
        for number in range(crowd_of(300, 100)):
            with Peer(node.bootstrap) as peer:
                peer.socket.sendall(struct.pack(">i", TWO_GIGABYTES))
                assert peer.is_closed()
            if number % 100 == 0:
                assert healthy.works()
        assert node.resident_bytes - before_bytes <= 16 * MEGABYTE


@pytest.mark.parametrize(
    ("door", "packed"),
    [("kafka", ">i"), ("iggy", "<I"), ("rustlog", ">I")],
)
def test_before_a_login_more_than_64_kib_is_refused_by_its_length(
    tmp_path: Path, door: str, packed: str
) -> None:
    """S3. Kafka's door closes. The others answer, and pass over what comes without keeping it."""
    flags = ["--kafka", "SASL_PLAINTEXT://127.0.0.1:0", "--iggy", "127.0.0.1:0", "--rustlog", "127.0.0.1:0"]
    for setting in ("access.anonymous=deny", "iggy.root.username=ann", "iggy.root.password=secret"):
        flags += ["--set", setting]
    with Served(tmp_path, *flags) as node:
        before_bytes = node.resident_bytes
        with ExitStack() as crowd:
            peers = [crowd.enter_context(Peer(node.ready[door])) for _ in range(crowd_of(100, 50))]
            for peer in peers:
                peer.socket.sendall(struct.pack(packed, FRAME_BYTES_MAX_BEFORE_LOGIN + 1))
            for peer in peers:
                if door == "kafka":
                    assert peer.is_closed()
                else:
                    assert peer.socket.recv(4)
            assert node.resident_bytes - before_bytes <= 16 * MEGABYTE + 2 * IDLE_BYTES_MAX * len(peers)


def drips(peer: Peer) -> None:
    """Half of a request."""
    peer.socket.sendall(struct.pack(">i", 1_000) + bytes(20))


def is_silent(peer: Peer) -> None:
    """Not a byte."""


def goes_silent(peer: Peer) -> None:
    """As one whose machine has gone: there was a request, and nothing follows it."""
    assert peer.is_served()


@pytest.mark.parametrize("does", [drips, is_silent, goes_silent])
def test_peers_that_stall_are_cut_off_by_their_deadline(tmp_path: Path, does: Callable[[Peer], None]) -> None:
    """S5: slowloris, connections without a word, half-open ones."""
    deadlines = {"limits_first__request__ms": DEADLINE_MS, "connections_max_idle_ms": DEADLINE_MS}
    with Served(tmp_path, *_flags(deadlines)) as node, ExitStack() as crowd:
        create_topic(node.bootstrap, "calm")
        peers = [crowd.enter_context(Peer(node.bootstrap)) for _ in range(crowd_of(150, 20))]
        for peer in peers:
            does(peer)
        healthy = Healthy(node.bootstrap)
        assert healthy.works()
        healthy.close()
        assert all(peer.is_closed() for peer in peers)


def test_tls_handshakes_that_stall_are_cut_off_by_their_deadline(tmp_path: Path) -> None:
    """S5: some say nothing, some begin and stop."""
    with certified() as certificates:
        flags = _flags({"limits_first__request__ms": DEADLINE_MS})
        for name, value in certificates.settings.items():
            flags += ["--set", f"{name}={value}"]
        with Served(tmp_path, "--kafka", "SSL://127.0.0.1:0", *flags) as node, ExitStack() as crowd:
            peers = [crowd.enter_context(Peer(node.bootstrap)) for _ in range(crowd_of(60, 20))]
            for peer in peers[::2]:
                peer.socket.sendall(_half_a_hello())
            context = ssl.create_default_context(cafile=str(certificates.ca))
            with Peer(node.bootstrap) as peer:
                peer.socket = context.wrap_socket(peer.socket, server_hostname="localhost")
                assert peer.is_served()
            assert all(peer.is_closed() for peer in peers)


def _half_a_hello() -> bytes:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    hello = outgoing.read()
    return hello[: len(hello) // 2]


def test_fetchers_that_never_read_are_cut_off_and_cost_no_more_than_their_share(tmp_path: Path) -> None:
    """S5. Each asks for all there is, again and again, and takes nothing of it."""
    settings: dict[str, object] = {
        "limits_slow__reader__ms": DEADLINE_MS // 10,
        "limits_response__memory__bytes": 32 * MEGABYTE,
    }
    with served(tmp_path, **settings) as (node, healthy), ExitStack() as crowd:
        assert healthy.works()
        with Peer(node.bootstrap) as peer:
            for _ in range(16):
                peer.ask(produce("calm", bytes(900_000)), PRODUCE_VERSION)
                peer.frame()
        before_bytes = node.resident_bytes
        peers = [
            crowd.enter_context(Peer(node.bootstrap, receive_bytes=4_096)) for _ in range(crowd_of(30, 5))
        ]
        for peer in peers:
            for _ in range(4):
                peer.ask(fetch("calm", offset=0), FETCH_VERSION)
        assert healthy.works()
        deadline = time.monotonic() + SECONDS_MAX
        while not all(map(_is_given_up, peers)):
            assert time.monotonic() < deadline, "somebody who reads nothing is still there"
            assert healthy.works()
            time.sleep(0.05)
        assert node.resident_bytes - before_bytes <= 96 * MEGABYTE


def _is_given_up(peer: Peer) -> bool:
    """Whether the node has ended it; nothing of what waits is read to find out."""
    state: int = peer.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
    return state != TCP_ESTABLISHED


def test_idle_connections_cost_20_kilobytes_each(tmp_path: Path) -> None:
    """S6: 15,000 of them in 300 MB, and one more comes in."""
    with served(tmp_path) as (node, healthy), ExitStack() as crowd:
        assert healthy.works()
        count = crowd_of(300, 150)
        before_bytes = node.resident_bytes
        for _ in range(count):
            assert crowd.enter_context(Peer(node.bootstrap)).is_served()
        assert node.resident_bytes - before_bytes <= count * IDLE_BYTES_MAX + 4 * MEGABYTE
        assert healthy.works()


def logs_in(bootstrap: str, username: str, password: str) -> SaslAuthenticateResponse | None:
    """None if the connection has ended without an answer."""
    with Peer(bootstrap) as peer:
        peer.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        peer.frame()
        peer.ask(SaslAuthenticateRequest(auth_bytes=f"\0{username}\0{password}".encode()), 1)
        try:
            answer = peer.answer(ApiKey.SASL_AUTHENTICATE, 1)[1]
        except (EOFError, ConnectionError):
            return None
        assert isinstance(answer, SaslAuthenticateResponse)
        return answer


def test_address_that_guesses_is_refused_and_who_was_in_before_comes_in(tmp_path: Path) -> None:
    """S17, through a node: wrong passwords until the address is not looked at any more, then only who was
    known before. Known and unknown names get the same answers.
    """
    allowed = 5
    settings: dict[str, object] = {
        "limits_failed__logins__per__minute": allowed,
        "connection_failed_authentication_delay_ms": 1,
        "iggy_root_username": "ann",
        "iggy_root_password": "secret",
        "access_anonymous": "allow",
    }
    with Served(tmp_path, "--iggy", "127.0.0.1:0", *_flags(settings)) as node:
        healthy = Healthy(node.bootstrap)
        first = logs_in(node.bootstrap, "ann", "secret")
        assert first is not None
        assert first.error_code == ErrorCode.NONE
        told = []
        for number in range(crowd_of(40, 20)):
            told.append(logs_in(node.bootstrap, ("ann", "nobody")[number % 2], f"wrong-{number}"))
            assert number % 10 or healthy.works()
        answered = [each for each in told if each is not None]
        assert {(each.error_code, each.error_message) for each in answered} == {
            (ErrorCode.SASL_AUTHENTICATION_FAILED, "Authentication failed: the credentials are not valid.")
        }
        assert all(each is not None for each in told[:allowed])
        assert None in told
        again = logs_in(node.bootstrap, "ann", "secret")
        assert again is not None
        assert again.error_code == ErrorCode.NONE
        healthy.close()
