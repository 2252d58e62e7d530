"""RustLog's door: what a request costs the broker, and how many a second one connection gets.

Run ``python -m bench.rustlog``. Produce and fetch of 100 records of 200 bytes in each dialect. "Processor" is
the thread's own time from bytes in to bytes out without a network, the best of many short rounds, on a log in
memory. "One connection" is ``trivium serve`` and a client that sends its next request when it has the
answer; with the page cache behind it, so that the protocol is measured and not the disk.
"""

import asyncio
import os
import tempfile
import time
from pathlib import Path

from bench.load import Client
from bench.session import SCRATCH, best_us
from rich.console import Console
from rich.table import Table
from tests.server.serving import Served

from trivium.protocols.rustlog import binary_dialect, json_dialect, msgpack_dialect
from trivium.protocols.rustlog.msgpack import pack
from trivium.protocols.rustlog.session import RustLogSession
from trivium.server.node import Node
from trivium.testing.broker_settings import configuration
from trivium.testing.memory_files import MemoryFiles
from trivium.wire.builder import Builder
from trivium.wire.framing import RUSTLOG_LENGTH, frame

RECORDS = [os.urandom(200) for _ in range(100)]
SECONDS = 2.0
LEVEL_PER_SECOND = 2_000
"""In JSON: what the plan asks for."""

CREATE_TOPIC = b'{"CreateTopic":{"topic":"bench","partitions":1}}'


def main() -> None:
    table = Table(
        "request", "processor, us", "one connection, 1/s", "level, 1/s", title="100 records of 200 B"
    )
    with tempfile.TemporaryDirectory(prefix="trivium-bench-") as directory:
        processor_us = asyncio.run(in_process())
        per_second = over_a_connection(Path(directory))
    for name in requests():
        level = f">= {LEVEL_PER_SECOND}" if name.endswith(json_dialect.name) else ""
        table.add_row(name, f"{processor_us[name]:.0f}", f"{per_second[name]:.0f}", level)
    Console(highlight=False).print(table)


def requests() -> dict[str, bytes]:
    """Frames by name. Produce comes before fetch, which needs something to read."""
    bodies = {
        f"produce, {json_dialect.name}": _as_json("Produce", records=[list(record) for record in RECORDS]),
        f"fetch, {json_dialect.name}": _as_json("Fetch", offset=0, max_bytes=20_000),
        f"produce, {msgpack_dialect.name}": pack({"Produce": {**_PLACE, "records": RECORDS}}),
        f"fetch, {msgpack_dialect.name}": pack({"Fetch": {**_PLACE, "offset": 0, "max_bytes": 20_000}}),
        f"produce, {binary_dialect.name}": _binary_produce(),
        f"fetch, {binary_dialect.name}": Builder()
        .raw(b"\x02\0\0\0\5bench")
        .uint32(0)
        .int64(0)
        .uint32(20_000)
        .build(),
    }
    return {name: frame(RUSTLOG_LENGTH, body) for name, body in bodies.items()}


_PLACE = {"topic": "bench", "partition": 0}


def _as_json(kind: str, **fields: object) -> bytes:
    import orjson

    return orjson.dumps({kind: {**_PLACE, **fields}})


def _binary_produce() -> bytes:
    builder = Builder().raw(b"\x01\0\5bench").uint32(0).uint32(len(RECORDS))
    for record in RECORDS:
        builder.uint32(len(record)).raw(record)
    return builder.build()


async def in_process() -> dict[str, float]:
    node = Node(configuration((), {}), MemoryFiles())
    await node.start()
    try:
        session = RustLogSession(node.speakers.rustlog, "127.0.0.1", lambda: None)
        ask(session, frame(RUSTLOG_LENGTH, CREATE_TOPIC))
        while not session.is_idle:
            await asyncio.sleep(0)
        session.data_to_send()
        measured = {}
        for name, request in requests().items():
            measured[name] = best_us(lambda request=request: ask(session, request))  # type: ignore[misc]
        return measured
    finally:
        await node.stop()


def ask(session: RustLogSession, request: bytes) -> None:
    SCRATCH[: len(request)] = request
    session.received(len(request), SCRATCH)
    session.data_to_send()


def over_a_connection(directory: Path) -> dict[str, float]:
    flags = ("--rustlog", "127.0.0.1:0", "--durability", "page-cache")
    measured = {}
    with (
        Served(directory, *flags) as served,
        Client(int(served.ready["rustlog"].rpartition(":")[2])) as client,
    ):
        client.ask(frame(RUSTLOG_LENGTH, CREATE_TOPIC))
        for name, request in requests().items():
            assert b"Error" not in client.ask(request)
            asked, begun = 0, time.perf_counter()
            while time.perf_counter() - begun < SECONDS:
                client.ask(request)
                asked += 1
            measured[name] = asked / (time.perf_counter() - begun)
        served.stop()
    return measured


if __name__ == "__main__":
    main()
