"""Reading and writing topics with Spark: our source against Spark's own Kafka connector, on the same broker.

Run ``python -m bench.spark [DIRECTORY]``. Each connector has a Spark of its own (the newest Kafka connector
that can be resolved is older than ours), one after the other on the same machine, and reads the same topics
of ``trivium serve``: keys of 8 bytes, values of 100, two partitions, batches of 16 KB. "Processor" is seconds
of everything that Spark runs, its JVM and all processes of Python that it has started, on both sides alike.
What the broker needs to serve it stands beside it, and then the ratio of all three. Each side has the best
of several rounds, in a JVM that is warm. A Delta table is compared with Parquet, which is what the connector
can write by itself. ``BENCH_ROWS`` asks for other than 10 M.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from bench.load import PRODUCE_VERSION, framed, pipelined
from bench.peers import scratch, trivium
from rich.console import Console
from rich.table import Table
from tests.interop.kafka import Unavailable
from tests.interop.spark_kafka import SparkKafka

from trivium.client.admin_topics import NewTopic, create_topics
from trivium.client.cluster import Cluster
from trivium.client.errors import settled
from trivium.messages.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from trivium.records.batch import build_batch
from trivium.records.compression import Compression
from trivium.records.record import Record

ROWS = 10_000_000
BATCH_RECORDS = 140
"""Of 108 bytes and what a record needs besides: 16 KB."""

TOPICS = {"plain": Compression.NONE, "lz4": Compression.LZ4}
READ_LEVEL = 2.0
"""How many times as many rows a second as Spark's connector, unless the name says otherwise."""

LEVELS = {"-> topic": 1.5, "-> Parquet": 1.0, "-> Delta": 1.0}

PROCESSOR_LEVEL = 0.5
"""The most of the connector's processor seconds, of reads."""

WIDTH = 160
"""Of the table: a row on a line, also where no terminal says how wide it is."""

SECONDS_MAX = 3_600

PROGRAM = Path(__file__).with_name("spark_reads.py")

Figures = dict[str, tuple[float, float, float, float]]


def main() -> None:
    rows = int(os.environ.get("BENCH_ROWS", ROWS))
    console = Console(highlight=False, width=WIDTH)
    with scratch() as directory, trivium(Path(directory)) as broker:
        bootstrap = f"127.0.0.1:{broker.port}"
        for name in ("written-trivium", "written-kafka"):
            create(bootstrap, name)
        for topic, compression in TOPICS.items():
            rows = fill(broker.port, bootstrap, topic, rows, compression)
        arguments = [bootstrap, str(broker.pid), str(rows), directory, *TOPICS]
        ours = figures([sys.executable, str(PROGRAM), "trivium", *arguments])
        try:
            done = SparkKafka.obtain().run(PROGRAM, "kafka", *arguments, seconds_max=SECONDS_MAX)
            theirs = read_figures(done)
        except Unavailable as reason:
            console.print(f"Spark's Kafka connector is not measured: {reason}.")
            theirs = {}
    console.print(table(rows, ours, theirs))


def create(bootstrap: str, topic: str) -> None:
    with Cluster.connect(bootstrap) as cluster:
        settled(create_topics(cluster, [NewTopic(topic, 2, 1, {})])[topic])


def fill(port: int, bootstrap: str, topic: str, rows: int, compression: Compression) -> int:
    """Make a topic of two partitions with so many rows, or a few more; how many."""
    create(bootstrap, topic)
    now_ms = time.time_ns() // 1_000_000  # Older records would be gone by retention before they are read.
    records = [
        Record(number, now_ms + number, b"%08d" % number, (b"%016d" % (number * 7919)) * 6 + b"tail")
        for number in range(BATCH_RECORDS)
    ]
    batch = build_batch(records, compression=compression)
    requests = -(-rows // (2 * BATCH_RECORDS))
    for partition in (0, 1):
        request = ProduceRequest(
            acks=1,
            timeout_ms=60_000,
            topic_data=[
                TopicProduceData(
                    name=topic, partition_data=[PartitionProduceData(index=partition, records=batch)]
                )
            ],
        )
        # ``pipelined`` sends one more, to see how long an answer is.
        pipelined(port, framed(request, PRODUCE_VERSION), requests - 1, connections=1, in_flight=8)
    return 2 * requests * BATCH_RECORDS


def figures(command: list[str]) -> Figures:
    return read_figures(subprocess.run(command, capture_output=True, text=True))


def read_figures(done: "subprocess.CompletedProcess[str]") -> Figures:
    if done.returncode:
        raise SystemExit(f"Spark failed:\n{done.stderr[-3000:]}")
    return {name: tuple(each) for name, each in json.loads(done.stdout.splitlines()[-1]).items()}


def table(rows: int, ours: Figures, theirs: Figures) -> Table:
    shown = Table(
        *("", "ours", "Kafka\nconnector", "ratio", "level", "processor\nJVM + Python, s"),
        *("Kafka\nconnector", "ratio", "level", "broker, s", "Kafka\nconnector", "all,\nratio"),
        title=f"{rows / 1e6:.1f} M rows of 100 B: rows a second and processor seconds",
    )
    for name, (rate, jvm_s, python_s, broker_s) in ours.items():
        other = theirs.get(name.replace("Delta", "Parquet"))
        level, processor_level = levels_of(name)
        shown.add_row(
            name,
            f"{rate / 1e6:.2f} M",
            f"{other[0] / 1e6:.2f} M" if other else "",
            f"{rate / other[0]:.1f}" if other else "",
            f">= {level}",
            f"{jvm_s:.1f} + {python_s:.1f}",
            f"{other[1] + other[2]:.1f}" if other else "",
            f"{(jvm_s + python_s) / (other[1] + other[2]):.2f}" if other else "",
            f"<= {processor_level}" if processor_level else "",
            f"{broker_s:.1f}",
            f"{other[3]:.1f}" if other else "",
            f"{(jvm_s + python_s + broker_s) / sum(other[1:]):.2f}" if other else "",
        )
    return shown


def levels_of(name: str) -> tuple[float, float | None]:
    """Of the rate, and of the processor where there is one."""
    for words, level in LEVELS.items():
        if words in name:
            return level, None
    return READ_LEVEL, PROCESSOR_LEVEL


if __name__ == "__main__":
    main()
