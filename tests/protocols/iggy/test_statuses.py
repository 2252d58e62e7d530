"""Which status a request gets that is wrong, or wrong in two ways: that of Iggy 0.8 (002.5-002.14)."""

import struct
from collections.abc import Iterator

import pytest

from tests.protocols.iggy.raw_client import (
    RawClient,
    balanced,
    by_key,
    message,
    name,
    new_topic,
    send,
    text,
    to_partition,
)
from trivium.testing import Broker

GET_SNAPSHOT, GET_ME, GET_CLIENT = 11, 20, 21
GET_USER, CREATE_USER, DELETE_USER, UPDATE_USER, CHANGE_PASSWORD, LOGIN = 31, 33, 34, 35, 37, 38
CREATE_TOKEN, DELETE_TOKEN, SEND = 42, 43, 101
CREATE_TOPIC, UPDATE_TOPIC, DELETE_PARTITIONS = 302, 304, 403
ACTIVE, NO_RIGHTS = b"\x01", bytes(11)


def new_user(username: str, permissions: bytes = b"\x00", password: str = "secret") -> bytes:
    return text(username) + text(password) + ACTIVE + permissions


@pytest.fixture
def stranger(client: RawClient, address: str) -> Iterator[RawClient]:
    """Somebody who has no rights, and is gone afterwards."""
    assert client.ask(CREATE_USER, new_user("ann")).status == 0
    with RawClient(address) as connected:
        connected.login("ann", "secret")
        yield connected
    client.ask(DELETE_USER, name("ann"))


@pytest.mark.parametrize(
    ("code", "body", "status"),
    [
        (CREATE_USER, new_user(""), 4),
        (CREATE_USER, new_user("xy"), 43),
        (CREATE_USER, new_user("xyz", password="xy"), 44),
        (UPDATE_USER, name("iggy") + b"\x01" + text("xy") + b"\x00", 43),
        (UPDATE_USER, name("nobody") + b"\x01" + text("xy") + b"\x00", 43),
        (UPDATE_USER, name("nobody") + b"\x01" + text("xyz") + b"\x00", 20),
        (LOGIN, text("") + text("secret") + bytes(8), 4),
        (LOGIN, text("xy") + text("secret") + bytes(8), 43),
        (LOGIN, text("xyz") + text("") + bytes(8), 44),
        (CREATE_TOKEN, text("") + bytes(8), 4),
        (CREATE_TOKEN, text("ab") + bytes(8), 50),
        (CREATE_TOKEN, text("a" * 31) + bytes(8), 50),
        (DELETE_TOKEN, text(""), 4),
        (DELETE_TOKEN, text("ab"), 20),
        (DELETE_TOKEN, text("a" * 31), 20),
        (GET_CLIENT, bytes(4), 101),
    ],
)
def test_text_that_is_too_short_or_too_long_has_a_status_of_its_own(
    client: RawClient, code: int, body: bytes, status: int
) -> None:
    assert client.ask(code, body) == (status, b"")


@pytest.mark.parametrize(
    ("code", "body", "status"),
    [
        (LOGIN, text("xy") + text("secret") + b"\x09", 3),
        (LOGIN, text("xyz") + text("") + b"\x09", 3),
        (CHANGE_PASSWORD, name("iggy") + text("") + b"\x09secret", 3),
        (CHANGE_PASSWORD, name("iggy") + text("") + text(b"\xff\xff\xff"), 3),
        (CREATE_USER, text("gus") + text("secret") + b"\x00" + struct.pack("<BI", 1, 3) + bytes(11), 4),
    ],
)
def test_bytes_that_are_missing_are_told_before_what_is_too_short_or_unknown(
    client: RawClient, code: int, body: bytes, status: int
) -> None:
    assert client.ask(code, body) == (status, b"")


@pytest.mark.parametrize(("code", "body"), [(CREATE_USER, new_user("xy")), (GET_CLIENT, bytes(4))])
def test_who_may_not_ask_is_not_told_what_else_is_wrong(stranger: RawClient, code: int, body: bytes) -> None:
    assert stranger.ask(code, body).status == 41


@pytest.mark.parametrize(
    "permissions",
    [struct.pack("<BI", 1, size) + NO_RIGHTS + bytes(2) for size in (3, len(NO_RIGHTS) + 2, 300)],
)
def test_rights_of_another_length_than_they_say_are_refused(client: RawClient, permissions: bytes) -> None:
    assert client.ask(CREATE_USER, new_user("bob", permissions)).status == 4
    assert client.ask(GET_USER, name("bob")) == (0, b"")


def test_rights_are_there_if_the_byte_before_them_is_one(client: RawClient) -> None:
    everything = bytes([1] * 10) + b"\x00"
    body = new_user("carl", struct.pack("<BI", 2, len(everything)) + everything)
    status, details = client.ask(CREATE_USER, body)
    assert status == 0
    assert details.endswith(text("carl") + bytes(4))
    client.ask(DELETE_USER, name("carl"))


