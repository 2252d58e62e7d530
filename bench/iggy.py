"""Trivium's door for Iggy against a real Iggy 0.8 server: the same clients, in turns.

Run ``python -m bench.iggy [DIRECTORY]``; the directory decides which disk is measured. The server is the
program ``iggy-server`` that ``IGGY_SERVER`` names, or the one in ``.cache/iggy-server-0.8.0/bin``.
Without it Trivium is measured alone, beside figures that such a server has once reached on two cores, marked
with "then"; of the levels only those count that need no server.

Iggy's own Python client sends and polls 1,000 messages at a time. Raw frames show what the broker does when
no client is in its way. "Processor" is what the broker's process has used, in user and system mode.
"""

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench.broker import touch_memory
from bench.iggy_frames import Client, pipelined, poll_frame, send_frame
from bench.load import Client as KafkaClient
from bench.load import fetch_frame, produce_frame
from bench.load import pipelined as kafka_pipelined
from bench.peers import Peer, free_port, iggy_settings, process, scratch
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from tests.interop.iggy.python_sdk import CACHE, PythonSdk
from tests.interop.kafka import Unavailable

ROUNDS = 3
STARTS = 7
"""Of each; and each with a directory of its own, while nothing else runs."""
SYNCED_ROUNDS = 7
"""Disks have their moods."""
BATCH_MESSAGES = 1_000
VOLUME_BYTES = {100: 100_000_000, 1_000: 300_000_000}
"""Of payloads, in one round, by their size."""
IN_FLIGHT = 4
LATENCY_REQUESTS = 2_000
SDK_SECONDS_MAX = 300
KAFKA_BATCH_BYTES = 800_000
KAFKA_BATCHES = 100
KAFKA_READS = 5
"""A process's time is counted in hundredths of a second: one read of them all would be a few."""
BUILT_SERVER = CACHE / "iggy-server-0.8.0" / "bin" / "iggy-server"
STREAM = "bench"
SYNCED = "-synced"

Row = tuple[str, ...]

THEN = {
    "send 100 B": 1.13e6,
    "send 1000 B": 0.55e6,
    "poll 100 B": 1.44e6,
    "poll 1000 B": 0.47e6,
    "send 100 B, synced": 0.29e6,
    "send 1000 B, synced": 0.21e6,
    "raw send 100 B": 4.2e6,
    "raw poll 100 B": 7.0e6,
    "one message, p50 ms": 0.15,
    "start to first login, s": 0.31,
    "memory when idle, MB": 92.0,
}
"""What an Iggy 0.8.0 server has reached on two cores."""


class Bench:
    """The peers, ours first, and the table that fills up."""

    def __init__(self, peers: list[Peer], synced: list[Peer], sdk: PythonSdk | None) -> None:
        self.peers = peers
        self.synced = synced
        self.sdk = sdk
        self.table = Table("what", "Trivium", "Iggy 0.8", "ratio", "level", title="Iggy's door")
        self._topics = 0

    def row(self, what: str, values: list[float], form: str, level: str) -> None:
        texts = [f"{value:{form}}" for value in values]
        reference = values[1] if len(values) > 1 else THEN.get(what)
        if len(values) < 2:
            texts.append("" if reference is None else f"{reference:{form}} then")
        ratio = "" if not reference else f"{values[0] / reference:.2f}"
        self.table.add_row(what, *texts, ratio, level)

    def new_topic(self, peers: list[Peer]) -> str:
        self._topics += 1
        name = f"topic-{self._topics}"
        for peer in peers:
            with Client(peer.port) as client:
                client.create(STREAM, name)
        return name

    def ask_sdk(self, peer: Peer, topic: str, what: str, *words: object) -> float:
        assert self.sdk is not None
        script = Path(__file__).with_name("iggy_sdk.py")
        address = f"127.0.0.1:{peer.port}"
        done = subprocess.run(
            [str(self.sdk.python), str(script), address, STREAM, topic, what, *map(str, words)],
            capture_output=True,
            text=True,
            timeout=SDK_SECONDS_MAX,
            check=True,
        )
        return float(json.loads(done.stdout))


def main() -> None:
    console = Console(highlight=False)
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(scratch()))
        sdk = None
        try:
            sdk = PythonSdk.obtain("0.8.0")
        except Unavailable as reason:
            console.print(f"Iggy's own client is left out: {reason}")
        server = iggy_server()
        if server is None:
            console.print("No iggy-server of release 0.8 is here: its figures are from another run.")
        started_s = starts(directory, server)
        bench = Bench(
            [stack.enter_context(peer) for peer in both(directory, server, synced=False)],
            [stack.enter_context(peer) for peer in both(directory, server, synced=True)],
            sdk,
        )
        bench.row("start to first login, s", started_s, ".2f", "<= 0.5")
        measures = [memory, *(with_sdk() if sdk else []), raw, kafka_topic]
        progress = stack.enter_context(Progress(console=console, transient=True))
        task = progress.add_task("measuring", total=len(measures))
        for measure in measures:
            measure(bench)
            progress.advance(task)
    console.print(bench.table)


