"""One log behind two doors: what Kafka writes Iggy polls, and the other way round (X.1-X.6)."""

import struct

from tests.protocols.iggy.raw_client import (
    RawClient,
    consumer,
    member,
    message,
    name,
    optional_partition,
    poll,
    send,
    text,
    to_partition,
)
from trivium.client.cluster import Cluster
from trivium.client.group_offsets import committed_offsets
from trivium.client.topology import TopicPartition
from trivium.testing import Broker

RAW, STRING = 1, 2


def test_connection_ends_with_a_word_when_the_broker_stops_and_without_one_when_it_dies() -> None:
    """1.1 of Iggy's protocol: status 8, and clients connect again."""
    with Broker(listen_iggy="127.0.0.1:0") as broker:
        for end, last in ((broker.stop, struct.pack("<II", 8, 0)), (broker.kill, b"")):
            with RawClient(broker.address("iggy")) as client:
                client.login()
                end()
                assert client.received_to_the_end() == last
            broker.start()


def test_record_of_kafka_is_a_message_of_the_default_stream(broker: Broker, client: RawClient) -> None:
    broker.create_topic("orders", 2)
    broker.produce(
        "orders", [(b"key", b"value")], partition=1, headers=[("h", b"1")], timestamp_ms=1_750_000_000_123
    )
    [found] = client.get(100, poll(consumer(), "default", "orders", 1))["messages"]
    assert (found["offset"], found["payload"]) == (0, b"value")
    assert found["timestamp"] == 1_750_000_000_123_000
    assert {(key, value) for _, key, _, value in found["headers"]} == {(b"kafka.key", b"key"), (b"h", b"1")}


def test_record_without_a_value_is_an_empty_payload_that_says_so(broker: Broker, client: RawClient) -> None:
    broker.create_topic("tombs", 1)
    broker.produce("tombs", [(b"key", None)])
    [found] = client.get(100, poll(consumer(), "default", "tombs"))["messages"]
    assert found["payload"] == b""
    assert b"kafka.tombstone" in {key for _, key, _, _ in found["headers"]}


def test_message_of_iggy_is_a_record_with_the_same_offset(broker: Broker, client: RawClient) -> None:
    client.get(202, text("shop"))
    client.get(302, name("shop") + struct.pack("<IBQQB", 1, 1, 0, 0, 0) + text("orders"))
    header = struct.pack("<BI", STRING, 1) + b"h" + struct.pack("<BI", STRING, 1) + b"v"
    first, second = message(b"one", message_id=7, headers=header), message(b"two")
    client.get(101, send("shop", "orders", to_partition(0), first, second))
    records = broker.records("shop.orders")
    assert [(each.offset, each.value) for each in records] == [(0, b"one"), (1, b"two")]
    assert ("h", b"v") in records[0].headers
    [again, _] = client.get(100, poll(consumer(), "shop", "orders"))["messages"]
    assert again["message_id"] == 7
    assert again["origin"] == 1_700_000_000_000_001
    assert again["headers"] == [(STRING, b"h", STRING, b"v")]
    assert again["timestamp"] // 1_000 == records[0].timestamp


def test_offset_of_a_group_is_the_next_for_kafka_and_the_last_for_iggy(
    broker: Broker, client: RawClient, stream: str, topic: str
) -> None:
    """X.3."""
    place = name(stream) + name(topic)
    client.get(101, send(stream, topic, to_partition(0), message(b"0"), message(b"1"), message(b"2")))
    client.get(602, place + text("readers"))
    client.get(604, place + name("readers"))
    client.get(121, member("readers") + place + optional_partition(0) + struct.pack("<Q", 1))
    client.get(121, consumer(5) + place + optional_partition(0) + struct.pack("<Q", 0))
    with Cluster.connect(broker.bootstrap) as cluster:
        for group, offset in (("readers", 2), ("iggy.consumer.5", 1)):
            found = committed_offsets(cluster, group)
            assert found[TopicPartition(f"{stream}.{topic}", 0)].offset == offset
