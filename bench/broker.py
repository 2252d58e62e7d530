"""Trivium against Apache Kafka: both running side by side, the same client, in turns.

Run ``python -m bench.broker [DIRECTORY]``; the directory decides which disk is measured. Needs Java and,
the first time, Maven; without them Trivium is measured alone. Figures are medians of ``ROUNDS`` rounds,
and what counts are the ratios. ``acks=all`` is synced with Trivium and is not with Kafka, which is why
Kafka is measured with ``flush.messages=1`` where one record at a time is compared.

Each measurement of throughput begins with memory that has been used a moment before (``touch_memory``). A
virtual machine gives free memory back to its host and gets it again page by page; that takes seconds of
processor for a gigabyte, is charged to whoever writes, and hides the brokers behind it.
"""

import contextlib
import os
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.load import Client, fetch_frame, framed, pipelined, produce_frame
from bench.peers import Peer, kafka, scratch, trivium
from bench.rebalances import rebalances
from bench.transactions import transactions
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from tests.interop.kafka import Kafka, Unavailable

from trivium.messages.api.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest

ROUNDS = 3
BATCH_BYTES = 900_000
"""What librdkafka fills a batch with by default, about."""
VOLUME_BYTES = 300_000_000
TOUCHED_BYTES = 3 * VOLUME_BYTES
IN_FLIGHT = 5
LATENCY_REQUESTS = 2_000
IDLE_SECONDS = 5
IDLE_CONNECTIONS = 1_000
ANNOUNCING = 500
ANNOUNCED_BYTES = 99 << 20

Pair = list[Peer]
Start = Callable[[Path], contextlib.AbstractContextManager[Peer]]


def main() -> None:
    table = Table("what", "Trivium", "Kafka", "ratio", "level", title="the broker")
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(scratch()))
        progress = stack.enter_context(Progress(transient=True))
        brokers: list[Start] = [trivium]
        try:
            brokers.append(partial(kafka, jars=Kafka.obtain()))
        except Unavailable as reason:
            progress.console.print(f"Kafka is left out: {reason}")
        for found in start(brokers, directory):
            table.add_row(*found)
        peers = [stack.enter_context(broker(directory)) for broker in brokers]
        measures: list[Callable[[Pair], list[tuple[str, ...]]]] = [
            idle,
            *throughput(),
            latency,
            synced_latency,
            group_commit,
            connections,
            announcements,
            partial(transactions, row),
            partial(rebalances, row),
        ]
        task = progress.add_task("measuring", total=len(measures))
        for measure in measures:
            for found in measure(peers):
                table.add_row(*found)
            progress.advance(task)
        for found in librdkafka(peers):
            table.add_row(*found)
    Console(highlight=False).print(table)


def row(what: str, values: list[float], form: str, level: str, *, unit: str = "") -> tuple[str, ...]:
    texts = [f"{value:{form}}{unit}" for value in values]
    if len(values) < 2:
        return (what, texts[0], "", "", level)
    return (what, *texts, f"{values[0] / values[1]:.2f}" if values[1] else "", level)


def start(brokers: list[Start], directory: Path) -> list[tuple[str, ...]]:
    """From nothing, in a directory of its own each time."""
    seconds: list[list[float]] = [[] for _ in brokers]
    for round_ in range(ROUNDS):
        place = directory / f"start-{round_}"
        place.mkdir()
        for broker, found in zip(brokers, seconds, strict=True):
            with broker(place) as peer:
                found.append(peer.started_s)
    middles = [statistics.median(found) for found in seconds]
    return [row("start to first answer", middles, ".2f", "<= 0.37 s, 1/8", unit=" s")]


def idle(peers: Pair) -> list[tuple[str, ...]]:
    before = [peer.cpu_s for peer in peers]
    time.sleep(IDLE_SECONDS)
    percent = [(peer.cpu_s - cpu_s) / IDLE_SECONDS * 100 for peer, cpu_s in zip(peers, before, strict=True)]
    return [
        row("memory when idle", [peer.memory_mb for peer in peers], ".0f", "<= 64 MB, 1/5", unit=" MB"),
        row("processor when idle", percent, ".1f", "next to none", unit=" %"),
    ]