# -- the peers ---------------------------------------------------------------------------------------


def iggy_server() -> str | None:
    return os.environ.get("IGGY_SERVER") or shutil.which(BUILT_SERVER)


def both(
    directory: Path, server: str | None, *, synced: bool
) -> Iterator[contextlib.AbstractContextManager[Peer]]:
    yield trivium(directory / f"trivium{SYNCED * synced}", synced=synced)
    if server is not None:
        yield iggy(directory / f"iggy{SYNCED * synced}", server, synced=synced)


def trivium(directory: Path, *, synced: bool) -> contextlib.AbstractContextManager[Peer]:
    directory.mkdir()
    port = free_port()
    command = [
        *(sys.executable, "-m", "trivium", "serve", "--data", str(directory / "data")),
        *("--iggy", f"127.0.0.1:{port}", "--kafka", "127.0.0.1:0"),
        *("--rustlog", "off", "--console", "off", "--ready-file", str(directory / "ready.json")),
        *("--set", f"iggy.durability={'fsync' if synced else 'page-cache'}"),
    ]
    return process("trivium", command, port, directory / "log.txt", greet=_log_in)


def iggy(directory: Path, server: str, *, synced: bool) -> contextlib.AbstractContextManager[Peer]:
    """With its defaults, but for the sync of every send."""
    directory.mkdir()
    port = free_port()
    settings = iggy_settings(port, directory)
    if synced:
        settings["IGGY_SYSTEM_PARTITION_ENFORCE_FSYNC"] = "true"
        settings["IGGY_SYSTEM_PARTITION_MESSAGES_REQUIRED_TO_SAVE"] = "32"
    return process("iggy", [server], port, directory / "log.txt", greet=_log_in, environment=settings)


def _log_in(port: int) -> None:
    with Client(port):
        pass


def _kafka_port(peer: Peer) -> int:
    """Of ours, by its ready file."""
    command = Path(f"/proc/{peer.pid}/cmdline").read_bytes().decode().split("\0")
    ready = json.loads(Path(command[command.index("--ready-file") + 1]).read_text())
    return int(ready["kafka"].rpartition(":")[2])


# -- the measurements --------------------------------------------------------------------------------


def starts(directory: Path, server: str | None) -> list[float]:
    """Medians of the seconds from a process's start to the answer to its first login."""
    found: dict[str, list[float]] = {}
    for number in range(STARTS):
        place = directory / f"start-{number}"
        place.mkdir()
        for starting in both(place, server, synced=False):
            with starting as peer:
                found.setdefault(peer.name, []).append(peer.started_s)
    return [statistics.median(seconds) for seconds in found.values()]


def memory(bench: Bench) -> None:
    bench.row("memory when idle, MB", [peer.memory_mb for peer in bench.peers], ".0f", "")


def with_sdk() -> list[Callable[[Bench], None]]:
    return [
        partial(_sdk_throughput, 100),
        partial(_sdk_throughput, 1_000),
        partial(_sdk_synced, 100),
        partial(_sdk_synced, 1_000),
        _sdk_latency,
    ]


def _sdk_throughput(payload_bytes: int, bench: Bench) -> None:
    batches = VOLUME_BYTES[payload_bytes] // (payload_bytes * BATCH_MESSAGES)
    topics = [bench.new_topic(bench.peers) for _ in range(ROUNDS)]
    for what in ("send", "poll"):
        rates, costs = _in_turns(
            bench.peers,
            lambda peer, round_, what=what: _measured(  # type: ignore[misc]
                peer,
                batches * BATCH_MESSAGES,
                lambda: bench.ask_sdk(peer, topics[round_], what, payload_bytes, batches),
            ),
        )
        bench.row(f"{what} {payload_bytes} B", rates, ",.0f", ">= 0.8")
        bench.row("    processor, us a message", costs, ".2f", "")


def _sdk_synced(payload_bytes: int, bench: Bench) -> None:
    batches = VOLUME_BYTES[payload_bytes] // (3 * payload_bytes * BATCH_MESSAGES)
    topic = bench.new_topic(bench.synced)
    rates, _ = _in_turns(
        bench.synced,
        lambda peer, _round: _measured(
            peer,
            batches * BATCH_MESSAGES,
            lambda: bench.ask_sdk(peer, topic, "send", payload_bytes, batches),
        ),
        SYNCED_ROUNDS,
    )
    bench.row(f"send {payload_bytes} B, synced", rates, ",.0f", "> 1")


def _sdk_latency(bench: Bench) -> None:
    topic = bench.new_topic(bench.peers)
    medians, _ = _in_turns(
        bench.peers, lambda peer, _round: (bench.ask_sdk(peer, topic, "one", 100, LATENCY_REQUESTS), 0.0)
    )
    bench.row("one message, p50 ms", medians, ".2f", "<= 1.5")


