"""What one peer may do to a node and to the others: limits, deadlines, half-closed and foreign connections.

Promises S3, S5, S6; mission 001.49, 001.52, 003.1, 003.2. The brokers here have small limits, so that none of
the tests has to wait for a large one.
"""

import gc
import logging
import socket
import struct
import time
from collections.abc import Callable, Iterator

import pytest

from tests.server.wire import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    SECONDS_MAX,
    Peer,
    create_topic,
    fetch,
    framed,
    produce,
)
from trivium.log.commit import Round
from trivium.messages.api import ApiKey
from trivium.messages.api.api_versions import ApiVersionsRequest
from trivium.protocols.kafka.session import KafkaSession
from trivium.server.event_log import events
from trivium.testing.broker import Broker

Start = Callable[..., Broker]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    brokers: list[Broker] = []
    monkeypatch.setattr(events, "_told", {})  # what another test has caused is no news to this one

    def start_one(**settings: object) -> Broker:
        """Settings with underscores for the dots and hyphens that they have: see NAMES."""
        broker = Broker(settings={NAMES[name]: str(value) for name, value in settings.items()})
        brokers.append(broker)
        broker.start()
        return broker

    yield start_one
    for broker in brokers:
        broker.stop()


NAMES = {
    "durability": "durability",
    "connections_max": "max.connections",
    "per_address": "max.connections.per.ip",
    "overrides": "max.connections.per.ip.overrides",
    "rate": "max.connection.creation.rate",
    "idle_ms": "connections.max.idle.ms",
    "frame_bytes": "socket.request.max.bytes",
    "message_bytes": "message.max.bytes",
    "in_flight": "limits.requests-in-flight",
    "request_memory": "limits.request-memory-bytes",
    "response_memory": "limits.response-memory-bytes",
    "first_request_ms": "limits.first-request-ms",
    "slow_sender_ms": "limits.slow-sender-ms",
    "slow_reader_ms": "limits.slow-reader-ms",
}
MEGABYTE = 1 << 20


# -- how many ----------------------------------------------------------------------------------------


def test_connections_of_one_address_beyond_its_limit_are_closed(start: Start) -> None:
    broker = start(per_address=2)
    with Peer(broker.bootstrap) as first, Peer(broker.bootstrap) as second:
        assert first.is_served()
        assert second.is_served()
        with Peer(broker.bootstrap) as third:
            assert third.is_closed()
        assert first.is_served()


def test_connections_of_one_address_after_one_has_gone_are_taken_again(start: Start) -> None:
    broker = start(per_address=1)
    for _ in range(3):
        with Peer(broker.bootstrap) as peer:
            assert peer.is_served()
            peer.socket.shutdown(socket.SHUT_WR)
            assert peer.is_closed()


def test_connections_of_an_address_with_an_override_have_that_limit(start: Start) -> None:
    broker = start(per_address=100, overrides="127.0.0.1:1")
    with Peer(broker.bootstrap) as first:
        assert first.is_served()
        with Peer(broker.bootstrap) as second:
            assert second.is_closed()


def test_connections_beyond_the_total_wait_until_one_has_gone(start: Start) -> None:
    broker = start(connections_max=1)
    with Peer(broker.bootstrap) as first:
        assert first.is_served()
        with Peer(broker.bootstrap) as second:
            second.ask(ApiVersionsRequest(), 0)
            second.socket.settimeout(0.2)
            with pytest.raises(TimeoutError):
                second.frame()
            second.socket.settimeout(20)
            first.socket.close()
            assert second.frame()


def test_connections_faster_than_the_rate_wait_and_are_all_served(start: Start) -> None:
    broker = start(rate=20)
    for _ in range(30):
        with Peer(broker.bootstrap) as peer:
            assert peer.is_served()


