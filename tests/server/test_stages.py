"""The 25 stages of the plan that the broker grew from (001.1-001.46, 001.53), one test each, over a socket.

The broker serves a directory on disk; frames go in and out as a client without any library would send them.
"""

import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from trivium.messages.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from trivium.messages.api.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    TopicRequest,
)
from trivium.messages.api.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from trivium.messages.api.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from trivium.messages.api.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from trivium.messages.frames import decode_response, encode_request
from trivium.messages.schema import Request, Response
from trivium.records.batch import build_batch, iter_batches, iter_records
from trivium.records.record import Record
from trivium.testing import Broker
from trivium.wire.buffer import Buffer

R = TypeVar("R", bound=Response)

UNKNOWN_TOPIC_OR_PARTITION, UNSUPPORTED_VERSION, UNKNOWN_TOPIC_ID = 3, 35, 100
NOW_MS = 1_750_000_000_000


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with Broker(data=tmp_path_factory.mktemp("stages") / "data") as broker:
        broker.create_topic("bar", partitions=2)
        broker.create_topic("empty", partitions=1)
        broker.create_topic("foo", partitions=1)
        broker.create_topic("written", partitions=1)
        broker.create_topic("written-too", partitions=2)
        yield broker


class Peer:
    """A socket, and nothing that helps."""

    def __init__(self, broker: Broker) -> None:
        host, _, port = broker.bootstrap.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=10)

    def send(self, request: Request, version: int, correlation_id: int) -> None:
        frame = encode_request(request, version, correlation_id, "kafka-cli")
        self.send_raw(frame)

    def send_raw(self, frame: bytes) -> None:
        self.socket.sendall(struct.pack(">i", len(frame)) + frame)

    def receive_raw(self) -> bytes:
        return self._exactly(struct.unpack(">i", self._exactly(4))[0])

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            assert piece, "the broker has closed the connection"
            data += piece
        return data

    def receive(self, response: type[R], version: int) -> tuple[int, R]:
        header, message = decode_response(response.API_KEY, version, self.receive_raw())
        assert isinstance(message, response)
        return header.correlation_id, message


@pytest.fixture
def peer(broker: Broker) -> Iterator[Peer]:
    peer = Peer(broker)
    with peer.socket:
        yield peer


def ask(peer: Peer, request: Request, response: type[R], version: int) -> R:
    peer.send(request, version, 7)
    correlation_id, message = peer.receive(response, version)
    assert correlation_id == 7
    return message


def served(peer: Peer) -> dict[int, tuple[int, int]]:
    answer = ask(
        peer,
        ApiVersionsRequest(client_software_name="kafka-cli", client_software_version="0.1"),
        ApiVersionsResponse,
        4,
    )
    assert answer.error_code == 0
    return {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}


# -- the base --------------------------------------------------------------------------------------


def test_stage_1_port_takes_connections(broker: Broker) -> None:
    """001.1"""
    with Peer(broker).socket as connected:
        assert connected.getpeername()[1] == int(broker.bootstrap.rpartition(":")[2])


def test_stage_2_answer_begins_with_size_and_correlation_id(peer: Peer) -> None:
    """001.5: in the plan a fixed 7; here 7 because 7 was asked."""
    peer.send_raw(
        bytes.fromhex("0012 0004 00000007 0009 6b61666b612d636c69 00 0a 6b61666b612d636c69 04 302e31 00")
    )
    assert peer.receive_raw()[:4] == bytes.fromhex("00000007")


@pytest.mark.parametrize("correlation_id", [0, 1333056139, 0x7FFF_FFFF])
def test_stage_3_correlation_id_comes_back(peer: Peer, correlation_id: int) -> None:
    """001.6, 001.7"""
    peer.send(MetadataRequest(topics=[]), 9, correlation_id)
    assert peer.receive(MetadataResponse, 9)[0] == correlation_id


@pytest.mark.parametrize("version", [5, 671, -1])
def test_stage_4_unsupported_version_is_error_35(peer: Peer, version: int) -> None:
    """001.8, 001.9; the connection stays (KIP-511)."""
    peer.send_raw(struct.pack(">hhih", 18, version, 7, -1) + b"\0")
    _, answer = peer.receive(ApiVersionsResponse, 0)
    assert answer.error_code == UNSUPPORTED_VERSION
    assert [(api.api_key, api.min_version, api.max_version) for api in answer.api_keys] == [(18, 0, 4)]
    assert 18 in served(peer)


