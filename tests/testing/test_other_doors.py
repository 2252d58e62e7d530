"""Faults on request in what clients of Iggy and RustLog ask for, through real sockets."""

import struct
from collections.abc import Iterator

import pytest

from tests.contract.rustlog_door import RustLogClient
from tests.protocols.iggy.raw_client import (
    RawClient,
    consumer,
    message,
    name,
    new_topic,
    optional_partition,
    poll,
    send,
    text,
    to_partition,
)
from trivium.testing import Broker

POLL, SEND, STORE_OFFSET, GET_STREAM, CREATE_STREAM, CREATE_TOPIC = 100, 101, 121, 200, 202, 302
TO_ORDERS = send("shop", "orders", to_partition(0), message(b"one"))
FROM_ORDERS = poll(consumer(), "shop", "orders")


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(listen_iggy="127.0.0.1:0", listen_rustlog="127.0.0.1:0") as started:
        yield started


@pytest.fixture
def iggy(broker: Broker) -> Iterator[RawClient]:
    """There are the topics ``orders`` and ``bills`` in ``shop``."""
    with RawClient(broker.address("iggy")) as client:
        client.login()
        client.get(CREATE_STREAM, text("shop"))
        for topic in ("orders", "bills"):
            client.get(CREATE_TOPIC, new_topic("shop", topic))
        yield client


@pytest.fixture
def rustlog(broker: Broker) -> Iterator[RustLogClient]:
    """There are the topics ``orders`` and ``bills``."""
    client = RustLogClient(broker.address("rustlog"))
    for topic in ("orders", "bills"):
        client.create_topic(topic, 1)
    yield client
    client.wire.socket.close()


def values(broker: Broker, topic: str) -> list[bytes | None]:
    return [record.value for record in broker.records(topic)]


# -- Iggy ------------------------------------------------------------------------------------------


def test_error_refuses_a_command_of_iggy_and_writes_nothing(broker: Broker, iggy: RawClient) -> None:
    fault = broker.faults.error(
        "send_messages", "CANNOT_APPEND_MESSAGE", protocol="iggy", topic="shop.orders", times=2, skip=1
    )
    to_bills = send("shop", "bills", to_partition(0), message(b"other"))
    assert [iggy.ask(SEND, each).status for each in (TO_ORDERS, to_bills, TO_ORDERS, TO_ORDERS)] == [
        *(0, 0, 4010, 4010),
    ]
    assert iggy.ask(SEND, TO_ORDERS).status == 0
    assert fault.fired == 2
    assert values(broker, "shop.orders") == [b"one", b"one"]
    assert values(broker, "shop.bills") == [b"other"]


def test_error_finds_the_topic_by_its_number_and_before_it_is_made(broker: Broker, iggy: RawClient) -> None:
    broker.faults.error("POLL_MESSAGES", 4011, protocol="iggy", topic="shop.orders")
    broker.faults.error("CREATE_TOPIC", 2014, protocol="iggy", topic="shop.new")
    assert iggy.ask(POLL, poll(consumer(), 1, 0)).status == 4011
    assert iggy.ask(POLL, poll(consumer(), 1, 1)).status == 0
    assert iggy.ask(CREATE_TOPIC, new_topic("shop", "new")).status == 2014
    assert iggy.ask(CREATE_TOPIC, new_topic("shop", "newer")).status == 0
    broker.faults.clear()
    assert iggy.ask(CREATE_TOPIC, new_topic("shop", "new")).status == 0


def test_error_of_a_login_lets_nobody_in(broker: Broker, iggy: RawClient) -> None:
    broker.faults.error("LOGIN_USER", "INVALID_CREDENTIALS", protocol="iggy", times=1)
    with RawClient(broker.address("iggy")) as client:
        with pytest.raises(AssertionError, match="status 42"):
            client.login()
        assert client.ask(GET_STREAM, name("shop")).status == 40
        client.login()
        assert client.get(GET_STREAM, name("shop"))["name"] == "shop"