def test_connections_beyond_the_descriptors_wait_and_are_served(
    start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As at EMFILE, S6: accepting pauses, and goes on when there is room."""
    monkeypatch.setattr("trivium.server.listeners.RETRY_SECONDS", 0.02)
    room = iter([False] * 10)
    monkeypatch.setattr("trivium.server.listeners.Door._has_descriptors", lambda door: next(room, True))
    broker = start()
    with caplog.at_level(logging.WARNING, "trivium"), Peer(broker.bootstrap) as peer:
        assert peer.is_served()
    assert next(room, None) is None
    assert caplog.text.count("not accepting connections") == 1, "one line a minute"


# -- how long ----------------------------------------------------------------------------------------


def test_connection_without_a_first_request_is_closed(start: Start) -> None:
    broker = start(first_request_ms=50)
    with Peer(broker.bootstrap) as peer:
        assert peer.is_closed()


def test_connection_with_half_a_first_request_is_closed(start: Start) -> None:
    broker = start(first_request_ms=50)
    with Peer(broker.bootstrap) as peer:
        peer.socket.sendall(framed(ApiVersionsRequest(), 0, 1)[:-1])
        assert peer.is_closed()


def test_connection_that_sends_a_request_too_slowly_is_closed(start: Start) -> None:
    broker = start(slow_sender_ms=100)
    with Peer(broker.bootstrap) as peer:
        assert peer.is_served()
        peer.socket.sendall(framed(ApiVersionsRequest(), 0, 2)[:7])
        assert peer.is_closed()


def test_connection_that_is_idle_is_closed(start: Start) -> None:
    broker = start(idle_ms=50)
    with Peer(broker.bootstrap) as peer:
        assert peer.is_served()
        assert peer.is_closed()


def test_connection_that_is_idle_is_kept_where_idleness_has_no_limit(start: Start) -> None:
    broker = start(idle_ms=-1, slow_sender_ms=20)
    with Peer(broker.bootstrap) as peer:
        assert peer.is_served()
        peer.socket.settimeout(0.3)
        with pytest.raises(TimeoutError):
            peer.read_bytes_to_the_end()
        peer.socket.settimeout(SECONDS_MAX)
        assert peer.is_served()


def test_connection_whose_long_poll_waits_is_not_idle(start: Start) -> None:
    broker = start(idle_ms=50)
    create_topic(broker.bootstrap, "quiet")
    with Peer(broker.bootstrap) as peer:
        peer.ask(fetch("quiet", max_wait_ms=400), FETCH_VERSION)
        assert peer.answer(ApiKey.FETCH, FETCH_VERSION)[0] == 1


def fill(broker: Broker, topic: str, megabytes: int) -> None:
    create_topic(broker.bootstrap, topic)
    with Peer(broker.bootstrap) as peer:
        for _ in range(megabytes):
            peer.ask(produce(topic, bytes(MEGABYTE)), PRODUCE_VERSION)
        for _ in range(megabytes):
            peer.answer(ApiKey.PRODUCE, PRODUCE_VERSION)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline, "it never happens"
        time.sleep(0.01)


def wait_for_event(caplog: pytest.LogCaptureFixture, part: str) -> None:
    wait_until(lambda: any(part in str(getattr(record, "fields", "")) for record in caplog.records))


def test_fetcher_that_never_reads_is_closed_and_disturbs_nobody(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    broker = start(slow_reader_ms=100, message_bytes=2 * MEGABYTE)
    fill(broker, "large", 6)
    with (
        caplog.at_level(logging.WARNING, "trivium"),
        Peer(broker.bootstrap, receive_bytes=4096) as lazy,
        Peer(broker.bootstrap) as healthy,
    ):
        for _ in range(50):
            lazy.ask(fetch("large"), FETCH_VERSION)
        assert healthy.is_served()
        wait_for_event(caplog, "does not take its answers")
        # What was on its way may still be read, then the end: far less than what was asked for.
        assert lazy.read_bytes_to_the_end() < 50 * 6 * MEGABYTE
        assert healthy.is_served()


def test_answers_that_many_leave_lying_cost_the_worst_their_connection(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    broker = start(response_memory=10 * MEGABYTE, message_bytes=2 * MEGABYTE)
    fill(broker, "large", 6)
    with caplog.at_level(logging.WARNING, "trivium"):
        lazy = [Peer(broker.bootstrap, receive_bytes=4096) for _ in range(10)]
        for peer in lazy:
            peer.ask(fetch("large"), FETCH_VERSION)
        wait_for_event(caplog, "left most of them lying")
        with Peer(broker.bootstrap) as healthy:
            healthy.ask(fetch("large"), FETCH_VERSION)
            assert len(healthy.frame()) > 6 * MEGABYTE
    for peer in lazy:
        peer.socket.close()


# -- how much ----------------------------------------------------------------------------------------


def test_frame_larger_than_allowed_is_refused_by_its_length(start: Start) -> None:
    """S3: nothing after the four bytes is waited for."""
    broker = start(frame_bytes=MEGABYTE)
    with Peer(broker.bootstrap) as peer:
        peer.socket.sendall(struct.pack(">i", MEGABYTE + 1))
        assert peer.is_closed()


def test_pipelined_requests_beyond_the_limit_in_flight_are_all_answered_in_order(start: Start) -> None:
    """Mission 001.49, 003.1."""
    broker = start(in_flight=3, durability="fsync")
    create_topic(broker.bootstrap, "busy")
    with Peer(broker.bootstrap) as peer:
        wave = b"".join(framed(produce("busy", b"x", acks=-1), PRODUCE_VERSION, n) for n in range(500))
        peer.socket.sendall(wave)
        answers = [peer.answer(ApiKey.PRODUCE, PRODUCE_VERSION) for _ in range(500)]
    assert [correlation_id for correlation_id, _ in answers] == list(range(500))
    offsets = [answer.responses[0].partition_responses[0].base_offset for _, answer in answers]  # type: ignore[attr-defined]
    assert offsets == list(range(500))


def test_pipelined_fetches_of_large_answers_are_not_begun_before_there_is_room(start: Start) -> None:
    broker = start(message_bytes=2 * MEGABYTE, response_memory=20 * MEGABYTE)
    fill(broker, "large", 6)
    with Peer(broker.bootstrap) as peer:
        peer.socket.sendall(b"".join(framed(fetch("large"), FETCH_VERSION, n) for n in range(30)))
        # 180 MB in all; carried out at once they would be nine times what this broker keeps for answers.
        assert [struct.unpack_from(">i", peer.frame())[0] for _ in range(30)] == list(range(30))


def test_requests_that_together_need_more_memory_than_there_is_take_turns(start: Start) -> None:
    broker = start(request_memory=4 * MEGABYTE, frame_bytes=4 * MEGABYTE, message_bytes=4 * MEGABYTE)
    create_topic(broker.bootstrap, "heavy")
    peers = [Peer(broker.bootstrap) for _ in range(8)]
    request = framed(produce("heavy", bytes(3 * MEGABYTE)), PRODUCE_VERSION, 7)
    middle = len(request) // 2
    for peer in peers:
        peer.socket.sendall(request[:middle])
    for peer in peers:
        peer.socket.sendall(request[middle:])
    offsets = []
    for peer in peers:
        _, answer = peer.answer(ApiKey.PRODUCE, PRODUCE_VERSION)
        offsets.append(answer.responses[0].partition_responses[0].base_offset)  # type: ignore[attr-defined]
        peer.socket.close()
    assert sorted(offsets) == list(range(8))


def test_senders_that_stop_in_the_middle_lose_their_place_when_memory_is_short(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.server.patrol.GRACE_SECONDS", 0.05)
    broker = start(request_memory=4 * MEGABYTE, frame_bytes=4 * MEGABYTE, message_bytes=4 * MEGABYTE)
    create_topic(broker.bootstrap, "heavy")
    request = framed(produce("heavy", bytes(3 * MEGABYTE)), PRODUCE_VERSION, 7)
    stalled = [Peer(broker.bootstrap) for _ in range(4)]
    for peer in stalled:
        peer.socket.sendall(request[: 2 * MEGABYTE])
    with Peer(broker.bootstrap) as healthy:
        healthy.socket.sendall(request)
        assert healthy.answer(ApiKey.PRODUCE, PRODUCE_VERSION)[0] == 7
    for peer in stalled:
        peer.socket.close()


# -- the end of a connection -------------------------------------------------------------------------


def slowed(sync: Callable[[Round], OSError | None]) -> Callable[[Round], OSError | None]:
    def run(round_: Round) -> OSError | None:
        time.sleep(0.1)
        return sync(round_)

    return run


def test_half_closed_peer_gets_every_answer_before_the_end(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = start(durability="fsync")
    create_topic(broker.bootstrap, "last")
    with Peer(broker.bootstrap) as peer:
        # The end of what the peer sends has come long before the first sync returns.
        monkeypatch.setattr(Round, "run", slowed(Round.run))
        peer.socket.sendall(
            b"".join(framed(produce("last", b"x", acks=-1), PRODUCE_VERSION, n) for n in range(20))
        )
        peer.socket.shutdown(socket.SHUT_WR)
        answered = [peer.answer(ApiKey.PRODUCE, PRODUCE_VERSION)[0] for _ in range(20)]
        assert answered == list(range(20))
        assert peer.is_closed()


def test_half_closed_peer_with_a_long_poll_is_answered_at_once(start: Start) -> None:
    broker = start()
    create_topic(broker.bootstrap, "quiet")
    with Peer(broker.bootstrap) as peer:
        peer.ask(fetch("quiet", max_wait_ms=600_000), FETCH_VERSION)
        peer.socket.shutdown(socket.SHUT_WR)
        assert peer.answer(ApiKey.FETCH, FETCH_VERSION)[0] == 1
        assert peer.is_closed()


def test_connection_that_has_ended_is_freed_at_once(start: Start) -> None:
    """Without waiting for a search for cycles: what it held may have been large."""
    broker = start()
    create_topic(broker.bootstrap, "quiet")
    gc.collect()
    gc.disable()
    try:
        for number in range(30):
            with Peer(broker.bootstrap) as peer:
                assert peer.is_served()
                if number % 5 == 0:
                    peer.ask(fetch("quiet", max_wait_ms=600_000), FETCH_VERSION)
                elif number % 5 == 1:
                    peer.socket.sendall(struct.pack(">i", MEGABYTE) + bytes(20_000))
                elif number % 5 == 2:
                    peer.ask(produce("nowhere", b"x", acks=0), PRODUCE_VERSION)
                    assert peer.is_closed()
                elif number % 5 == 3:
                    peer.socket.sendall(b"\xff" * 64)
                    assert peer.is_closed()
        wait_until(lambda: not sessions_of(broker))
    finally:
        gc.enable()


def sessions_of(broker: Broker) -> list[KafkaSession]:
    """What this broker keeps (a connection keeps its session); other tests may have brokers too."""
    port = int(broker.bootstrap.rsplit(":", 1)[1])
    return [each for each in gc.get_objects() if isinstance(each, KafkaSession) and each.here.port == port]


# -- what was not meant for this port ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "guess"),
    [
        (bytes.fromhex("16030100c8010000c40303") + bytes(100), "a TLS handshake"),
        (b"GET / HTTP/1.1\r\nHost: here\r\n\r\n", "an HTTP request"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "an SSH client"),
        (b"\xff" * 64, "a frame of -1 bytes"),
        (struct.pack(">ihhih", 10, 9999, 0, 1, -1), "9999"),
        (struct.pack(">ihhih", 10, 3, 99, 1, -1), "Metadata"),
        (bytes(4), "0 bytes"),
    ],
)
def test_bytes_of_another_protocol_end_the_connection_with_a_line_that_names_it(
    start: Start, caplog: pytest.LogCaptureFixture, sent: bytes, guess: str
) -> None:
    broker = start()
    with Peer(broker.bootstrap) as healthy:
        with caplog.at_level(logging.WARNING, "trivium"), Peer(broker.bootstrap) as peer:
            peer.socket.sendall(sent)
            assert peer.is_closed()
        (record,) = (record for record in caplog.records if record.message == "protocol error")
        assert guess in record.fields["reason"]  # type: ignore[attr-defined]
        assert record.fields["peer"].startswith("127.0.0.1:")  # type: ignore[attr-defined]
        assert healthy.is_served()


def test_request_with_a_wrong_size_ends_the_connection_and_no_other(start: Start) -> None:
    """Mission 001.52: the size says 26, and 35 bytes follow."""
    broker = start()
    with Peer(broker.bootstrap) as healthy, Peer(broker.bootstrap) as peer:
        peer.socket.sendall(
            bytes.fromhex("0000001a0012000467890abc00096b61666b612d636c69000a6b61666b612d636c6904302e3100")
        )
        peer.socket.shutdown(socket.SHUT_WR)
        assert peer.is_closed()
        assert healthy.is_served()
