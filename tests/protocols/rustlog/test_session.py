"""The session: frames however they come, order, budgets, and everything that is not a request (S1-S3)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocols.rustlog.conversation import LENGTH, Conversation, Door
from trivium.protocols.conversation import ANSWER_BYTES_MAX
from trivium.protocols.rustlog.protocol import (
    CONSUMER_BYTES_PER_SECOND,
    FETCHES_IN_FLIGHT_MAX,
    REQUESTS_IN_FLIGHT_MAX,
)
from trivium.protocols.rustlog.session import PASSED_OVER_BYTES_MAX
from trivium.protocols.rustlog.slow_consumer import SLOW_CONSUMER_LAG
from trivium.wire.errors import DecodeError
from trivium.wire.limits import RUSTLOG_FRAME_BYTES_MAX


@pytest.fixture
def client() -> Conversation:
    return Door().connect()


def framed(*bodies: bytes) -> bytes:
    return b"".join(LENGTH.pack(len(body)) + body for body in bodies)


def request(kind: str, **fields: object) -> bytes:
    return json.dumps({kind: fields}).encode()


PING, PONG = request("Ping"), b'{"Ping":{}}'


# -- frames ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("piece_bytes", range(1, 40))
def test_requests_are_answered_however_they_are_split(client: Conversation, piece_bytes: int) -> None:
    produce = request("Produce", topic="t", partition=0, records=[[1], [2]])
    client.feed(framed(PING, produce, b"\xff", PING), piece_bytes)
    assert client.bodies() == [PONG, b'{"Produce":{"offsets":[0,1]}}', b"\xff", PONG]
    assert client.session.is_between_requests
    assert client.session.requests == 4


def test_half_a_frame_is_waited_for(client: Conversation) -> None:
    client.feed(framed(PING)[:-1])
    assert client.bodies() == []
    assert not client.session.is_between_requests
    client.feed(framed(PING)[-1:])
    assert client.bodies() == [PONG]


@pytest.mark.parametrize("piece_bytes", [7, 1000, 1 << 30])
@pytest.mark.parametrize("size", [RUSTLOG_FRAME_BYTES_MAX + 1, PASSED_OVER_BYTES_MAX])
def test_oversize_frame_is_refused_and_passed_over(piece_bytes: int, size: int) -> None:
    """004.2, 004.17; S3: nothing of it is held."""
    if piece_bytes < 1000:
        size = RUSTLOG_FRAME_BYTES_MAX + 1
    client = Conversation(Door(), 1 << 20)
    client.feed(framed(PING) + LENGTH.pack(size))
    (_, refusal) = client.bodies()
    assert json.loads(refusal)["Error"]["message"] == "max frame size exceeded"
    client.feed(bytes(size - 10))
    assert client.session.held_bytes == 0
    client.feed(bytes(10) + framed(PING), piece_bytes)
    assert client.bodies() == [PONG]


def test_frame_of_just_the_allowed_size_is_read(client: Conversation) -> None:
    client.send_body(b" " * (RUSTLOG_FRAME_BYTES_MAX - len(PING)) + PING)
    assert client.bodies() == [PONG]


def test_frame_that_would_take_too_long_to_pass_ends_the_connection_after_its_error(
    client: Conversation,
) -> None:
    """Such as an HTTP request, whose first letters are a length of 1.2 GB."""
    with pytest.raises(DecodeError):
        client.feed(b"GET / HTTP/1.1\r\n\r\n")
    (refusal,) = client.bodies()
    assert json.loads(refusal)["Error"]["message"] == "max frame size exceeded"
    assert client.session.requests == 0


def test_oversize_frame_behind_requests_that_wait_has_its_turn(client: Conversation) -> None:
    client.world.storage.holds_syncs = True
    produce = request("Produce", topic="t", partition=0, records=[[1]])
    client.feed(framed(*[produce] * (REQUESTS_IN_FLIGHT_MAX + 1)))
    client.feed(framed(bytes(RUSTLOG_FRAME_BYTES_MAX + 1)) + framed(PING))
    assert client.bodies() == []
    client.world.storage.holds_syncs = False
    client.world.storage.sync()
    kinds = [next(iter(json.loads(body))) for body in client.bodies()]
    assert kinds == ["Produce"] * (REQUESTS_IN_FLIGHT_MAX + 1) + ["Error", "Ping"]


# -- what is no request ------------------------------------------------------------------------------

PLACE = {"topic": "t", "partition": 0}

UNREADABLE = {
    "no JSON": b"{",
    "text": b"hello",
    "nothing": b"",
    "an array": b"[1]",
    "a number": b"12",
    "null": b"null",
    "no type": b"{}",
    "two types": b'{"Ping":{},"ListTopics":{}}',
    "an unknown type": b'{"Delete":{}}',
    "fields that are no object": b'{"Fetch":[1]}',
    "a lone surrogate": b'{"DescribeTopic":{"topic":"\\ud800"}}',
    "no UTF-8": b'{"DescribeTopic":{"topic":"\xff"}}',
    "deep nesting": b"[" * 2000,
    "no topic": request("Fetch", partition=0, offset=0, max_bytes=1),
    "a topic that is a number": request("Fetch", topic=1, partition=0, offset=0, max_bytes=1),
    "a negative partition": request("Fetch", topic="t", partition=-1, offset=0, max_bytes=1),
    "a partition of 33 bits": request("Fetch", topic="t", partition=2**32, offset=0, max_bytes=1),
    "a partition that is a fraction": request("Fetch", topic="t", partition=0.5, offset=0, max_bytes=1),
    "a partition that is true": request("Fetch", topic="t", partition=True, offset=0, max_bytes=1),
    "a partition as text": request("Fetch", topic="t", partition="0", offset=0, max_bytes=1),
    "a negative offset": request("Fetch", **PLACE, offset=-1, max_bytes=1),
    "an offset of 65 bits": request("Fetch", **PLACE, offset=2**64, max_bytes=1),
    "a negative size": request("Fetch", **PLACE, offset=0, max_bytes=-1),
    "a group that is a number": request("Fetch", **PLACE, offset=0, max_bytes=1, group_id=1),
    "a commit without group": request("OffsetCommit", **PLACE, offset=1),
    "a commit of null": request("OffsetCommit", **PLACE, group_id="g", offset=None),
    "no records": request("Produce", **PLACE),
    "records as text": request("Produce", **PLACE, records="abc"),
    "a record as text": request("Produce", **PLACE, records=["abc"]),
    "a record that is a number": request("Produce", **PLACE, records=[5]),
    "a byte too large": request("Produce", **PLACE, records=[[1], [256]]),
    "a negative byte": request("Produce", **PLACE, records=[[-1]]),
    "a byte that is a fraction": request("Produce", **PLACE, records=[[1.0]]),
    "a byte that is true": request("Produce", **PLACE, records=[[1], [True]]),
    "a byte that is null": request("Produce", **PLACE, records=[[None]]),
}


@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_is_no_request_is_refused_and_the_next_is_answered(client: Conversation, body: bytes) -> None:
    """004.17, 004.20: the document's words; nothing is written."""
    client.feed(framed(body, PING))
    refusal, pong = client.bodies()
    error = json.loads(refusal)["Error"]
    assert error["message"] == "failed to parse request"
    assert error["detail"]
    assert pong == PONG
    assert client.world.log("t").log_end_offset == 0


