"""The tour: what Trivium does today, on your machine, in half a minute. Run it by ``make demo``.

A writer process appends to a log and says what is durable; it is killed in the middle, and a torn write is
put behind what it left. Then ``trivium inspect`` looks without touching, recovery opens the log, and what
was acknowledged is counted. At last the same tools look into a directory that Apache Kafka wrote and was
killed on.
"""

import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from uuid import uuid4

from rich.console import Console

from trivium.log.directory import LogDirectory
from trivium.log.files import RealFiles
from trivium.log.settings import LogSettings
from trivium.records.batch import build_batch, iter_records
from trivium.records.compression import Compression
from trivium.records.record import Record

KAFKA_DIRECTORY = Path(__file__).parent.parent / "tests/golden/kafka-directories/killed.tar.xz"
SETTINGS = LogSettings(segment_bytes=64 << 10)
KILL_AFTER_RECORDS = 3_000

console = Console(highlight=False)


def open_directory(path: str) -> LogDirectory:
    return LogDirectory.open(
        RealFiles(),
        path,
        node_id=1,
        cluster_id="tour",
        new_id=uuid4,
        settings_for=lambda _topic: SETTINGS,
        now_ms=int(time.time() * 1000),
    )


def write_forever(path: str) -> None:
    """The writer: append ten records, sync, say so on standard output, again and again."""
    directory = open_directory(path)
    log = directory.create("orders", 0, uuid4(), SETTINGS, int(time.time() * 1000))
    while True:
        now_ms, first = int(time.time() * 1000), log.log_end_offset
        records = [
            Record(
                0,
                now_ms,
                b"customer-%d" % (number % 7),
                b'{"order": %d, "amount": %d}' % (number, number % 97),
            )
            for number in range(first, first + 10)
        ]
        log.append(
            bytearray(build_batch(records, compression=Compression.LZ4)), leader_epoch=0, now_ms=now_ms
        )
        log.sync()
        sys.stdout.write(f"{log.log_end_offset}\n")
        sys.stdout.flush()


def step(title: str) -> None:
    console.rule(f"[bold]{title}", align="left")


def trivium(*arguments: str) -> None:
    console.print(f"$ trivium {' '.join(arguments)}", style="bold cyan")
    sys.stdout.flush()
    subprocess.run([sys.executable, "-m", "trivium", *arguments], check=True)


def kill_a_writer(path: str) -> int:
    """Start the writer, kill -9 it, and return how many records it had called durable."""
    writer = subprocess.Popen([sys.executable, __file__, "--write", path], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    acknowledged = 0
    for line in writer.stdout:
        acknowledged = int(line)
        if acknowledged >= KILL_AFTER_RECORDS:
            os.kill(writer.pid, signal.SIGKILL)
            break
    acknowledged = max([acknowledged, *map(int, writer.stdout)])
    writer.wait()
    return acknowledged


def tear_the_tail(path: str) -> None:
    """Half a batch at the end: what a power cut leaves of a write."""
    segment = max(Path(path, "orders-0").glob("*.log"))
    torn = build_batch([Record(0, 0, None, b"never acknowledged" * 9)])
    with segment.open("ab") as file:
        file.write(torn[: len(torn) // 2])


def recover(path: str, acknowledged: int) -> None:
    started = time.perf_counter()
    directory = open_directory(path)
    seconds = time.perf_counter() - started
    log = directory.logs["orders", 0]
    for recovery in directory.opening.recoveries:
        for note in recovery.notes:
            console.print(f"recovery: {recovery.name}: {note}")
    found = sum(1 for each in log.batches(0) for _record in iter_records(each.data))
    console.print(
        f"opened in {seconds * 1000:.0f} ms; {acknowledged:,} records were acknowledged, {found:,} are there"
    )
    if found < acknowledged:
        raise SystemExit("records were lost: this must never happen, please report it")
    directory.close()


def main() -> None:
    if sys.argv[1:2] == ["--write"]:
        write_forever(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="trivium-tour-") as root:
        ours, kafkas = f"{root}/ours", f"{root}/kafka"
        step("1. A writer appends, syncs, acknowledges. We kill it and tear its tail")
        acknowledged = kill_a_writer(ours)
        tear_the_tail(ours)
        console.print(f"the writer had acknowledged {acknowledged:,} records")
        step("2. What is in the directory? Looking changes nothing")
        trivium("inspect", ours)
        step("3. Recovery")
        recover(ours, acknowledged)
        trivium(
            "inspect", ours, "--partition", "orders-0", "--limit", "3", "--records", "3", "--from", "2990"
        )
        step("4. The same on a directory that Apache Kafka 4.3 wrote, and was killed on")
        with tarfile.open(KAFKA_DIRECTORY) as archive:
            archive.extractall(kafkas, filter="data")
        data = str(next(Path(kafkas).rglob("meta.properties")).parent)
        trivium("inspect", data)
        trivium("inspect", data, "--partition", "txn-0", "--limit", "6", "--records", "4")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("the tour was stopped; what it wrote is gone again") from None