def rights_on(stream_id: int, topic_id: int | None = None) -> bytes:
    topics = b"\x00" if topic_id is None else struct.pack("<BI4?B", 1, topic_id, 1, 1, 1, 1, 0)
    tree = bytes(10) + struct.pack("<BI6?", 1, stream_id, 1, 1, 1, 1, 1, 1) + topics + b"\x00"
    return struct.pack("<BI", 1, len(tree)) + tree


@pytest.mark.parametrize("permissions", [rights_on(0), rights_on(1, 0)])
def test_rights_on_what_no_number_can_be_are_refused_to_a_client_that_counts_from_one(
    address: str, permissions: bytes
) -> None:
    with RawClient(address) as old:
        old.login(version="0.7.0")
        assert old.ask(CREATE_USER, new_user("emil", permissions)).status == 6
        assert old.ask(GET_USER, name("emil")) == (0, b"")


def test_rights_on_the_highest_number_are_shown_to_clients_of_every_generation(
    client: RawClient, address: str
) -> None:
    highest = rights_on((1 << 32) - 1, (1 << 32) - 1)
    assert client.ask(CREATE_USER, new_user("fay", highest)).status == 0
    assert client.ask(GET_USER, name("fay")).payload.endswith(highest)
    with RawClient(address) as old:
        old.login(version="0.7.0")
        assert old.ask(GET_USER, name("fay")).payload.endswith(highest)
    client.ask(DELETE_USER, name("fay"))


def test_more_partitions_than_there_are_cannot_be_deleted(client: RawClient, stream: str, topic: str) -> None:
    statuses = [
        client.ask(DELETE_PARTITIONS, name(stream) + name(where) + struct.pack("<I", count)).status
        for where, count in ((topic, 0), (topic, 4), (topic, 1_001), ("nowhere", 1_001), (topic, 3))
    ]
    assert statuses == [2015, 2019, 2019, 2010, 0]


def test_topic_may_lose_more_partitions_at_once_than_it_may_get(client: RawClient, stream: str) -> None:
    body = name(stream) + name("wide")
    client.get(CREATE_TOPIC, new_topic(stream, "wide", 1_000))
    client.get(402, body + struct.pack("<I", 1))
    assert client.ask(DELETE_PARTITIONS, body + struct.pack("<I", 1_001)).status == 0


def test_topic_of_an_unknown_compression_is_refused_for_whatever_else_is_wrong_first(
    client: RawClient, stream: str
) -> None:
    statuses = [
        client.ask(
            CREATE_TOPIC, name(stream) + struct.pack("<IBQQB", count, 9, 0, 0, 0) + text(called)
        ).status
        for count, called in ((1_001, ""), (1_001, "odd"), (1, "odd"))
    ]
    assert statuses == [4, 2015, 3]
    update = name(stream) + name("events") + struct.pack("<BQQB", 9, 0, 0, 0)
    assert [client.ask(UPDATE_TOPIC, update + text(called)).status for called in ("", "odd")] == [4, 3]


def test_messages_for_a_topic_without_partitions_are_refused_by_what_was_wanted(
    client: RawClient, stream: str
) -> None:
    client.get(CREATE_TOPIC, new_topic(stream, "none", 0))
    statuses = [
        client.ask(SEND, send(stream, "none", partitioning, message(b"x"))).status
        for partitioning in (balanced(), by_key(b"key"), to_partition(0))
    ]
    assert statuses == [2010, 2010, 3007]


@pytest.mark.parametrize("metadata", [b"", b"\x03\x01a", b"\x02\x09a", b"\x01\x02ab", b"\x02\x00"])
def test_messages_for_what_is_no_name_are_refused(client: RawClient, metadata: bytes) -> None:
    """The one request in which whatever is wrong with a name is an invalid identifier."""
    assert client.ask(SEND, struct.pack("<I", len(metadata)) + metadata).status == 6


@pytest.mark.parametrize("partitioning", [b"\x00\x00", b"\x01\x03abc", b"\x02\x02ab", b"\x04\x00"])
def test_messages_for_what_is_no_partitioning_are_refused(
    client: RawClient, stream: str, topic: str, partitioning: bytes
) -> None:
    assert client.ask(SEND, send(stream, topic, partitioning, message(b"one"))).status == 3
    assert client.ask(SEND, send(stream, topic, to_partition(0), message(b"two"))).status == 0


def test_empty_key_is_one(client: RawClient, stream: str, topic: str) -> None:
    assert client.ask(SEND, send(stream, topic, b"\x03\x00", message(b"one"))).status == 0


def test_snapshot_of_nothing_is_an_empty_archive(client: RawClient) -> None:
    status, archive = client.ask(GET_SNAPSHOT, b"\x01\x00")
    assert (status, archive[:4], len(archive)) == (0, b"PK\x05\x06", 22)


def test_client_of_a_user_that_is_gone_does_not_know_itself(broker: Broker, client: RawClient) -> None:
    assert client.ask(CREATE_USER, new_user("dora")).status == 0
    with RawClient(broker.address("iggy")) as gone:
        gone.login("dora", "secret")
        assert gone.ask(GET_ME).status == 0
        assert client.ask(DELETE_USER, name("dora")).status == 0
        assert gone.ask(GET_ME).status == 100
        assert gone.is_closed()
