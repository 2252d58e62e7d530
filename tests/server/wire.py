"""A Kafka client of a few lines on a plain socket: it can also do what no client should."""

import socket
import struct
from types import TracebackType

from trivium.messages.api import ApiKey
from trivium.messages.api.api_versions import ApiVersionsRequest
from trivium.messages.api.fetch import FetchPartition, FetchRequest, FetchTopic
from trivium.messages.api.metadata import MetadataRequest, MetadataRequestTopic
from trivium.messages.api.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from trivium.messages.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from trivium.messages.frames import decode_response, encode_request
from trivium.messages.schema import Request, Response
from trivium.records.batch import build_batch
from trivium.records.record import Record

SECONDS_MAX = 60
"""A test that waits longer for an answer has failed."""


class Peer:
    """One connection; ``ask`` and ``answer`` apart, for peers that do not wait."""

    def __init__(self, bootstrap: str, *, receive_bytes: int | None = None) -> None:
        """``receive_bytes`` bounds what the system takes for a peer that does not read."""
        host, port = bootstrap.rsplit(":", 1)
        self.socket = socket.socket()
        self.socket.settimeout(SECONDS_MAX)
        if receive_bytes is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.connect((host, int(port)))
        self._correlation_id = 0

    def __enter__(self) -> "Peer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.socket.close()

    def ask(self, request: Request, version: int) -> int:
        self._correlation_id += 1
        self.socket.sendall(framed(request, version, self._correlation_id))
        return self._correlation_id

    def answer(self, key: ApiKey, version: int) -> tuple[int, Response]:
        header, response = decode_response(key, version, self.frame())
        return header.correlation_id, response

    def frame(self) -> bytes:
        (size_bytes,) = struct.unpack(">i", self._exactly(4))
        return self._exactly(size_bytes)

    def _exactly(self, size_bytes: int) -> bytes:
        data = bytearray()
        while len(data) < size_bytes:
            piece = self.socket.recv(min(size_bytes - len(data), 1 << 20))
            if not piece:
                raise EOFError(f"the connection ended after {len(data)} of {size_bytes} bytes")
            data += piece
        return bytes(data)

    def is_served(self) -> bool:
        """Whether a request is answered."""
        self.ask(ApiVersionsRequest(), 0)
        return len(self.frame()) > 0

    def is_closed(self) -> bool:
        """Waits for the end of the connection, whatever comes before it."""
        try:
            self.read_bytes_to_the_end()
        except TimeoutError:
            return False
        return True

    def read_bytes_to_the_end(self) -> int:
        """How much comes until the connection ends, well or badly."""
        size_bytes = 0
        try:
            while data := self.socket.recv(1 << 20):
                size_bytes += len(data)
        except ConnectionError:
            pass
        return size_bytes


def framed(request: Request, version: int, correlation_id: int) -> bytes:
    frame = encode_request(request, version, correlation_id, "peer")
    return struct.pack(">i", len(frame)) + frame


def create_topic(bootstrap: str, topic: str) -> None:
    """By asking for its metadata, until it has a leader."""
    with Peer(bootstrap) as peer:
        for _ in range(100):
            peer.ask(MetadataRequest(topics=[MetadataRequestTopic(name=topic)]), 1)
            _, response = peer.answer(ApiKey.METADATA, 1)
            if not response.topics[0].error_code:  # type: ignore[attr-defined]
                return
    raise AssertionError(f"{topic} was not created")


def produce(topic: str, value: bytes, *, count: int = 1, acks: int = 1) -> ProduceRequest:
    batch = build_batch([Record(number, 0, None, value) for number in range(count)])
    return ProduceRequest(
        acks=acks,
        timeout_ms=30_000,
        topic_data=[
            TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=batch)])
        ],
    )


def commit(group_id: str, topic: str, offset: int) -> OffsetCommitRequest:
    """Of somebody who is in no group."""
    return OffsetCommitRequest(
        group_id=group_id,
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=0, committed_offset=offset, committed_metadata=""
                    )
                ],
            )
        ],
    )


PRODUCE_VERSION = 7


def fetch(topic: str, *, max_wait_ms: int = 0, min_bytes: int = 1, offset: int = 0) -> FetchRequest:
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=1 << 30,
        topics=[
            FetchTopic(
                topic=topic,
                partitions=[FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 30)],
            )
        ],
    )


FETCH_VERSION = 6