def raw(bench: Bench) -> None:
    payload_bytes = 100
    frames_count = VOLUME_BYTES[payload_bytes] // (payload_bytes * BATCH_MESSAGES)
    topics = [bench.new_topic(bench.peers) for _ in range(ROUNDS)]
    messages = frames_count * BATCH_MESSAGES

    def sent(peer: Peer, round_: int) -> tuple[float, float]:
        frames = [send_frame(STREAM, topics[round_], BATCH_MESSAGES, payload_bytes)] * frames_count
        return _measured(peer, messages, lambda: pipelined(peer.port, frames, in_flight=IN_FLIGHT))

    def polled(peer: Peer, round_: int) -> tuple[float, float]:
        frames = [
            poll_frame(STREAM, topics[round_], number * BATCH_MESSAGES, BATCH_MESSAGES)
            for number in range(frames_count)
        ]
        return _measured(peer, messages, lambda: pipelined(peer.port, frames, in_flight=IN_FLIGHT))

    for what, measure, level in (("send", sent, ">= 1.5 M"), ("poll", polled, ">= 2.5 M")):
        rates, costs = _in_turns(bench.peers, measure)
        bench.row(f"raw {what} {payload_bytes} B", rates, ",.0f", level)
        bench.row("    processor, us a message", costs, ".2f", "")


def kafka_topic(bench: Bench) -> None:
    """What Kafka clients wrote, read through both doors of our broker: the ratio is that of the doors."""
    for value_bytes in (100, 1_000):
        kafka_cost, iggy_cost = _costs_of_doors(bench.peers[0], value_bytes)
        bench.table.add_row(
            f"Kafka topic, {value_bytes} B, s/GB",
            f"{iggy_cost:.2f}",
            f"{kafka_cost:.2f} as Kafka",
            f"{iggy_cost / kafka_cost:.1f}",
            "<= 4",
        )


def _costs_of_doors(peer: Peer, value_bytes: int) -> tuple[float, float]:
    """Seconds of processor for a gigabyte of values, as Kafka and as Iggy, a whole batch at a time."""
    port, topic, records = _kafka_port(peer), f"kafka-{value_bytes}", KAFKA_BATCH_BYTES // value_bytes
    produce = produce_frame(topic, records, value_bytes, 1)
    with KafkaClient(port) as client:
        client.create_topic(topic)
    kafka_pipelined(port, produce, KAFKA_BATCHES, connections=1, in_flight=IN_FLIGHT)
    polls = [poll_frame("default", topic, number * records, records) for number in range(KAFKA_BATCHES)]

    def as_kafka(_peer: Peer, _round: int) -> tuple[float, float]:
        begun_s = peer.cpu_s
        with KafkaClient(port) as client:
            for number in range(KAFKA_READS * KAFKA_BATCHES):
                client.socket.sendall(fetch_frame(topic, number % KAFKA_BATCHES * records, 1 << 20))
                client.skip_answer()
        return 0.0, peer.cpu_s - begun_s

    def as_iggy(_peer: Peer, _round: int) -> tuple[float, float]:
        begun_s = peer.cpu_s
        pipelined(peer.port, polls * KAFKA_READS, in_flight=IN_FLIGHT)
        return 0.0, peer.cpu_s - begun_s

    volume_gb = KAFKA_READS * KAFKA_BATCHES * KAFKA_BATCH_BYTES / 1e9
    kafka_s, iggy_s = (_in_turns([peer], measure)[1][0] for measure in (as_kafka, as_iggy))
    return kafka_s / volume_gb, iggy_s / volume_gb


def _measured(peer: Peer, messages: int, measure: Callable[[], float]) -> tuple[float, float]:
    """Messages a second, and microseconds of the broker's processor for each."""
    cpu_s = peer.cpu_s
    seconds = measure()
    return messages / seconds, (peer.cpu_s - cpu_s) / messages * 1e6


def _in_turns(
    peers: list[Peer], measure: Callable[[Peer, int], tuple[float, float]], rounds: int = ROUNDS
) -> tuple[list[float], list[float]]:
    """Medians of the two things that ``measure`` gives in each round, for every peer. Who begins takes turns,
    too: the first finds a machine that has just rested.
    """
    results: list[list[tuple[float, float]]] = [[] for _ in peers]
    for round_ in range(rounds):
        turns = list(zip(peers, results, strict=True))
        for peer, found in turns if round_ % 2 == 0 else reversed(turns):
            # What others have written must not be what this one waits for.
            os.sync()
            touch_memory()
            time.sleep(0.1)
            found.append(measure(peer, round_))
    return (
        [statistics.median(first for first, _ in found) for found in results],
        [statistics.median(second for _, second in found) for found in results],
    )


if __name__ == "__main__":
    main()
