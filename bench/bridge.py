"""How fast Iggy's messages become batches and batches become messages, on one core.

Run ``python bench/bridge.py``. Messages have 100 bytes of payload and come 1,000 at a time, as Iggy's own
benchmark sends them. Going in ends with batches ready to be produced, going out with messages ready to be
sent, checksums included. The second table reads a topic that Kafka clients wrote from the log and sends it
through a socket, once as it lies there and once as messages. Time is the thread's own processor time, in
the best of several rounds: other work on the machine only ever makes a round slower.
"""

import os
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Callable
from uuid import uuid4

from rich.console import Console
from rich.table import Table

from trivium.log.directory import LogDirectory
from trivium.log.files import RealFiles
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.records import iggy, kernel
from trivium.records.batch import build_batch, check_batches
from trivium.records.compression import Compression
from trivium.records.message import LONG_HEADER_BYTES
from trivium.records.record import Header, Record

MESSAGES_COUNT = 1_000
NOW_US = 1_750_000_000_123_456
PLACE = iggy.place_of(bytes(16), 0)
READ_BYTES = 1 << 20
ROUNDS = 7
ROUND_SECONDS = 0.2
MILLION = 1e6

Measured = Callable[[], object]


def main() -> None:
    console = Console(highlight=False)
    console.print(_rates())
    console.print(_costs())
    if not kernel.compiled:
        console.print("The kernel is not compiled.")


