"""Sending and polling through a real broker: where messages go, where polls begin (002.8, 002.16-18)."""

import struct

import pytest

from tests.protocols.iggy.raw_client import (
    FIRST,
    LAST,
    NEXT,
    OFFSET,
    TIMESTAMP,
    RawClient,
    balanced,
    by_key,
    consumer,
    member,
    message,
    name,
    new_topic,
    optional_partition,
    poll,
    request,
    send,
    text,
    to_partition,
)
from trivium.protocols.iggy.key_hash import hash_key
from trivium.testing import Broker
from trivium.wire.limits import IGGY_PAYLOAD_BYTES_MAX, IGGY_USER_HEADERS_BYTES_MAX

POLL, SEND, GET_OFFSET, STORE_OFFSET = 100, 101, 120, 121


def payloads(answer: dict[str, list[dict[str, bytes]]]) -> list[bytes]:
    return [each["payload"] for each in answer["messages"]]


def sent(client: RawClient, stream: str, topic: str, *texts: bytes, partition: int = 0) -> None:
    client.get(SEND, send(stream, topic, to_partition(partition), *map(message, texts)))


# -- where messages go -----------------------------------------------------------------------------


def test_send_balanced_goes_to_one_partition_after_the_other(
    client: RawClient, stream: str, topic: str
) -> None:
    for number in range(6):
        client.get(SEND, send(stream, topic, balanced(), message(b"%d" % number)))
    found = [payloads(client.get(POLL, poll(consumer(), stream, topic, each))) for each in range(3)]
    assert found == [[b"0", b"3"], [b"1", b"4"], [b"2", b"5"]]


@pytest.mark.parametrize("header_bytes", [56, 64])
def test_send_by_key_brings_equal_keys_together_whatever_the_generation(
    client: RawClient, stream: str, topic: str, header_bytes: int
) -> None:
    keys = [b"key", b"user-1", b"\1\0\0\0"]
    for key in keys:
        body = send(stream, topic, by_key(key), message(key, header_bytes=header_bytes))
        client.get(SEND, body)
    client.header_bytes = header_bytes
    for key in keys:
        assert key in payloads(client.get(POLL, poll(consumer(), stream, topic, hash_key(key) % 3)))


def test_send_to_a_partition_that_is_not_there_writes_nothing(
    client: RawClient, stream: str, topic: str
) -> None:
    assert client.ask(SEND, send(stream, topic, to_partition(3), message(b"x"))).status == 3007
    assert client.get(300, name(stream) + name(topic))["messages"] == 0


def test_send_with_a_flaw_writes_nothing(client: RawClient, stream: str, topic: str) -> None:
    body = send(stream, topic, to_partition(0), message(b"first"), message(b"second"))
    index = body.index(struct.pack("<IIQ", 0, 69, 0))
    broken = body[:index] + struct.pack("<IIQ", 1, 69, 0) + body[index + 16 :]
    assert client.ask(SEND, broken).status == 4031
    assert client.ask(SEND, body[:-1]).status == 4033
    assert client.ask(SEND, body[:index] + body[index : index + 31]).status == 3  # half an index
    assert client.get(300, name(stream) + name(topic))["messages"] == 0


# -- how large they may be -------------------------------------------------------------------------


def test_send_of_the_largest_message_is_polled_as_it_was_sent(
    client: RawClient, stream: str, topic: str
) -> None:
    """002.16: what Iggy's own servers take, with as many user headers, each growing on its way into Kafka."""
    number = struct.pack("<BI", 4, 1) + b"\xff" + struct.pack("<BI", 4, 1) + b"\xff"
    headers = number * (IGGY_USER_HEADERS_BYTES_MAX // len(number))
    largest = message(bytes(IGGY_PAYLOAD_BYTES_MAX), headers=headers)
    client.get(SEND, send(stream, topic, to_partition(0), message(b"before"), largest, message(b"behind")))
    found = [client.get(POLL, poll(consumer(), stream, topic, 0, (OFFSET, at), 1)) for at in range(3)]
    assert [len(payloads(each)[0]) for each in found] == [6, IGGY_PAYLOAD_BYTES_MAX, 6]
    assert len(found[1]["messages"][0]["headers"]) == len(headers) // len(number)
    beyond = message(bytes(IGGY_PAYLOAD_BYTES_MAX + 1))
    assert client.ask(SEND, send(stream, topic, to_partition(0), beyond)).status == 4022


def test_topic_made_by_kafka_takes_no_larger_messages_than_it_says(broker: Broker, client: RawClient) -> None:
    broker.create_topic("small", 1, {"max.message.bytes": 1_000})
    one = message(bytes(400))
    client.get(SEND, send("default", "small", to_partition(0), *[one] * 10))
    both = send("default", "small", to_partition(0), one, message(bytes(1_000)))
    assert client.ask(SEND, both).status == 4022
    found = client.get(POLL, poll(consumer(), "default", "small", 0, (FIRST, 0), 100))
    assert [(each["offset"], each["payload"]) for each in found["messages"]] == [
        (offset, bytes(400)) for offset in range(10)
    ]


# -- where polls begin -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "found"),
    [
        ((FIRST, 0), [b"0", b"1", b"2"]),
        ((OFFSET, 5), [b"5", b"6", b"7"]),
        ((OFFSET, 9), [b"9"]),
        ((OFFSET, 10), []),
        ((LAST, 0), [b"7", b"8", b"9"]),
        ((NEXT, 0), [b"0", b"1", b"2"]),
        ((TIMESTAMP, 0), [b"0", b"1", b"2"]),
        ((TIMESTAMP, (1 << 64) - 1), []),
    ],
)
def test_poll_begins_where_its_strategy_says(
    client: RawClient, stream: str, topic: str, strategy: tuple[int, int], found: list[bytes]
) -> None:
    sent(client, stream, topic, *(b"%d" % number for number in range(10)))
    answer = client.get(POLL, poll(consumer(), stream, topic, 0, strategy, 3))
    assert payloads(answer) == found
    assert answer["offset_last"] == 9


