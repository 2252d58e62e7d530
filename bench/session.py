"""What a request costs the broker besides the network: processor time from bytes in to bytes out.

Run ``python bench/session.py``. One Kafka session is fed whole requests and asked for its answers: produce
of 1 KB and of 1 MB, fetch of 1 MB, and a fetch session over 1,000 partitions that has nothing new. "Memory"
keeps nothing and shows what the protocol and the core cost; "log" is the real log on this machine's disk, in
the page cache. Time is the thread's own, the best of many short rounds: other work only ever makes it slower.
"""

import asyncio
import os
import struct
import tempfile
import time
from collections.abc import Callable
from itertools import count

from rich.console import Console
from rich.table import Table

from trivium.core.caller import Caller
from trivium.core.commands.topics import CreateTopics, NewTopic
from trivium.core.ports import Appended, Piece
from trivium.messages.api import ApiKey
from trivium.messages.api.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from trivium.messages.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from trivium.messages.frames import decode_response, encode_request
from trivium.messages.schema import Request
from trivium.protocols.kafka.api import Endpoint
from trivium.protocols.kafka.session import KafkaSession
from trivium.records.batch import BatchHeader, build_batch
from trivium.records.record import Record
from trivium.server.configuration.loading import load
from trivium.server.node import Node
from trivium.wire.buffer import Buffer

ROUNDS = 400
ROUND_SECONDS = 0.001
NOW_MS = time.time_ns() // 1_000_000
PRODUCE_VERSION = 11
FETCH_VERSION = 12
PARTITIONS = 1_000
RECORD_BYTES = 1_000
Call = Callable[[], object]
LEVELS_US = {"produce 1 KB, acks=1": 16.0}
"""What the design asks for, without the network."""


def main() -> None:
    table = Table("request", "memory", "log", "level", title="microseconds of processor time a request")
    with tempfile.TemporaryDirectory(prefix="trivium-bench-") as directory:
        for name, memory_us, log_us in asyncio.run(measure(directory)):
            level = LEVELS_US.get(name)
            table.add_row(name, memory_us, log_us, "" if level is None else f"<= {level:.0f}")
    Console(highlight=False).print(table)


async def measure(directory: str) -> list[tuple[str, str, str]]:
    flags = {"data": directory, "listen.kafka": "127.0.0.1:0"}
    flags |= {f"listen.{protocol}": "off" for protocol in ("iggy", "rustlog", "console")}
    node = Node(load(None, {}, flags))
    await node.start()
    cases: dict[str, Callable[[KafkaSession], Call]] = {
        "produce 1 KB, acks=1": lambda session: repeat(session, produce(1)),
        "produce 1 MB, acks=1": lambda session: repeat(session, produce(950)),
        "fetch 1 MB": lambda session: repeat(session, fetch()),
        "fetch session of 1,000 partitions, nothing new": wide_fetches,
    }
    try:
        await create_topics(node)
        return [
            (name, f"{in_memory(node, case):.1f}", f"{on_log(node, case):.1f}")
            for name, case in cases.items()
        ]
    finally:
        await node.stop()


async def create_topics(node: Node) -> None:
    made = asyncio.get_running_loop().create_future()
    topics = [NewTopic("bench", 1, 1), NewTopic("wide", PARTITIONS, 1)]
    node.broker.execute(CreateTopics(topics), Caller(), made.set_result)
    await made


class Sink:
    """A log that keeps nothing and has one answer to everything."""

    log_start_offset = 0

    def __init__(self, piece: Piece) -> None:
        self._piece = piece
        self.log_end_offset = self.high_watermark = self.last_stable_offset = piece.offset_next

    def append(
        self, data: bytearray | memoryview, batches: list[tuple[int, BatchHeader]], leader_epoch: int
    ) -> Appended:
        return Appended(0, 0)

    def read(self, offset: int, max_bytes: int, *, committed: bool) -> Piece:
        return self._piece

    def summon(self, offset: int, max_bytes: int, near: Callable[[], None]) -> bool:
        return False


def batch(records_count: int) -> bytes:
    value = os.urandom(RECORD_BYTES)
    return build_batch([Record(number, NOW_MS, None, value) for number in range(records_count)])


def produce(records_count: int) -> bytes:
    part = PartitionProduceData(index=0, records=batch(records_count))
    topic = TopicProduceData(name="bench", partition_data=[part])
    return framed(ProduceRequest(acks=1, timeout_ms=30_000, topic_data=[topic]), PRODUCE_VERSION)


def fetch() -> bytes:
    part = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topic = FetchTopic(topic="bench", partitions=[part])
    return framed(FetchRequest(max_wait_ms=0, min_bytes=1, topics=[topic]), FETCH_VERSION)


def wide_fetch(session_id: int, epoch: int) -> bytes:
    parts = [
        FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1 << 20)
        for index in range(0 if session_id else PARTITIONS)
    ]
    topics = [FetchTopic(topic="wide", partitions=parts)] if parts else []
    return framed(
        FetchRequest(max_wait_ms=0, min_bytes=1, session_id=session_id, session_epoch=epoch, topics=topics),
        FETCH_VERSION,
    )


def framed(request: Request, version: int) -> bytes:
    frame = encode_request(request, version, 1, "bench")
    return struct.pack(">i", len(frame)) + frame


def in_memory(node: Node, case: Callable[[KafkaSession], Call]) -> float:
    live = node.cluster.partition("bench", 0)
    real = live.log
    data = memoryview(batch(950))
    sink = Sink(Piece([data], 950, (), len(data)))
    live.log = sink  # type: ignore[assignment]
    try:
        return on_log(node, case)
    finally:
        live.log = real


def on_log(node: Node, case: Callable[[KafkaSession], Call]) -> float:
    return best_us(
        case(KafkaSession(node.speakers.kafka, "127.0.0.1", Endpoint("127.0.0.1", 9092), lambda: None))
    )


def repeat(session: KafkaSession, request: bytes) -> Call:
    return lambda: ask(session, request)


def wide_fetches(session: KafkaSession) -> Call:
    """Fetches of one session after the other; what they say is looked at, because errors are quick too."""
    answer = b"".join(ask(session, wide_fetch(0, 0)))
    _, opened = decode_response(ApiKey.FETCH, FETCH_VERSION, answer[4:])
    assert isinstance(opened, FetchResponse)
    assert opened.session_id
    epochs = count(1)
    return lambda: ask(session, wide_fetch(opened.session_id, next(epochs)))


def ask(session: KafkaSession, request: bytes) -> list[Buffer]:
    """Feed a request as a connection does: what does not fit into one read goes to the frame's own memory."""
    if len(request) <= len(SCRATCH):
        SCRATCH[: len(request)] = request
        session.received(len(request), SCRATCH)
        return session.data_to_send()
    at = 0
    while at < len(request):
        space = session.space(SCRATCH)
        size_bytes = min(len(space), len(request) - at)
        space[:size_bytes] = request[at : at + size_bytes]
        session.received(size_bytes, SCRATCH)
        at += size_bytes
    answer = session.data_to_send()
    assert answer
    return answer


SCRATCH = memoryview(bytearray(256 << 10))


def best_us(call: Call) -> float:
    """The best round. The clock is read once for several calls: it costs as much as a part of one."""
    call()
    begun = time.thread_time_ns()
    call()
    calls = max(1, int(ROUND_SECONDS * 1e9 / (time.thread_time_ns() - begun)))
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.thread_time_ns()
        for _ in range(calls):
            call()
        best = min(best, (time.thread_time_ns() - begun) / calls)
    return best / 1_000


if __name__ == "__main__":
    main()
