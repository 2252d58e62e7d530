"""How fast the log writes, reads, commits, opens and recovers, on this machine's disk.

Run ``python bench/log.py [DIRECTORY]``; the directory (default: the system's temporary one) decides which
disk is measured. Every figure stands beside what the operating system does without us, in the same run:
the ratio carries over to other machines, the figures do not.
"""

import asyncio
import math
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from uuid import UUID, uuid4

import uvloop
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from trivium.log.directory import LogDirectory
from trivium.log.faults import LogError
from trivium.log.files import RealFiles
from trivium.log.names import CLEAN_SHUTDOWN, RECOVERY_POINT_CHECKPOINT
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.records.batch import build_batch
from trivium.records.record import Record
from trivium.server.committer import Committer

NOW = 1_750_000_000_000
WRITERS = 16
IN_FLIGHT = 5
"""Requests that a writer sends before it waits: the default of Java's producers and the most that any with
idempotence has. librdkafka without it sends on and on.
"""


def main() -> None:
    root = tempfile.mkdtemp(prefix="trivium-bench-", dir=sys.argv[1] if len(sys.argv) > 1 else None)
    table = Table("what", "measured", "the system alone", "ratio", "level", title="the log")
    measures: list[Callable[[str], tuple[str, ...]]] = [
        append_rate,
        read_rate,
        commit_rate,
        commit_against_disk,
        open_time,
        recovery_time,
    ]
    try:
        with Progress(transient=True) as progress:
            task = progress.add_task("measuring", total=len(measures))
            for measure in measures:
                directory = os.path.join(root, measure.__name__)
                table.add_row(*measure(directory))
                shutil.rmtree(directory, ignore_errors=True)
                progress.advance(task)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    Console(highlight=False).print(table)