def test_stage_5_api_versions_lists_itself(peer: Peer) -> None:
    """001.10-001.12, 003.29: the client introduces itself, and learns what is served."""
    assert served(peer)[18] == (0, 4)


# -- several requests ------------------------------------------------------------------------------


def test_stage_concurrent_1_requests_in_a_row_are_answered_in_order(peer: Peer) -> None:
    """001.49"""
    for correlation_id in range(10):
        peer.send(MetadataRequest(topics=[]), 9, correlation_id)
    assert [peer.receive(MetadataResponse, 9)[0] for _ in range(10)] == list(range(10))


def test_stage_concurrent_2_clients_do_not_disturb_each_other(broker: Broker) -> None:
    peers = [Peer(broker) for _ in range(5)]
    for number, peer in enumerate(peers):
        peer.send(MetadataRequest(topics=[]), 9, number)
    for number, peer in reversed(list(enumerate(peers))):
        assert peer.receive(MetadataResponse, 9)[0] == number
        peer.socket.close()


# -- describing topics -----------------------------------------------------------------------------


def describe(peer: Peer, *names: str) -> DescribeTopicPartitionsResponse:
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names], response_partition_limit=100
    )
    return ask(peer, request, DescribeTopicPartitionsResponse, 0)


def test_stage_describe_1_it_is_advertised(peer: Peer) -> None:
    """001.13"""
    assert served(peer)[75] == (0, 0)


def test_stage_describe_2_unknown_topic(peer: Peer) -> None:
    """001.14-001.21"""
    answer = describe(peer, "nobody-made-me")
    assert [(topic.error_code, topic.name, topic.topic_id) for topic in answer.topics] == [
        (UNKNOWN_TOPIC_OR_PARTITION, "nobody-made-me", bytes(16))
    ]
    assert answer.topics[0].partitions == []
    assert answer.next_cursor is None


def test_stage_describe_3_one_partition(peer: Peer) -> None:
    """001.3, 001.22-001.31"""
    (topic,) = describe(peer, "foo").topics
    assert (topic.error_code, topic.name, len(topic.topic_id)) == (0, "foo", 16)
    assert topic.topic_id != bytes(16)
    (partition,) = topic.partitions
    assert (partition.error_code, partition.partition_index, partition.leader_id) == (0, 0, 1)
    assert (partition.replica_nodes, partition.isr_nodes, partition.offline_replicas) == ([1], [1], [])


def test_stage_describe_4_several_partitions(peer: Peer) -> None:
    (topic,) = describe(peer, "bar").topics
    assert [partition.partition_index for partition in topic.partitions] == [0, 1]


def test_stage_describe_5_several_topics_are_sorted(peer: Peer) -> None:
    """001.32, 001.33: known and unknown, each for itself."""
    topics = describe(peer, "foo", "unknown", "bar").topics
    assert [(topic.name, topic.error_code) for topic in topics] == [
        ("bar", 0),
        ("foo", 0),
        ("unknown", UNKNOWN_TOPIC_OR_PARTITION),
    ]


# -- fetching --------------------------------------------------------------------------------------


