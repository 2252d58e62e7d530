"""Requests by hand, over a socket to a real broker: old versions, bad input, and what a restart remembers."""

import socket
import struct
import time
from collections.abc import Iterator
from typing import Any

import pytest

from trivium.messages.api.api_versions import ApiVersionsRequest
from trivium.messages.api.create_topics import CreatableTopic, CreateTopicsRequest
from trivium.messages.api.fetch import FetchPartition, FetchRequest, FetchTopic
from trivium.messages.api.init_producer_id import InitProducerIdRequest
from trivium.messages.api.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from trivium.messages.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from trivium.messages.errors import ErrorCode
from trivium.messages.frames import decode_response, encode_request
from trivium.messages.schema import Request
from trivium.records.batch import build_batch, check_batches, iter_records
from trivium.records.legacy import Message, build_message, iter_legacy_records
from trivium.records.record import Record
from trivium.testing import Broker

SECONDS_MAX = 10


class Socket:
    """A connection that speaks frames, good ones and others."""

    def __init__(self, broker: Broker) -> None:
        host, _, port = broker.bootstrap.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), SECONDS_MAX)

    def __enter__(self) -> "Socket":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, request: Request, version: int) -> Any:
        self.send(request, version)
        _, answer = decode_response(request.API_KEY, version, self.receive())
        return answer

    def send(self, request: Request, version: int) -> None:
        frame = encode_request(request, version, 1, "by hand")
        self.send_bytes(struct.pack(">i", len(frame)) + frame)

    def send_bytes(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive(self) -> bytes:
        (size,) = struct.unpack(">i", self._exactly(4))
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self._socket.recv(size - len(data))
            assert piece, "the broker has closed the connection"
            data += piece
        return data

    @property
    def is_closed(self) -> bool:
        """Whether the broker closes the connection without another word."""
        try:
            return self._socket.recv(1) == b""
        except ConnectionResetError:
            return True


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.fixture
def topic(broker: Broker, request: pytest.FixtureRequest) -> str:
    """A new topic of one partition, named after the test."""
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)[-60:]
    create(broker, name)
    return name


def create(broker: Broker, name: str) -> None:
    with Socket(broker) as client:
        made = CreatableTopic(name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[])
        answer = client.ask(CreateTopicsRequest(topics=[made], timeout_ms=1_000), 5)
        assert answer.topics[0].error_code == 0


def batch(value: bytes, **fields: Any) -> bytes:
    return build_batch([Record(0, time.time_ns() // 1_000_000, b"k", value)], **fields)


def producing(topic: str, records: bytes | None, acks: int = 1) -> ProduceRequest:
    part = PartitionProduceData(index=0, records=records)
    return ProduceRequest(
        acks=acks, timeout_ms=1_000, topic_data=[TopicProduceData(name=topic, partition_data=[part])]
    )


def fetching(topic: str, **fields: Any) -> FetchRequest:
    part = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    settings = {"max_wait_ms": 0, "min_bytes": 1, **fields}
    return FetchRequest(topics=[FetchTopic(topic=topic, partitions=[part])], **settings)


def end_offset(broker: Broker, topic: str) -> int:
    part = ListOffsetsPartition(partition_index=0, timestamp=-1)
    asked = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=[part])])
    with Socket(broker) as client:
        offset: int = client.ask(asked, 1).topics[0].partitions[0].offset
    return offset


def test_old_versions_write_and_read_over_one_connection(broker: Broker, topic: str) -> None:
    """Message sets go in by Produce 0-2 and come out by Fetch 0-3; batches by all others."""
    with Socket(broker) as client:
        for version in range(13):
            magic = 0 if version < 2 else 1
            message = build_message(Message(0, magic, 0, 1 if magic else -1, b"k", b"%d" % version))
            answer = client.ask(producing(topic, message if version < 3 else batch(b"%d" % version)), version)
            assert answer.responses[0].partition_responses[0].error_code == 0
        for version in range(13):
            answer = client.ask(fetching(topic), version)
            records = bytes(answer.responses[0].partitions[0].records)
            if version < 4:
                found = [record.value for record in iter_legacy_records(records)]
            else:
                found = [
                    record.value for at, _ in check_batches(records) for record in iter_records(records, at)
                ]
            assert found == [b"%d" % number for number in range(13)]


