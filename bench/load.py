"""A client that costs next to nothing, so that what is measured is the broker.

Frames are made beforehand, answers counted and not read. The same bytes go to every broker.
"""

import os
import selectors
import socket
import struct
import time
from types import TracebackType

from trivium.messages.api.create_topics import CreatableTopic, CreateTopicsRequest
from trivium.messages.api.fetch import FetchPartition, FetchRequest, FetchTopic
from trivium.messages.api.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from trivium.messages.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from trivium.messages.frames import decode_response, encode_request
from trivium.messages.schema import Request
from trivium.records.batch import build_batch
from trivium.records.record import Record

_LENGTH = struct.Struct(">i")
PRODUCE_VERSION = 9
FETCH_VERSION = 11
METADATA_VERSION = 9
CREATE_TOPICS_VERSION = 5
RECEIVE_BYTES = 1 << 20


class Client:
    """One blocking connection."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray(RECEIVE_BYTES)

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.socket.close()

    def ask(self, frame: bytes) -> bytes:
        self.socket.sendall(frame)
        return self.read_answer()

    def read_answer(self) -> bytes:
        length = _LENGTH.unpack(self._exactly(4))[0]
        return self._exactly(length)

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise ConnectionError("the broker closed the connection")
            data += piece
        return bytes(data)

    def skip_answer(self) -> int:
        """Receive an answer without keeping it; its size."""
        left = size = _LENGTH.unpack(self._exactly(4))[0]
        while left:
            left -= self.socket.recv_into(self._buffer, min(left, RECEIVE_BYTES))
        return int(size)

    def metadata(self, topics: list[str]) -> MetadataResponse:
        request = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in topics])
        _, answer = decode_response(3, METADATA_VERSION, self.ask(framed(request, METADATA_VERSION)))
        assert isinstance(answer, MetadataResponse)
        return answer

    def create_topic(self, name: str) -> None:
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[])
        self.ask(framed(CreateTopicsRequest(topics=[topic]), CREATE_TOPICS_VERSION))
        while self.metadata([name]).topics[0].error_code:
            time.sleep(0.01)


def framed(request: Request, version: int) -> bytes:
    frame = encode_request(request, version, 1, "bench")
    return _LENGTH.pack(len(frame)) + frame


def produce_frame(topic: str, records: int, value_bytes: int, acks: int) -> bytes:
    """A produce of so many records in one batch. The values do not compress."""
    now_ms = time.time_ns() // 1_000_000
    values = os.urandom(value_bytes + records)
    batch = build_batch(
        [Record(number, now_ms, None, values[number : number + value_bytes]) for number in range(records)]
    )
    part = PartitionProduceData(index=0, records=batch)
    request = ProduceRequest(
        acks=acks, timeout_ms=60_000, topic_data=[TopicProduceData(name=topic, partition_data=[part])]
    )
    return framed(request, PRODUCE_VERSION)


def fetch_frame(topic: str, offset: int, max_bytes: int) -> bytes:
    part = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=max_bytes)
    request = FetchRequest(
        max_wait_ms=500, min_bytes=1, max_bytes=64 << 20, topics=[FetchTopic(topic=topic, partitions=[part])]
    )
    return framed(request, FETCH_VERSION)


def pipelined(port: int, frame: bytes, requests: int, *, connections: int, in_flight: int) -> float:
    """Send the frame so often, on so many connections with so many unanswered on each. Seconds it took."""
    with selectors.DefaultSelector() as selector:
        clients = [Client(port) for _ in range(connections)]
        answer_bytes = len(clients[0].ask(frame)) + _LENGTH.size
        for client in clients:
            selector.register(client.socket, selectors.EVENT_READ, client)
        received = dict.fromkeys(clients, 0)
        buffer = bytearray(RECEIVE_BYTES)
        sent = done = 0
        start = time.perf_counter()
        for client in clients:
            count = min(in_flight, requests - sent)
            client.socket.sendall(frame * count)
            sent += count
        while done < requests:
            for key, _ in selector.select():
                client = key.data
                got = client.socket.recv_into(buffer)
                if not got:
                    raise ConnectionError("the broker closed the connection")
                answers, received[client] = divmod(received[client] + got, answer_bytes)
                done += answers
                again = min(answers, requests - sent)
                if again:
                    client.socket.sendall(frame * again)
                    sent += again
        seconds = time.perf_counter() - start
        for client in clients:
            client.socket.close()
    return seconds
