"""What clients of every protocol may rely on: each scenario through each door (issue 5, point 5)."""

import random
from collections.abc import Callable

import pytest

from tests.contract.conftest import SLOW_MS, Connect
from tests.contract.door import Client, Door, RefusedByDoor, Wire, read_all
from tests.contract.doors import DOORS
from trivium.testing import Broker

# -- writing and reading -----------------------------------------------------------------------------


def test_produced_payloads_are_read_as_they_were_written(client: Client) -> None:
    payloads = [b"", b"\0", bytes(range(256)), "grüß".encode(), b"\xff" * 1000]
    client.create_topic("t", 1)
    client.produce("t", 0, payloads)
    client.produce("t", 0, [b"more"])
    assert read_all(client, "t") == list(enumerate([*payloads, b"more"]))


def test_partitions_count_for_themselves(client: Client) -> None:
    client.create_topic("t", 3)
    client.produce("t", 2, [b"two"])
    client.produce("t", 0, [b"zero"])
    assert [read_all(client, "t", partition) for partition in range(3)] == [[(0, b"zero")], [], [(0, b"two")]]


def test_empty_topic_has_nothing_to_read(client: Client) -> None:
    client.create_topic("t", 1)
    assert client.fetch("t", 0, 0) == []


def test_reading_from_the_middle_begins_there(client: Client) -> None:
    client.create_topic("t", 1)
    client.produce("t", 0, [b"a", b"b", b"c"])
    assert read_all(client, "t", offset=1) == [(1, b"b"), (2, b"c")]
    assert client.fetch("t", 0, 3) == []


def test_big_records_are_read_back(client: Client) -> None:
    payload = random.Random(5).randbytes(900_000)
    client.create_topic("t", 1)
    for _ in range(3):
        client.produce("t", 0, [payload])
    assert read_all(client, "t") == [(offset, payload) for offset in range(3)]


@pytest.mark.parametrize(("topic", "partition"), [("nope", 0), ("t", 7)])
def test_what_is_not_there_is_refused_and_the_connection_goes_on(
    client: Client, topic: str, partition: int
) -> None:
    client.create_topic("t", 1)
    with pytest.raises(RefusedByDoor):
        client.produce(topic, partition, [b"x"])
    with pytest.raises(RefusedByDoor):
        client.fetch(topic, partition, 0)
    with pytest.raises(RefusedByDoor):
        client.commit("g", topic, partition, 1)
    client.produce("t", 0, [b"x"])
    assert read_all(client, "t") == [(0, b"x")]


def test_topic_that_exists_is_refused(client: Client) -> None:
    client.create_topic("t", 1)
    with pytest.raises(RefusedByDoor):
        client.create_topic("t", 2)


# -- groups ------------------------------------------------------------------------------------------


def test_committed_offset_is_kept_by_group_and_partition(client: Client) -> None:
    client.create_topic("t", 2)
    client.produce("t", 0, [b"x"] * 6)
    assert client.committed("g", "t", 0) is None
    client.commit("g", "t", 0, 5)
    client.commit("g", "t", 0, 3)
    assert client.committed("g", "t", 0) == 3
    assert client.committed("g", "t", 1) is None
    assert client.committed("other", "t", 0) is None


# -- restarts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [Broker.restart, lambda broker: (broker.kill(), broker.start())])
def test_records_and_offsets_survive_a_restart(
    broker: Broker, door: Door, connect: Connect, end: Callable[[Broker], object]
) -> None:
    """R1; mission 004.11."""
    client = connect(door.name)
    client.create_topic("t", 1)
    client.produce("t", 0, [b"a", b"b"])
    client.commit("g", "t", 0, 1)
    end(broker)
    client = connect(door.name)
    assert read_all(client, "t") == [(0, b"a"), (1, b"b")]
    assert client.committed("g", "t", 0) == 1
    client.produce("t", 0, [b"c"])
    assert read_all(client, "t", offset=2) == [(2, b"c")]


