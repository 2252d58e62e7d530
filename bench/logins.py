"""What bad logins cost everybody else: a producer's latency, alone and beside 500 bad logins a second (S17).

Run ``python -m bench.logins``. One connection writes 1 KB with acks=1, 200 times a second. Beside it in turns
a process with the lowest priority tries wrong passwords at one door (``bench.login_flood``), half of them for
a name that exists, each on a connection of its own, from one address or from many. The level is that the 99th
percentile at most doubles. On two cores the flood takes its share of them, too, and a busy machine adds more:
so what a login takes of the loop's own processor time stands beside, which is what others wait for.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.load import Client, produce_frame
from bench.login_flood import PER_SECOND
from bench.peers import Peer, free_port, process, scratch
from rich.console import Console
from rich.table import Table

ROUNDS = 3
ROUND_SECONDS = 2.0
PRODUCES_PER_SECOND = 200
VALUE_BYTES = 1_024
WARM_UP_SECONDS = 1.0
LEVEL = 2.0


class Flood(NamedTuple):
    title: str
    form: str
    door: str
    addresses: int = 1


FLOODS = (
    Flood("Kafka, PLAIN", "plain", "kafka"),
    Flood("Kafka, PLAIN, 500 addresses", "plain", "kafka", 500),
    Flood("Kafka, SCRAM-SHA-256", "scram", "kafka"),
    Flood("Iggy", "iggy", "iggy"),
    Flood("Iggy, 500 addresses", "iggy", "iggy", 500),
    Flood("RustLog", "rustlog", "rustlog"),
)


class Measured(NamedTuple):
    p50_ms: float
    p99_ms: float
    loop_cpu: float
    """Of one core."""


@contextmanager
def broker(directory: Path) -> Iterator[tuple[Peer, dict[str, int]]]:
    ports = {door: free_port() for door in ("kafka", "iggy", "rustlog")}
    command = [
        *(sys.executable, "-m", "trivium", "serve", "--data", str(directory / "data"), "--console", "off"),
        *(part for door, port in ports.items() for part in (f"--{door}", f"127.0.0.1:{port}")),
        *("--set", "access.anonymous=allow"),
    ]
    with process("trivium", command, ports["kafka"], directory / "log.txt") as peer:
        yield peer, ports


def loop_seconds(peer: Peer) -> float:
    """Processor time of the thread that serves clients, by Linux."""
    return int(Path(f"/proc/{peer.pid}/task/{peer.pid}/schedstat").read_text().split()[0]) / 1e9


def produced(client: Client, frame: bytes, peer: Peer) -> tuple[list[float], float]:
    """Milliseconds of each request of one round, begun on time, and how busy the broker's loop was."""
    taken_ms = []
    before_s, began = loop_seconds(peer), time.perf_counter()
    for number in range(int(ROUND_SECONDS * PRODUCES_PER_SECOND)):
        due = began + number / PRODUCES_PER_SECOND
        time.sleep(max(0.0, due - time.perf_counter()))
        sent = time.perf_counter()
        client.ask(frame)
        taken_ms.append((time.perf_counter() - sent) * 1000)
    return taken_ms, (loop_seconds(peer) - before_s) / (time.perf_counter() - began)


@contextmanager
def flooded(flood: Flood, port: int) -> Iterator[list[int]]:
    """Filled at the end: logins begun, logins answered."""
    counts: list[int] = []
    command = [sys.executable, "-m", "bench.login_flood", flood.form, str(port), str(flood.addresses)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.readline()  # it floods
        time.sleep(WARM_UP_SECONDS)
        yield counts
        out, _ = running.communicate()
        counts += json.loads(out)


def measured(rounds: list[tuple[list[float], float]]) -> Measured:
    """Medians over the rounds: one that the machine disturbed does not count."""
    cuts = [statistics.quantiles(taken, n=100) for taken, _ in rounds]
    return Measured(
        statistics.median(cut[49] for cut in cuts),
        statistics.median(cut[98] for cut in cuts),
        statistics.median(cpu for _, cpu in rounds),
    )


def compare(flood: Flood, client: Client, frame: bytes, peer: Peer, port: int) -> tuple[float, list[str]]:
    """How many times as long the slowest percent takes beside this flood, and the row for that."""
    calm, beside, counts, seconds = [], [], [0, 0], 0.0
    for _ in range(ROUNDS):
        calm.append(produced(client, frame, peer))
        began = time.perf_counter()
        with flooded(flood, port) as counted:
            beside.append(produced(client, frame, peer))
        seconds += time.perf_counter() - began
        counts = [a + b for a, b in zip(counts, counted, strict=True)]
    before, under = measured(calm), measured(beside)
    times, per_second = under.p99_ms / before.p99_ms, counts[0] / seconds
    loop_us = (under.loop_cpu - before.loop_cpu) / max(per_second, 1) * 1e6
    return times, [
        flood.title,
        f"{before.p50_ms:.2f} -> {under.p50_ms:.2f}",
        f"{before.p99_ms:.2f} -> {under.p99_ms:.2f}",
        f"{times:.2f}",
        f"{before.loop_cpu:.0%} -> {under.loop_cpu:.0%}",
        f"{loop_us:.0f}",
        f"{per_second:.0f} of {PER_SECOND}",
        f"{counts[1] / max(counts[0], 1):.0%}",
    ]


def main() -> None:
    console = Console()
    table = Table(
        "bad logins at", "p50 ms", "p99 ms", "times", "loop busy", "µs a login", "logins/s", "answered"
    )
    worst = 0.0
    with scratch() as directory, broker(Path(directory)) as (peer, ports), Client(peer.port) as client:
        client.create_topic("calm")
        frame = produce_frame("calm", 1, VALUE_BYTES, acks=1)
        for flood in FLOODS:
            with console.status(flood.title):
                times, row = compare(flood, client, frame, peer, ports[flood.door])
            worst = max(worst, times)
            table.add_row(*row)
    console.print(table)
    console.print(f"level: {LEVEL:.0f}x, worst {worst:.2f}x, on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