def topic_id(peer: Peer, name: str) -> bytes:
    """003.25: Metadata by name gives the id."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    (topic,) = ask(peer, request, MetadataResponse, 12).topics
    assert topic.error_code == 0
    return topic.topic_id


def fetch(peer: Peer, *ids: bytes) -> FetchResponse:
    part = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=1 << 20,
        topics=[FetchTopic(topic_id=each, partitions=[part]) for each in ids],
    )
    return ask(peer, request, FetchResponse, 16)


def values(records: Buffer | None) -> list[bytes | None]:
    data = bytes(records or b"")
    return [record.value for at, _ in iter_batches(data) for record in iter_records(data, at)]


def test_stage_fetch_1_it_is_advertised(peer: Peer) -> None:
    """001.34"""
    lowest, highest = served(peer)[1]
    assert (lowest, highest >= 16) == (0, True)


def test_stage_fetch_2_no_topics(peer: Peer) -> None:
    """001.36, 001.37: seventeen bytes in all, with the size that this leaves out."""
    peer.send(FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1, topics=[]), 16, 7)
    assert peer.receive_raw() == bytes.fromhex("00000007 00 00000000 0000 00000000 01 00")


def test_stage_fetch_3_unknown_topic(peer: Peer) -> None:
    """001.38-001.40"""
    (topic,) = fetch(peer, bytes(range(16))).responses
    (partition,) = topic.partitions
    assert (topic.topic_id, partition.partition_index) == (bytes(range(16)), 0)
    assert (partition.error_code, partition.preferred_read_replica) == (UNKNOWN_TOPIC_ID, -1)
    assert not partition.records


def test_stage_fetch_4_empty_topic(peer: Peer) -> None:
    """001.41, 001.42"""
    (topic,) = fetch(peer, topic_id(peer, "empty")).responses
    (partition,) = topic.partitions
    assert (partition.error_code, partition.high_watermark, values(partition.records)) == (0, 0, [])


def test_stage_fetch_5_message_from_disk(broker: Broker, peer: Peer) -> None:
    """001.4, 001.43"""
    broker.produce("foo", ["Hello Kafka!"])
    (topic,) = fetch(peer, topic_id(peer, "foo")).responses
    assert values(topic.partitions[0].records) == [b"Hello Kafka!"]


def test_stage_fetch_6_messages_from_disk(broker: Broker, peer: Peer) -> None:
    broker.produce("bar", ["Hello World!"], partition=0)
    broker.produce("bar", ["Hello CodeCrafters!"], partition=0)
    (topic,) = fetch(peer, topic_id(peer, "bar")).responses
    assert values(topic.partitions[0].records) == [b"Hello World!", b"Hello CodeCrafters!"]


# -- producing -------------------------------------------------------------------------------------

Parts = dict[int, list[bytes]]


def produce(peer: Peer, topics: dict[str, Parts]) -> list[tuple[str, int, int, int]]:
    """Topic, partition, error and offset of every part of the answer."""
    request = ProduceRequest(
        acks=-1,
        timeout_ms=10_000,
        topic_data=[
            TopicProduceData(
                name=name,
                partition_data=[
                    PartitionProduceData(
                        index=index,
                        records=build_batch([Record(0, NOW_MS, None, value) for value in some]),
                    )
                    for index, some in parts.items()
                ],
            )
            for name, parts in topics.items()
        ],
    )
    answer = ask(peer, request, ProduceResponse, 11)
    return [
        (topic.name, part.index, part.error_code, part.base_offset)
        for topic in answer.responses
        for part in topic.partition_responses
    ]


def on_disk(broker: Broker, name: str) -> list[bytes | None]:
    (directory,) = broker.directories
    segments = sorted(Path(directory, name).glob("*.log"))
    return [value for segment in segments for value in values(segment.read_bytes())]


def test_stage_produce_1_it_is_advertised(peer: Peer) -> None:
    """001.45"""
    lowest, highest = served(peer)[0]
    assert (lowest, highest >= 11) == (0, True)


def test_stage_produce_2_unknown_topic_and_partition(peer: Peer) -> None:
    assert produce(peer, {"nobody-made-me": {0: [b"x"]}, "empty": {9: [b"x"]}}) == [
        ("nobody-made-me", 0, UNKNOWN_TOPIC_OR_PARTITION, -1),
        ("empty", 9, UNKNOWN_TOPIC_OR_PARTITION, -1),
    ]


def test_stage_produce_3_to_5_records_lie_on_disk(broker: Broker, peer: Peer) -> None:
    """001.44-001.46: an answer, one record, several records; the file holds what was sent."""
    assert produce(peer, {"written": {0: [b"one"]}}) == [("written", 0, 0, 0)]
    assert on_disk(broker, "written-0") == [b"one"]
    assert produce(peer, {"written": {0: [b"two", b"three"]}}) == [("written", 0, 0, 1)]
    assert on_disk(broker, "written-0") == [b"one", b"two", b"three"]


def test_stage_produce_6_and_7_several_partitions_and_topics(broker: Broker, peer: Peer) -> None:
    """001.48: what the plan names as next steps is there, and stored."""
    answer = produce(peer, {"written-too": {0: [b"a"], 1: [b"b"]}, "empty": {0: [b"c"]}})
    assert answer == [("written-too", 0, 0, 0), ("written-too", 1, 0, 0), ("empty", 0, 0, 0)]
    assert [on_disk(broker, name) for name in ("written-too-0", "written-too-1")] == [[b"a"], [b"b"]]