def test_fields_that_nobody_knows_are_passed_over(client: Conversation) -> None:
    """004.21."""
    assert client.ask("Produce", topic="t", partition=0, records=[[1]], priority="high") == {"offsets": [0]}


def test_type_without_fields_may_stand_alone(client: Conversation) -> None:
    assert client.ask_body(b'"Ping"') == PONG
    assert client.ask_body(b' {"Ping": null} ') == PONG
    assert client.ask_body(b"\t\n" + PING) == PONG


def test_million_brackets_do_not_become_a_million_objects(client: Conversation) -> None:
    """S1."""
    client.send_body(b"[" + b"[]," * 1_000_000 + b"[]]")
    (refusal,) = client.bodies()
    assert "1000000" in json.loads(refusal)["Error"]["detail"]


def test_long_name_is_not_repeated_in_full(client: Conversation) -> None:
    error = client.refused("Fetch", topic="x" * 100_000, partition=0, offset=0, max_bytes=1)
    assert error["message"].startswith("partition not found: topic=xxx")
    assert len(error["message"]) < 500


@given(st.lists(st.one_of(st.binary(max_size=60), st.sampled_from(list(UNREADABLE.values()))), max_size=6))
def test_any_frames_are_answered_one_by_one_and_in_step(bodies: list[bytes]) -> None:
    """S1, 004.18."""
    client = Door().connect()
    client.feed(framed(*bodies, PING))
    answers = client.bodies()
    assert len(answers) == len(bodies) + 1
    assert answers[-1] == PONG
    assert client.session.held_bytes == 0


# -- order and budgets -------------------------------------------------------------------------------


def test_answers_leave_in_the_order_of_their_requests(client: Conversation) -> None:
    client.world.storage.holds_syncs = True
    client.send("Produce", topic="t", partition=0, records=[[1]])
    client.send("Ping")
    assert client.answers() == []
    assert client.session.in_flight == 2
    client.world.storage.sync()
    assert [next(iter(answer)) for answer in client.answers()] == ["Produce", "Ping"]