def throughput() -> list[Callable[[Pair], list[tuple[str, ...]]]]:
    return [partial(_throughput, 100, ">= 1.3"), partial(_throughput, 1024, ">= 1.5")]


def _throughput(value_bytes: int, level: str, peers: Pair) -> list[tuple[str, ...]]:
    records = BATCH_BYTES // (value_bytes + 10)
    rows = []
    for acks, name in ((1, "1"), (-1, "all")):
        rates, costs = _in_turns(
            peers, partial(_produce, f"produce-{value_bytes}-{name}", records, value_bytes, acks)
        )
        rows.append(row(f"produce {value_bytes} B, acks={name}, /s", rates, ",.0f", level))
        rows.append(row("    processor s per GB", costs, ".2f", "<= 1/2"))
    rates, costs = _in_turns(peers, partial(_consume, f"produce-{value_bytes}-1", records, value_bytes))
    rows.append(row(f"consume {value_bytes} B, /s", rates, ",.0f", ">= 1"))
    rows.append(row("    processor s per GB", costs, ".2f", "<= 1"))
    return rows


def _in_turns(peers: Pair, measure: Callable[[Peer], tuple[float, float]]) -> tuple[list[float], list[float]]:
    """Medians of the two things that ``measure`` gives, for every peer."""
    results: list[list[tuple[float, float]]] = [[] for _ in peers]
    for _ in range(ROUNDS):
        for peer, found in zip(peers, results, strict=True):
            # What others have written must not be what this one waits for.
            os.sync()
            touch_memory()
            found.append(measure(peer))
    return (
        [statistics.median(first for first, _ in found) for found in results],
        [statistics.median(second for _, second in found) for found in results],
    )