def test_delay_carries_out_a_command_of_iggy_and_answers_later(broker: Broker, iggy: RawClient) -> None:
    broker.faults.delay("SEND_MESSAGES", 600, protocol="iggy", times=1)
    with RawClient(broker.address("iggy")) as patient:
        patient.login()
        frame = struct.pack("<II", len(TO_ORDERS) + 4, SEND) + TO_ORDERS
        patient.send_raw(frame + struct.pack("<II", 4, 1))
        # Another connection may be served first, and a few times at most.
        assert any(iggy.get(POLL, FROM_ORDERS)["messages"] for _ in range(10_000))
        patient.socket.settimeout(0.05)
        with pytest.raises(TimeoutError):
            patient.receive(1)


def test_delay_of_a_command_of_iggy_ends_with_its_answer(broker: Broker, iggy: RawClient) -> None:
    broker.faults.delay("SEND_MESSAGES", 0, protocol="iggy")
    broker.faults.delay("PING", 0, protocol="iggy")
    unknown = send("shop", "nothing", to_partition(0), message(b"x"))
    assert [iggy.ask(SEND, each).status for each in (TO_ORDERS, unknown)] == [0, 2010]
    assert iggy.ask(1).status == 0


@pytest.mark.parametrize(("when", "stored"), [("before", None), ("after", 0)])
def test_disconnect_ends_the_connection_of_iggys_client_alone(
    broker: Broker, iggy: RawClient, when: str, stored: int | None
) -> None:
    iggy.get(SEND, TO_ORDERS)
    place = consumer("me") + name("shop") + name("orders") + optional_partition(0)
    broker.faults.disconnect("STORE_CONSUMER_OFFSET", when=when, protocol="iggy", times=1)
    with RawClient(broker.address("iggy")) as unlucky:
        unlucky.login()
        unlucky.send_raw(struct.pack("<II", len(place) + 12, STORE_OFFSET) + place + struct.pack("<Q", 0))
        assert unlucky.is_closed()
    found = iggy.get(120, place)
    assert (None if found is None else found["stored"]) == stored


# -- RustLog ---------------------------------------------------------------------------------------


def test_error_refuses_a_request_of_rustlog_and_writes_nothing(
    broker: Broker, rustlog: RustLogClient
) -> None:
    fault = broker.faults.error("Produce", "PARTITION_NOT_FOUND", protocol="rustlog", topic="orders", times=1)
    with pytest.raises(Exception, match="partition not found: topic=orders, partition=0"):
        rustlog.produce("orders", 0, [b"one"])
    rustlog.produce("orders", 0, [b"two"])
    rustlog.produce("bills", 0, [b"other"])
    assert fault.fired == 1
    assert values(broker, "orders") == [b"two"]
    broker.produce("orders", ["not struck: another protocol"])


def test_delay_carries_out_a_request_of_rustlog_and_answers_it(
    broker: Broker, rustlog: RustLogClient
) -> None:
    late = broker.faults.delay("Fetch", 0, protocol="rustlog")
    rustlog.produce("orders", 0, [b"one"])
    assert rustlog.fetch("orders", 0, 0) == [(0, b"one")]
    assert late.fired == 1


@pytest.mark.parametrize(("when", "found"), [("before", []), ("after", [b"one"])])
def test_disconnect_ends_the_connection_of_rustlogs_client_alone(
    broker: Broker, rustlog: RustLogClient, when: str, found: list[bytes]
) -> None:
    broker.faults.disconnect("Produce", when=when, protocol="rustlog", times=1)
    unlucky = RustLogClient(broker.address("rustlog"))
    with pytest.raises((EOFError, ConnectionError)):
        unlucky.produce("orders", 0, [b"one"])
    unlucky.wire.socket.close()
    assert [payload for _, payload in rustlog.fetch("orders", 0, 0)] == found


# -- all of them on one port -----------------------------------------------------------------------


def test_faults_strike_where_the_protocol_is_told_by_the_first_bytes() -> None:
    with Broker(listen_auto="127.0.0.1:0") as broker:
        broker.create_topic("t")
        broker.faults.disconnect("PING", protocol="iggy", times=1)
        with RawClient(broker.address("auto")) as client:
            client.login()
            client.send_raw(struct.pack("<II", 4, 1))
            assert client.is_closed()