def test_wrong_checksum_is_answered_and_the_log_is_untouched(broker: Broker, topic: str) -> None:
    damaged = bytearray(batch(b"value"))
    damaged[-1] ^= 1
    with Socket(broker) as client:
        answer = client.ask(producing(topic, bytes(damaged)), 9)
        assert answer.responses[0].partition_responses[0].error_code == ErrorCode.CORRUPT_MESSAGE
        assert client.ask(ApiVersionsRequest(), 2).error_code == 0
    assert end_offset(broker, topic) == 0


def test_unknown_version_of_api_versions_is_answered_and_the_connection_goes_on(broker: Broker) -> None:
    """001.9, KIP-511."""
    with Socket(broker) as client:
        client.send_bytes(struct.pack(">ihhih", 10, 18, 77, 5, -1))
        assert client.receive() == bytes.fromhex("00000005 0023 00000001 0012 0000 0004")
        assert client.ask(ApiVersionsRequest(), 0).error_code == 0


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">ihhih", 10, 9_999, 0, 1, -1),
        struct.pack(">ihhih", 10, 0, 99, 1, -1),
        struct.pack(">ihhih", 10, 0, 9, 1, -1),
        struct.pack(">i", -7),
        struct.pack(">i", 2**31 - 1),
        bytes.fromhex("0000001a0012000467890abc00096b61666b612d636c69000a6b61666b612d636c6904302e3100"),
    ],
    ids=["unknown API", "unknown version", "no body", "negative size", "huge size", "001.52"],
)
def test_bytes_that_are_no_request_close_their_connection_and_no_other(broker: Broker, data: bytes) -> None:
    with Socket(broker) as bad, Socket(broker) as good:
        bad.send_bytes(data)
        assert bad.is_closed
        assert good.ask(ApiVersionsRequest(), 0).error_code == 0


def test_acks_0_is_silent_and_a_failed_one_hangs_up(broker: Broker, topic: str) -> None:
    with Socket(broker) as client:
        client.send(producing(topic, batch(b"a"), acks=0), 9)
        # The next answer is that to the next request: the one before had none.
        assert (
            client.ask(producing(topic, batch(b"b")), 9).responses[0].partition_responses[0].base_offset == 1
        )
        client.send(producing("missing", batch(b"c"), acks=0), 9)
        assert client.is_closed
    assert end_offset(broker, topic) == 2


def test_long_poll_over_a_socket_gets_what_somebody_else_writes(broker: Broker, topic: str) -> None:
    with Socket(broker) as reader, Socket(broker) as writer:
        reader.send(fetching(topic, max_wait_ms=1_000 * SECONDS_MAX), 11)
        writer.ask(producing(topic, batch(b"news"), acks=-1), 9)
        _, answer = decode_response(1, 11, reader.receive())
        records = bytes(answer.responses[0].partitions[0].records)  # type: ignore[attr-defined]
        assert [record.value for record in iter_records(records)] == [b"news"]


def test_restart_remembers_producers_and_never_gives_an_id_twice() -> None:
    """R13: a retry over a restart is the same batch; ids go on behind all that were given."""
    with Broker() as broker:
        create(broker, "t")
        asked = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1_000)
        with Socket(broker) as client:
            ids = [client.ask(asked, 4).producer_id for _ in range(3)]
            records = batch(b"once", producer_id=ids[-1], producer_epoch=0, base_sequence=0)
            client.ask(producing("t", records, acks=-1), 9)
        broker.restart()
        with Socket(broker) as client:
            ids += [client.ask(asked, 4).producer_id for _ in range(3)]
            again = client.ask(producing("t", records, acks=-1), 9).responses[0].partition_responses[0]
            gap = batch(b"gap", producer_id=ids[2], producer_epoch=0, base_sequence=5)
            refused = client.ask(producing("t", gap, acks=-1), 9).responses[0].partition_responses[0]
        assert (again.error_code, again.base_offset) == (0, 0)
        assert refused.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        assert len(set(ids)) == len(ids)
        assert end_offset(broker, "t") == 1