def test_requests_beyond_the_limit_in_flight_wait_unread(client: Conversation) -> None:
    client.world.storage.holds_syncs = True
    produce = request("Produce", topic="t", partition=0, records=[[1]])
    client.feed(framed(*[produce] * (REQUESTS_IN_FLIGHT_MAX + 5)))
    assert client.session.in_flight == REQUESTS_IN_FLIGHT_MAX
    assert not client.session.has_room
    assert client.session.held_bytes == 5 * len(produce)
    client.world.storage.holds_syncs = False
    client.world.storage.sync()
    assert len(client.bodies()) == REQUESTS_IN_FLIGHT_MAX + 5
    assert client.session.has_room
    assert client.session.held_bytes == 0


def test_answers_that_do_not_leave_let_nothing_further_begin(client: Conversation) -> None:
    """S5: a peer that reads nothing costs a limited amount."""
    client.produce(b"\xff" * 200_000)
    fetch = request("Fetch", topic="t", partition=0, offset=0, max_bytes=1)
    client.feed(framed(*[fetch] * 10))
    assert not client.session.has_room
    assert client.session.out_bytes < 2 * ANSWER_BYTES_MAX
    assert len(client.bodies()) == 10


def consumer(client: Conversation, payload: bytes, fetches: int) -> None:
    body = request("Fetch", topic="t", partition=0, offset=0, max_bytes=len(payload), group_id="g")
    client.feed(framed(*[body] * fetches))


def test_consumer_above_its_rate_is_answered_later(client: Conversation) -> None:
    """004.27: a second's worth at once, then no faster than the budget."""
    payload = b"\x01" * (CONSUMER_BYTES_PER_SECOND // 20)
    client.produce(payload)
    for _ in range(20):
        consumer(client, payload, 1)
        assert len(client.bodies()) == 1
    consumer(client, payload, 1)
    assert client.bodies() == []
    client.world.pass_time(49)
    assert client.bodies() == []
    client.world.pass_time(10)
    assert len(client.bodies()) == 1
    assert client.door.protocol.counters.throttled == 1


def test_fetches_beyond_the_limit_in_flight_wait_unread() -> None:
    """004.27."""
    client = Door(consumer_bytes_per_second=1000).connect()
    client.produce(bytes(1000))
    consumer(client, bytes(1000), FETCHES_IN_FLIGHT_MAX + 3)
    assert len(client.bodies()) == 1
    assert client.session.in_flight == FETCHES_IN_FLIGHT_MAX
    assert not client.session.has_room
    client.world.pass_time(10_000)
    assert len(client.bodies()) >= FETCHES_IN_FLIGHT_MAX
    client.world.pass_time(10_000)
    client.bodies()
    assert client.session.is_idle


def test_reader_without_group_and_door_without_rate_have_no_budget() -> None:
    free = Door(consumer_bytes_per_second=0).connect()
    free.produce(bytes(1000))
    for _ in range(5):
        assert free.fetch(0, group_id="g")[0]
    limited = Door(consumer_bytes_per_second=1).connect()
    limited.produce(bytes(1000))
    for _ in range(5):
        assert limited.fetch(0)[0]


def test_consumer_that_is_far_behind_is_reported(client: Conversation) -> None:
    """004.27."""
    client.produce(*[b"x"] * (SLOW_CONSUMER_LAG + 1))
    client.fetch(0, max_bytes=1)
    assert client.door.slow == []
    client.fetch(0, max_bytes=1, group_id="g")
    assert client.door.slow == []
    client.produce(b"x")
    client.fetch(0, max_bytes=1, group_id="g")
    ((group_id, topic, partition, lag),) = client.door.slow
    assert (group_id, topic, partition, lag) == ("g", "t", 0, SLOW_CONSUMER_LAG + 1)


# -- the end -----------------------------------------------------------------------------------------


def test_answer_that_comes_when_the_peer_has_gone_is_dropped(client: Conversation) -> None:
    client.world.storage.holds_syncs = True
    client.send("Produce", topic="t", partition=0, records=[[1]])
    client.session.close()
    client.world.storage.sync()
    assert client.session.out_bytes == 0
    assert client.wakes == 0
    assert client.door.protocol.counters.open_sessions == 0


def test_peer_that_has_finished_still_gets_its_answers(client: Conversation) -> None:
    client.world.storage.holds_syncs = True
    client.send("Produce", topic="t", partition=0, records=[[1]])
    client.session.peer_finished()
    client.world.storage.sync()
    assert client.answers() == [{"Produce": {"offsets": [0]}}]
    assert client.session.is_idle