def test_poll_by_time_is_exact_to_the_microsecond(client: RawClient, stream: str, topic: str) -> None:
    """X.4: the log is searched by milliseconds, and many requests come in one."""
    for number in range(60):
        sent(client, stream, topic, b"%d" % number)
    everything = client.get(POLL, poll(consumer(), stream, topic, 0, (FIRST, 0), 100))["messages"]
    for each in everything:
        since = client.get(POLL, poll(consumer(), stream, topic, 0, (TIMESTAMP, each["timestamp"]), 100))
        expected = [other["offset"] for other in everything if other["timestamp"] >= each["timestamp"]]
        assert [other["offset"] for other in since["messages"]] == expected


def test_poll_that_asks_for_much_gets_it_in_one_answer(client: RawClient, stream: str, topic: str) -> None:
    for _ in range(5):
        sent(client, stream, topic, *([bytes(1000)] * 400))
    answer = client.get(POLL, poll(consumer(), stream, topic, 0, (FIRST, 0), 2_000))
    assert [each["offset"] for each in answer["messages"]] == list(range(2_000))


def test_poll_for_nothing_is_answered_with_nothing(client: RawClient, stream: str, topic: str) -> None:
    sent(client, stream, topic, b"x")
    answer = client.get(POLL, poll(consumer(), stream, topic, 0, (FIRST, 0), 0))
    assert answer == {"partition": 0, "offset_last": 0, "count": 0, "messages": []}


def test_poll_with_auto_commit_goes_on_next_time(client: RawClient, stream: str, topic: str) -> None:
    sent(client, stream, topic, *(b"%d" % number for number in range(5)))
    body = poll(consumer("me"), stream, topic, 0, (NEXT, 0), 2, auto_commit=True)
    assert [payloads(client.get(POLL, body)) for _ in range(4)] == [[b"0", b"1"], [b"2", b"3"], [b"4"], []]
    place = consumer("me") + name(stream) + name(topic) + optional_partition(0)
    assert client.get(GET_OFFSET, place)["stored"] == 4


def test_offset_of_a_name_and_of_a_number_are_two(client: RawClient, stream: str, topic: str) -> None:
    sent(client, stream, topic, b"0", b"1", b"2")
    place = name(stream) + name(topic) + optional_partition(0)
    for who, offset in ((consumer("7"), 1), (consumer(8), 2)):
        client.get(STORE_OFFSET, who + place + struct.pack("<Q", offset))
    assert client.get(GET_OFFSET, consumer("7") + place)["stored"] == 1
    assert client.get(GET_OFFSET, consumer(8) + place)["stored"] == 2
    assert client.get(GET_OFFSET, consumer(9) + place) is None


@pytest.mark.parametrize("offset", [0, 1])
def test_offset_stored_in_an_empty_partition_is_refused(
    client: RawClient, stream: str, topic: str, offset: int
) -> None:
    place = consumer("me") + name(stream) + name(topic) + optional_partition(0)
    assert client.ask(STORE_OFFSET, place + struct.pack("<Q", offset)).status == 4100