def batch_of(size_bytes: int) -> bytes:
    """One batch of about that size, with values of 100 bytes."""
    count = max(1, size_bytes // 110)
    value = os.urandom(100) if size_bytes > 200 else os.urandom(max(1, size_bytes - 75))
    return build_batch([Record(number, NOW, None, value) for number in range(count)])


def open_directory(path: str, settings: LogSettings | None = None) -> LogDirectory:
    return LogDirectory.open(
        RealFiles(),
        path,
        node_id=1,
        cluster_id="bench",
        new_id=uuid4,
        settings_for=lambda _topic: settings or LogSettings(),
        now_ms=NOW,
    )


def new_log(path: str, settings: LogSettings | None = None) -> tuple[LogDirectory, PartitionLog]:
    directory = open_directory(path, settings)
    return directory, directory.create("bench", 0, UUID(int=1), settings or LogSettings(), NOW)


def fill(log: PartitionLog, batch: bytes, count: int) -> float:
    """Append the batch so many times; returns the seconds it took."""
    start = time.perf_counter()
    for _ in range(count):
        log.append(bytearray(batch), leader_epoch=0, now_ms=NOW)
        log.high_watermark = log.log_end_offset
    return time.perf_counter() - start


def append_rate(path: str) -> tuple[str, ...]:
    """In rounds that the page cache takes without making the writer wait for the disk."""
    batch, count = batch_of(16 << 10), 4_000
    _directory, log = new_log(path)
    seconds = system = math.inf
    with open(f"{path}/plain", "wb", buffering=0) as plain:
        for _ in range(5):
            seconds = min(seconds, fill(log, batch, count))
            log.sync()
            start = time.perf_counter()
            for _ in range(count):
                plain.write(batch)
            system = min(system, time.perf_counter() - start)
            os.fdatasync(plain.fileno())
    ours, theirs = len(batch) * count / seconds / 1e6, len(batch) * count / system / 1e6
    return (
        "append of 16 KB batches, not synced",
        f"{ours:,.0f} MB/s",
        f"{theirs:,.0f} MB/s",
        f"{ours / theirs:.2f}",
        ">= 500",
    )


def read_rate(path: str) -> tuple[str, ...]:
    _directory, log = new_log(path)
    fill(log, batch_of(16 << 10), 30_000)
    size_bytes = sum(segment.size_bytes for segment in log.segments)

    def read_all() -> float:
        start, offset = time.perf_counter(), 0
        while offset < log.high_watermark:
            offset = log.read(offset, 1 << 20).offset_next
        return time.perf_counter() - start

    seconds = min(read_all() for _ in range(3))
    start = time.perf_counter()
    for segment in log.segments:
        for position in range(0, segment.size_bytes, 1 << 20):
            segment.file.read(1 << 20, position)
    system = time.perf_counter() - start
    ours, theirs = size_bytes / seconds / 1e6, size_bytes / system / 1e6
    return (
        "sequential read, checked, 1 MB at a time",
        f"{ours:,.0f} MB/s",
        f"{theirs:,.0f} MB/s",
        f"{ours / theirs:.2f}",
        ">= 1,000",
    )


def commit_rate(path: str) -> tuple[str, ...]:
    """16 writers, five requests in flight each: acks after the sync against acks at once."""
    batch, count = batch_of(1 << 10), 20_000
    directory, log = new_log(path)
    unsynced, synced = 0.0, 0.0
    for _ in range(3):
        unsynced = max(unsynced, count / _produce(directory, log, batch, count, durable=False))
        synced = max(synced, count / _produce(directory, log, batch, count, durable=True))
    return (
        "group commit, 16 writers of 1 KB",
        f"{synced:,.0f} /s",
        f"{unsynced:,.0f} /s",
        f"{synced / unsynced:.2f}",
        "through a broker: bench.broker",
    )


def commit_against_disk(path: str) -> tuple[str, ...]:
    """The same writers against bare syncs. While one half of what is in flight is being synced the other half
    comes in, so no broker can do more than that half with every sync, however little an append costs.
    """
    batch, count = batch_of(1 << 10), 20_000
    directory, log = new_log(path)
    half = WRITERS * IN_FLIGHT // 2
    synced, sync_seconds = 0.0, math.inf
    with open(f"{path}/plain", "wb", buffering=0) as plain:
        for _ in range(3):
            synced = max(synced, count / _produce(directory, log, batch, count, durable=True))
            start = time.perf_counter()
            for _ in range(count // half):
                plain.write(batch * half)
                os.fdatasync(plain.fileno())
            sync_seconds = min(sync_seconds, (time.perf_counter() - start) / (count // half))
    ceiling = half / sync_seconds
    return (
        f"the same, against bare syncs of {half} KB",
        f"{synced:,.0f} /s",
        f"{ceiling:,.0f} /s",
        f"{synced / ceiling:.2f}",
        "",
    )


def _produce(directory: LogDirectory, log: PartitionLog, batch: bytes, count: int, *, durable: bool) -> float:
    """All writers on one loop with the broker's own committer; each goes on when its ack arrives."""
    writing = _Writing(directory, log, batch, count)
    return uvloop.run(writing.run(durable=durable))


class _Writing:
    """Writers with nothing around them: in one turn of the loop each sends what it may."""

    def __init__(self, directory: LogDirectory, log: PartitionLog, batch: bytes, count: int) -> None:
        self._directory = directory
        self._log = log
        self._batch = batch
        self._unsent = self._unacked = count
        self._in_flight = 0
        self._turn_is_due = False

    async def run(self, *, durable: bool) -> float:
        self._loop = asyncio.get_running_loop()
        self._committer = Committer(self._loop, self._directory.commit, "bench") if durable else None
        self._done = self._loop.create_future()
        start = time.perf_counter()
        self._turn()
        await self._done
        seconds = time.perf_counter() - start
        if self._committer is not None:
            await self._committer.drain()
            self._committer.close()
        return seconds

    def _turn(self) -> None:
        self._turn_is_due = False
        for _ in range(min(WRITERS, WRITERS * IN_FLIGHT - self._in_flight, self._unsent)):
            self._log.append(bytearray(self._batch), leader_epoch=0, now_ms=NOW)
            self._unsent -= 1
            self._in_flight += 1
            if self._committer is not None:
                self._committer.wait_for(self._log, self._acknowledge)
            else:
                self._acknowledge(None)
        if self._in_flight < WRITERS * IN_FLIGHT and self._unsent:
            self._come_again()

    def _come_again(self) -> None:
        if not self._turn_is_due:
            self._turn_is_due = True
            self._loop.call_soon(self._turn)

    def _acknowledge(self, fault: LogError | None) -> None:
        assert fault is None
        self._in_flight -= 1
        self._unacked -= 1
        if not self._unacked:
            self._done.set_result(None)
        elif self._unsent:
            self._come_again()


def open_time(path: str) -> tuple[str, ...]:
    directory = open_directory(path)
    batch = batch_of(1 << 10)
    for number in range(1_000):
        fill(directory.create("bench", number, UUID(int=1), LogSettings(), NOW), batch, 8)
    directory.close()
    start = time.perf_counter()
    opened = open_directory(path)
    seconds = time.perf_counter() - start
    assert len(opened.logs) == 1_000
    assert opened.opening.clean
    return "opening 1,000 partitions after a clean stop", f"{seconds:.2f} s", "", "", "<= 2"


def recovery_time(path: str) -> tuple[str, ...]:
    directory, log = new_log(path)
    batch = batch_of(16 << 10)
    fill(log, batch, (1 << 30) // len(batch) + 1)
    directory.close()
    os.unlink(f"{path}/{CLEAN_SHUTDOWN}")
    os.unlink(f"{path}/{RECOVERY_POINT_CHECKPOINT}")
    start = time.perf_counter()
    opened = open_directory(path)
    seconds = time.perf_counter() - start
    scanned = sum(recovery.scanned_bytes for recovery in opened.opening.recoveries)
    assert scanned >= 1 << 30
    return (
        "recovery of 1 GB after a crash",
        f"{seconds:.2f} s",
        f"{scanned / seconds / 1e6:,.0f} MB/s",
        "",
        "<= 5",
    )


if __name__ == "__main__":
    main()