# -- peers that are not like others ------------------------------------------------------------------


def test_garbage_ends_at_most_its_own_connection(broker: Broker, door: Door, client: Client) -> None:
    """S1."""
    client.create_topic("t", 1)
    numbers = random.Random(7)
    for size_bytes in (1, 3, 4, 5, 8, 20, 100, 5000):
        with Wire(broker.address(door.name)) as stranger:
            stranger.send(numbers.randbytes(size_bytes))
    with Wire(broker.address(door.name)) as stranger:
        stranger.send(b"GET / HTTP/1.1\r\nHost: broker\r\n\r\n")
        stranger.received_to_the_end()  # It ends, although the peer does not hang up.
    client.produce("t", 0, [b"x"])
    assert read_all(client, "t") == [(0, b"x")]


def test_request_that_is_too_large_is_refused_before_it_has_come(
    broker: Broker, door: Door, client: Client
) -> None:
    """S3: by an answer, or by the end of the connection; and nobody else notices."""
    with Wire(broker.address(door.name)) as stranger:
        stranger.send(door.announced_too_large)
        stranger.finish()
        stranger.received_to_the_end()
    client.ping()


@pytest.mark.parametrize("broker", [{"limits.slow-sender-ms": SLOW_MS}], indirect=True)
def test_peer_that_begins_and_does_not_go_on_is_sent_away(door: Door, connect: Connect) -> None:
    """S5: others are served all the while."""
    slow, client = connect(door.name), connect(door.name)
    slow.ping()
    client.ping()
    slow.wire.send(door.half_a_request)
    client.ping()
    assert slow.wire.received_to_the_end() == b""
    client.ping()


def test_peer_that_leaves_in_the_middle_of_a_request_leaves_nothing(
    broker: Broker, door: Door, connect: Connect
) -> None:
    for _ in range(20):
        with Wire(broker.address(door.name)) as leaving:
            leaving.send(door.half_a_request)
    connect(door.name).ping()


# -- all doors together ------------------------------------------------------------------------------


@pytest.mark.parametrize("reader", DOORS)
def test_what_one_door_has_written_every_door_reads(client: Client, connect: Connect, reader: str) -> None:
    """X.1: one order, one space of offsets."""
    payloads = [b"", b"\0\xff", b"x" * 10_000]
    client.create_topic("t", 1)
    client.produce("t", 0, payloads)
    assert read_all(connect(reader), "t") == list(enumerate(payloads))


def test_writers_at_all_doors_share_one_order(connect: Connect) -> None:
    clients = {name: connect(name) for name in DOORS}
    next(iter(clients.values())).create_topic("t", 1)
    written = []
    for number in range(5):
        for name, client in clients.items():
            written.append(f"{name} {number}".encode())
            client.produce("t", 0, written[-1:])
    for client in clients.values():
        assert read_all(client, "t") == list(enumerate(written))


@pytest.mark.parametrize("reader", DOORS)
def test_offset_committed_at_one_door_is_the_groups_at_every_door(
    client: Client, connect: Connect, reader: str
) -> None:
    """X.3."""
    client.create_topic("t", 1)
    client.produce("t", 0, [b"x"] * 9)
    client.commit("g", "t", 0, 7)
    other = connect(reader)
    assert other.committed("g", "t", 0) == 7
    other.commit("g", "t", 0, 8)
    assert client.committed("g", "t", 0) == 8


def test_port_for_all_protocols_serves_each(broker: Broker) -> None:
    """Issue 5, point 6."""
    clients = [door.connect(broker.address("auto")) for door in DOORS.values()]
    clients[0].create_topic("t", 1)
    for number, client in enumerate(clients):
        client.produce("t", 0, [str(number).encode()])
    for client in clients:
        assert read_all(client, "t") == [(number, str(number).encode()) for number in range(len(clients))]
        client.wire.socket.close()