def test_offset_0_stored_by_0_5_in_an_empty_partition_passes_nothing_over(
    address: str, client: RawClient, stream: str, topic: str
) -> None:
    """A 0.5 server takes it, and hides the first message from who goes on from there."""
    place = consumer("me") + name(stream) + name(topic)
    with RawClient(address, header_bytes=56) as old:
        old.login(version="0.7.0")
        assert old.ask(STORE_OFFSET, place + struct.pack("<IQ", 1, 1)).status == 4100
        assert old.ask(STORE_OFFSET, place + struct.pack("<IQ", 1, 0)).status == 0
        sent(client, stream, topic, b"first", b"second")
        answer = old.get(POLL, place + struct.pack("<IBQIB", 1, NEXT, 0, 10, 0))
        assert payloads(answer) == [b"first", b"second"]


# -- groups ----------------------------------------------------------------------------------------


def test_members_of_a_group_share_the_partitions_and_the_one_that_stays_gets_all(
    client: RawClient, address: str, stream: str, topic: str
) -> None:
    place = name(stream) + name(topic)
    for partition in range(3):
        sent(client, stream, topic, b"%d" % partition, partition=partition)
    client.get(602, place + text("g"))
    client.get(604, place + name("g"))
    with RawClient(address) as other:
        other.login()
        other.get(604, place + name("g"))
        group = client.get(600, place + name("g"))
        dealt = [each["partitions"] for each in group["members"]]
        assert sorted(partition for partitions in dealt for partition in partitions) == [0, 1, 2]
        assert sorted(map(len, dealt)) == [1, 2]
    found: set[bytes] = set()
    body = poll(member("g"), stream, topic, None, (NEXT, 0), 10, auto_commit=True)
    while len(found) < 3:
        found.update(payloads(client.get(POLL, body)))
    assert found == {b"0", b"1", b"2"}


def test_poll_for_a_group_that_one_is_no_member_of_is_refused(
    client: RawClient, stream: str, topic: str
) -> None:
    client.get(602, name(stream) + name(topic) + text("g"))
    assert client.ask(POLL, poll(member("g"), stream, topic, None)).status == 5006
    assert client.ask(POLL, poll(member("unknown"), stream, topic, None)).status == 5000


# -- generations -----------------------------------------------------------------------------------


def test_client_of_0_5_counts_from_one(address: str, client: RawClient, stream: str, topic: str) -> None:
    with RawClient(address, header_bytes=56) as old:
        assert old.login(version="0.7.0") == 1
        new_stream = client.get(200, name(stream))
        old_stream = old.get(200, name(stream))
        assert old_stream["id"] == new_stream["id"] + 1
        assert old_stream["topics"][0]["id"] == new_stream["topics"][0]["id"] + 1
        assert old.get(200, name(old_stream["id"]))["name"] == stream
        assert [each["id"] for each in old.get(300, name(stream) + name(topic))["partitions"]] == [1, 2, 3]
        old.get(SEND, send(stream, topic, to_partition(3), message(b"third", header_bytes=56)))
        place = consumer(1) + name(stream) + name(topic)
        answer = old.get(POLL, place + struct.pack("<IBQIB", 3, FIRST, 0, 10, 0))
        assert (answer["partition"], payloads(answer)) == (3, [b"third"])
        assert old.ask(200, name("nobody")).payload == b""
        assert old.ask(203, name("nobody")).status == 1010
        assert old.ask(203, name(999)).status == 1009
    assert client.ask(203, name("nobody")).status == 1009
    assert payloads(client.get(POLL, poll(consumer(), stream, topic, 2))) == [b"third"]


def test_client_is_known_by_the_layout_of_its_requests_alone(address: str) -> None:
    """A login without words, as Go and Node have it."""
    with RawClient(address) as nameless:
        nameless.login()
        status, payload = nameless.ask(202, struct.pack("<I", 0) + text("by its layout"))
        assert status == 0
        number = struct.unpack_from("<I", payload)[0]
        assert nameless.get(200, name(number))["name"] == "by its layout"
        with RawClient(address) as modern:
            modern.login(version="0.10.0")
            assert modern.get(200, name(number - 1))["name"] == "by its layout"


def test_number_that_looks_like_the_length_of_a_name_is_a_number(address: str) -> None:
    """A 0.5 client may choose it: 77, before a name of 73 bytes."""
    with RawClient(address) as old:
        old.login()
        old.get(202, struct.pack("<I", 77) + text("n" * 73))
        assert old.get(200, name(77))["name"] == "n" * 73


def test_client_that_has_not_logged_in_is_shown_as_nobody(address: str, client: RawClient) -> None:
    with RawClient(address) as stranger, RawClient(address) as old:
        stranger.ask(1)
        old.login(version="0.7.0")
        assert 0xFFFF_FFFF in [each["user_id"] for each in client.get(22)["all"]]
        assert sorted({each["user_id"] for each in old.get(22)["all"]}) == [0, 1]