def _rates() -> Table:
    table = Table(title="through the kernel, million messages a second")
    for heading in ("what", "measured", "level"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    plain = _messages(b"v" * 100)
    headed = _messages(b"v" * 100, _user_header(b"trace", 2, b"0af7651916cd43dd"))
    large = _messages(b"v" * 1_000)
    sent = iggy.batches_from_messages(plain, MESSAGES_COUNT, now_us=NOW_US).batches
    sent_headed = iggy.batches_from_messages(headed, MESSAGES_COUNT, now_us=NOW_US).batches
    for what, measured, level in [
        ("in, 100 B", lambda: _send(plain), "1.5"),
        ("in, 100 B and a user header", lambda: _send(headed), ""),
        ("in, 1,000 B", lambda: _send(large), ""),
        ("out, 100 B sent by Iggy", lambda: _poll(sent), "2.5"),
        ("out, 100 B and a user header", lambda: _poll(sent_headed), ""),
        ("out, 100 B written by Kafka", lambda: _poll(_kafka_batch(100)), ""),
        ("out, 1,000 B written by Kafka", lambda: _poll(_kafka_batch(1_000)), ""),
    ]:
        table.add_row(what, f"{MESSAGES_COUNT / _best_seconds(measured) / MILLION:.2f}", level)
    return table


def _costs() -> Table:
    table = Table(
        title="a Kafka topic read through both doors, nanoseconds of processor time a byte of value"
    )
    for heading in ("values", "as Kafka", "as Iggy", "ratio", "level"):
        table.add_column(heading, justify="left" if heading == "values" else "right")
    for value_bytes, headers, compression in [
        (100, (), Compression.NONE),
        (1_000, (), Compression.NONE),
        (1_000, (("trace", b"0af7651916cd43dd"),), Compression.NONE),
        (1_000, (), Compression.LZ4),
    ]:
        with tempfile.TemporaryDirectory(prefix="trivium-bench-") as path, _Drain() as drain:
            log = _filled_log(path, _kafka_batch(value_bytes, headers, compression))
            bytes_read = value_bytes * _records_in(log)
            kafka = _best_seconds(lambda: drain.send(*_read(log))) / bytes_read * 1e9  # noqa: B023
            bridged = _best_seconds(lambda: drain.send(_poll_all(log))) / bytes_read * 1e9  # noqa: B023
        # Compressed batches go out to Kafka as they lie; nobody can make messages of them unopened.
        level = "4.0" if compression is Compression.NONE else ""
        what = f"{value_bytes:,} B, {len(headers)} headers, {compression.name.lower()}"
        table.add_row(what, f"{kafka:.2f}", f"{bridged:.2f}", f"{bridged / kafka:.1f}", level)
    return table


class _Drain:
    """A socket whose other end reads everything and keeps nothing."""

    def __enter__(self) -> "_Drain":
        self._socket, self._far = socket.socketpair()
        self._thread = threading.Thread(target=self._swallow, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._thread.join()
        self._far.close()

    def send(self, *runs: memoryview | bytearray) -> None:
        for run in runs:
            self._socket.sendall(run)

    def _swallow(self) -> None:
        room = bytearray(1 << 20)
        while self._far.recv_into(room):
            pass


def _filled_log(path: str, batch: bytes) -> PartitionLog:
    directory = LogDirectory.open(
        RealFiles(),
        os.path.join(path, "data"),
        node_id=1,
        cluster_id="bench",
        new_id=uuid4,
        settings_for=lambda _topic: LogSettings(),
        now_ms=NOW_US // 1000,
    )
    log = directory.create("bench", 0, uuid4(), LogSettings(), NOW_US // 1000)
    while log.active.size_bytes < READ_BYTES:
        log.append(bytearray(batch), leader_epoch=0, now_ms=NOW_US // 1000)
    log.advance_high_watermark(log.log_end_offset)
    return log


def _read(log: PartitionLog) -> list[memoryview]:
    return list(log.read(0, READ_BYTES).runs)


def _records_in(log: PartitionLog) -> int:
    return sum(header.records_count for run in _read(log) for _, header in check_batches(run))


def _poll_all(log: PartitionLog) -> bytearray:
    return iggy.messages_from_batches(
        _read(log),
        aborted=(),
        offset_first=0,
        count_max=1 << 31,
        header_bytes=LONG_HEADER_BYTES,
        place=PLACE,
        bytes_max=1 << 30,
    ).data


def _send(data: bytes) -> object:
    return iggy.batches_from_messages(data, MESSAGES_COUNT, now_us=NOW_US)


def _poll(batches: bytes | bytearray) -> object:
    return iggy.messages_from_batches(
        [batches],
        aborted=(),
        offset_first=0,
        count_max=MESSAGES_COUNT,
        header_bytes=LONG_HEADER_BYTES,
        place=PLACE,
    )


def _messages(payload: bytes, user_headers: bytes = b"") -> bytes:
    """What follows the count in a ``SEND_MESSAGES`` of an Iggy 0.8 client."""
    head = struct.pack("<Q16sQQQIIQ", 0, bytes(16), 0, 0, NOW_US, len(user_headers), len(payload), 0)
    message = head + payload + user_headers
    index = b"".join(
        struct.pack("<IIQ", 0, len(message) * number, 0) for number in range(1, MESSAGES_COUNT + 1)
    )
    return index + message * MESSAGES_COUNT


def _user_header(key: bytes, kind: int, value: bytes) -> bytes:
    return struct.pack("<BI", 2, len(key)) + key + struct.pack("<BI", kind, len(value)) + value


_BATCHES: dict[tuple[int, int, Compression], bytes] = {}


def _kafka_batch(
    value_bytes: int, headers: tuple[Header, ...] = (), compression: Compression = Compression.NONE
) -> bytes:
    wanted = value_bytes, len(headers), compression
    if wanted not in _BATCHES:
        record = Record(0, NOW_US // 1000, b"key-0000", os.urandom(value_bytes // 2) * 2, headers)
        _BATCHES[wanted] = build_batch([record] * MESSAGES_COUNT, compression=compression)
    return _BATCHES[wanted]


def _best_seconds(function: Measured) -> float:
    """Seconds for one call, in the best round."""
    calls, elapsed = 1, 0.0
    while elapsed < ROUND_SECONDS / 10:
        calls *= 2
        elapsed = _seconds(function, calls)
    calls = max(int(calls * ROUND_SECONDS / elapsed), 1)
    return min(_seconds(function, calls) for _ in range(ROUNDS)) / calls


def _seconds(function: Measured, calls: int) -> float:
    start = time.thread_time()
    for _ in range(calls):
        function()
    return time.thread_time() - start


if __name__ == "__main__":
    main()