def touch_memory() -> None:
    """Leave free memory that the host of a virtual machine has not taken back yet."""
    megabyte = bytes(1 << 20)
    with tempfile.TemporaryFile(dir=sys.argv[1] if len(sys.argv) > 1 else None, buffering=0) as file:
        for _ in range(TOUCHED_BYTES // len(megabyte)):
            file.write(megabyte)


def _produce(topic: str, records: int, value_bytes: int, acks: int, peer: Peer) -> tuple[float, float]:
    """Records a second, and seconds of processor for a gigabyte of values."""
    with Client(peer.port) as client:
        client.create_topic(topic)
    frame = produce_frame(topic, records, value_bytes, acks)
    requests = VOLUME_BYTES // (records * value_bytes)
    cpu_s = peer.cpu_s
    seconds = pipelined(peer.port, frame, requests, connections=1, in_flight=IN_FLIGHT)
    volume_gb = requests * records * value_bytes / 1e9
    return requests * records / seconds, (peer.cpu_s - cpu_s) / volume_gb


def _consume(topic: str, records: int, value_bytes: int, peer: Peer) -> tuple[float, float]:
    requests = VOLUME_BYTES // (records * value_bytes)
    cpu_s, start_s = peer.cpu_s, time.perf_counter()
    with Client(peer.port) as client:
        for number in range(requests):
            client.socket.sendall(fetch_frame(topic, number * records, 1 << 20))
            client.skip_answer()
    seconds = time.perf_counter() - start_s
    volume_gb = requests * records * value_bytes / 1e9
    return requests * records / seconds, (peer.cpu_s - cpu_s) / volume_gb


def latency(peers: Pair) -> list[tuple[str, ...]]:
    return _latency(peers, "one record at a time, acks=1", "latency", [1] * len(peers))


def synced_latency(peers: Pair) -> list[tuple[str, ...]]:
    """Ours by acks=all; Kafka's by ``flush.messages=1``, its own way to ask for a sync."""
    for peer in peers:
        configs = [CreatableTopicConfig(name="flush.messages", value="1")] if peer.name == "kafka" else []
        topic = CreatableTopic(
            name="synced", num_partitions=1, replication_factor=1, assignments=[], configs=configs
        )
        with Client(peer.port) as client:
            client.ask(framed(CreateTopicsRequest(topics=[topic]), 5))
    return _latency(peers, "one record at a time, synced", "synced", [-1] * len(peers))


def _latency(peers: Pair, what: str, topic: str, acks: list[int]) -> list[tuple[str, ...]]:
    def measure(peer: Peer) -> tuple[float, float]:
        frame = produce_frame(topic, 1, 100, acks[peers.index(peer)])
        times = []
        with Client(peer.port) as client:
            client.create_topic(topic)
            for _ in range(LATENCY_REQUESTS):
                start_s = time.perf_counter()
                client.ask(frame)
                times.append((time.perf_counter() - start_s) * 1000)
        times.sort()
        return times[len(times) // 2], times[len(times) * 99 // 100]

    middle, high = _in_turns(peers, measure)
    return [
        row(f"{what}, p50", middle, ".2f", "<= 1", unit=" ms"),
        row("    p99", high, ".2f", "<= 1", unit=" ms"),
    ]


def group_commit(peers: Pair) -> list[tuple[str, ...]]:
    """16 connections with 1 KB batches: what acks=all keeps of the rate of acks=1 (only Trivium syncs)."""
    peer = peers[0]
    with Client(peer.port) as client:
        client.create_topic("group-commit")
    ratios = []
    for _ in range(ROUNDS):
        written, synced = (
            pipelined(
                peer.port,
                produce_frame("group-commit", 9, 100, acks),
                20_000,
                connections=16,
                in_flight=IN_FLIGHT,
            )
            for acks in (1, -1)
        )
        ratios.append(written / synced)
    return [row("group commit, 16 writers of 1 KB", [statistics.median(ratios)], ".2f", ">= 0.80")]


def connections(peers: Pair) -> list[tuple[str, ...]]:
    more = []
    for peer in peers:
        before = peer.memory_mb
        with contextlib.ExitStack() as stack:
            for _ in range(IDLE_CONNECTIONS):
                stack.enter_context(Client(peer.port)).metadata([])
            more.append(peer.memory_mb - before)
    return [row(f"memory for {IDLE_CONNECTIONS:,} idle connections", more, ".1f", "<= 30 MB", unit=" MB")]


def announcements(peers: Pair) -> list[tuple[str, ...]]:
    """Connections that each announce a frame of 99 MB and send nothing of it. They end a real Kafka."""
    peer = peers[0]
    before = peer.memory_mb
    with contextlib.ExitStack() as stack:
        for _ in range(ANNOUNCING):
            announcing = stack.enter_context(socket.create_connection(("127.0.0.1", peer.port)))
            announcing.sendall(struct.pack(">i", ANNOUNCED_BYTES))
        with Client(peer.port) as client:
            client.metadata([])
        more = peer.memory_mb - before
    return [
        row(f"memory for {ANNOUNCING} frames of 99 MB announced", [more], ".1f", "next to none", unit=" MB")
    ]


def librdkafka(peers: Pair) -> list[tuple[str, ...]]:
    """The same with librdkafka's own tool, where it is installed: its ceiling shows in both columns."""
    tool = shutil.which("rdkafka_performance")
    if tool is None:
        return []
    rows = []
    for value_bytes, count in ((100, 3_000_000), (1024, 400_000)):
        for acks, name in (("1", "1"), ("-1", "all")):
            options = ["-P", "-s", str(value_bytes), "-a", acks, "-X", "linger.ms=5"]
            rates = _tool_rates(peers, tool, f"tool-{value_bytes}-{name}", count, options)
            rows.append(row(f"rdkafka_performance {value_bytes} B, acks={name}, /s", rates, ",.0f", ""))
        options = ["-C", "-p", "0", "-o", "beginning"]
        rates = _tool_rates(peers, tool, f"tool-{value_bytes}-1", count, options)
        rows.append(row(f"rdkafka_performance {value_bytes} B, consume, /s", rates, ",.0f", ""))
    return rows


def _tool_rates(peers: Pair, tool: str, topic: str, count: int, options: list[str]) -> list[float]:
    def measure(peer: Peer) -> tuple[float, float]:
        command = [tool, "-t", topic, "-c", str(count), "-b", f"127.0.0.1:{peer.port}", "-u", *options]
        start_s = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=120)
        return count / (time.perf_counter() - start_s), 0

    for peer in peers:
        with Client(peer.port) as client:
            client.create_topic(topic)
    return _in_turns(peers, measure)[0]


if __name__ == "__main__":
    main()