def test_messages_of_one_generation_are_polled_by_the_other(
    address: str, client: RawClient, stream: str, topic: str
) -> None:
    """User headers have typed keys since 0.7."""
    headers = {
        56: struct.pack("<I", 1) + b"k" + struct.pack("<BI", 2, 1) + b"v",
        64: struct.pack("<BI", 2, 1) + b"k" + struct.pack("<BI", 2, 1) + b"v",
    }
    for size, version in ((56, "0.8.1"), (64, "0.9.0")):
        with RawClient(address, header_bytes=size) as sender:
            sender.login(version=version)
            typed = message(b"%d" % size, header_bytes=size, headers=headers[size])
            sender.get(SEND, send(stream, topic, to_partition(0), typed))
    for size, version in ((56, "0.8.1"), (64, "0.9.0")):
        with RawClient(address, header_bytes=size) as reader:
            reader.login(version=version)
            found = reader.get(POLL, poll(consumer(), stream, topic))["messages"]
            assert [(each["payload"], each["headers"]) for each in found] == [
                (b"56", [(2, b"k", 2, b"v")]),
                (b"64", [(2, b"k", 2, b"v")]),
            ]


def test_requests_of_two_commands_in_one_segment_are_both_answered(client: RawClient) -> None:
    client.send_raw(request(1) + request(201))
    assert client.answer().status == 0
    assert client.answer().status == 0


def test_member_that_joins_reads_nothing_that_another_is_about_to_store(
    address: str, client: RawClient, stream: str, topic: str
) -> None:
    """R15: as 0.8 has it."""
    place = name(stream) + name(topic)
    for partition in range(3):
        sent(client, stream, topic, b"0", b"1", partition=partition)
    client.get(602, place + text("g"))
    client.get(604, place + name("g"))
    body = poll(member("g"), stream, topic, None, (NEXT, 0), 1)
    assert [client.get(POLL, body)["partition"] for _ in range(3)] == [0, 1, 2]
    with RawClient(address) as other:
        other.login()
        other.get(604, place + name("g"))
        assert payloads(other.get(POLL, body)) == []
        client.get(STORE_OFFSET, member("g") + place + optional_partition(1) + struct.pack("<Q", 0))
        polled = other.get(POLL, body)
        assert (polled["partition"], payloads(polled)) == (1, [b"1"])


# -- looking at what is not there ------------------------------------------------------------------


def test_looking_at_what_is_not_there_is_no_error(
    address: str, client: RawClient, stream: str, topic: str
) -> None:
    """As 0.8 has it; to a client of 0.5 a list of something that is not there is one."""
    nowhere, place = name(stream) + name("nowhere"), name(stream) + name(topic)
    looks = [
        (200, name("nowhere")),
        (300, nowhere),
        (600, place + name("nobody")),
        (GET_OFFSET, consumer() + nowhere + optional_partition(0)),
        (GET_OFFSET, consumer() + place + optional_partition(9)),
        (GET_OFFSET, member("nobody") + place + optional_partition(0)),
    ]
    lists = {(301, name("nowhere")): 1010, (601, nowhere): 2011}
    assert [client.ask(*look) for look in [*looks, *lists]] == [(0, b"")] * (len(looks) + len(lists))
    with RawClient(address) as old:
        old.login(version="0.7.0")  # what the Rust family of 0.5 says
        assert [old.ask(*look).status for look in lists] == list(lists.values())


# -- ids that the broker gives ---------------------------------------------------------------------


def test_id_of_a_message_is_no_other_ones_when_its_topic_is_emptied_or_made_again(
    client: RawClient, stream: str, topic: str
) -> None:
    """X.5: who keeps ids to know what it has seen takes nothing new for old."""
    place = name(stream) + name(topic)
    again = [[(305, place)], [(303, place), (302, new_topic(stream, topic))]]
    ids = []
    for requests in ([], *again):
        for code, body in requests:
            client.get(code, body)
        sent(client, stream, topic, b"same place, same offset")
        found = [client.get(POLL, poll(consumer(), stream, topic))["messages"][0] for _ in range(2)]
        assert found[0] == found[1]
        ids.append((found[0]["offset"], found[0]["message_id"]))
    assert [offset for offset, _ in ids] == [0, 0, 0]
    assert len(set(ids)) == 3


def test_id_of_a_message_is_the_same_after_a_restart() -> None:
    with Broker(listen_iggy="127.0.0.1:0") as broker:
        ids = []
        broker.produce("orders", [(None, b"one")])
        for _ in range(2):
            with RawClient(broker.address("iggy")) as client:
                client.login()
                ids.append(
                    client.get(POLL, poll(consumer(), "default", "orders"))["messages"][0]["message_id"]
                )
            broker.stop()
            broker.start()
    assert ids[0] == ids[1] != 0
