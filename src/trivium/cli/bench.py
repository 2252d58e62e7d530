"""``trivium bench``: how fast a broker takes and gives records, with one client in one process."""

import time
from dataclasses import asdict, dataclass
from typing import Final

import click

from trivium.cli.bench_load import Figures, ProduceLoad, figures, make_records, read_load
from trivium.cli.connecting import broker_option, json_option, reach
from trivium.cli.latency import LatencyHistogram
from trivium.cli.output import printable, write_json
from trivium.cli.produce import ACKS, COMPRESSIONS, acks_option, compression_option
from trivium.cli.progress import progress
from trivium.client.admin_topics import BROKER_DEFAULT, NewTopic, create_topics
from trivium.client.cluster import Cluster
from trivium.client.errors import ClientError, Refused
from trivium.client.offsets import offset_ranges
from trivium.client.producer import Producer
from trivium.client.reader import Reader
from trivium.client.shipping import IN_FLIGHT_MAX
from trivium.client.topology import TopicPartition
from trivium.messages.errors import ErrorCode

DEFAULT_TOPIC: Final = "trivium-bench"

BATCH_BYTES: Final = 65_536
"""Of a batch, unless it is said how many records it has."""

_RECORD_BYTES: Final = 16
"""About what a record takes besides its value."""


@dataclass(frozen=True, slots=True)
class FigureRow:
    figure: str
    value: str


@click.group("bench")
def command() -> None:
    """Measure how fast a broker takes and gives records.

    \b
    Examples:
      trivium bench produce --records 1000000 --size 100
      trivium bench produce --batch 1 --in-flight 1 --records 10000     one record at a time
      trivium bench consume
    """


_topic_option = click.option("--topic", "-t", default=DEFAULT_TOPIC, show_default=True)


@command.command()
@_topic_option
@click.option("--records", "-n", type=click.IntRange(1), default=1_000_000, show_default=True, metavar="N")
@click.option(
    "--size",
    "-s",
    "size_bytes",
    type=click.IntRange(0, 10_000_000),
    default=100,
    show_default=True,
    metavar="BYTES",
    help="Of a value.",
)
@click.option(
    "--batch",
    type=click.IntRange(1),
    metavar="N",
    help="Records in a batch.  [default: as many as fill 64 KiB]",
)
@click.option(
    "--in-flight",
    type=click.IntRange(1, IN_FLIGHT_MAX),
    default=IN_FLIGHT_MAX,
    show_default=True,
    metavar="N",
    help="Batches under way at once.",
)
@click.option("--rate", type=click.IntRange(1), metavar="N", help="Records a second at most.")
@click.option(
    "--partitions", "-p", type=click.IntRange(1), metavar="N", help="Of the topic, if it is made for this."
)
@acks_option
@compression_option
@broker_option
@json_option
def produce(
    topic: str,
    records: int,
    size_bytes: int,
    batch: int | None,
    in_flight: int,
    rate: int | None,
    partitions: int | None,
    acks: str,
    compression: str,
    bootstrap: str,
    as_json: bool,
) -> None:
    """Send records as fast as the broker takes them. The topic is made if it is not there, and stays.

    Latency is the time from handing over a batch to its acknowledgement.

    \b
    Examples:
      trivium bench produce --size 1000 --acks 1 --compression lz4
      trivium bench produce --batch 1 --in-flight 1 --records 10000
      trivium bench produce --rate 50000 --json
    """
    batch_records = min(records, batch or max(1, BATCH_BYTES // (size_bytes + _RECORD_BYTES)))
    load = ProduceLoad(in_flight)
    with reach(bootstrap) as cluster:
        keys = _ensure_topic(cluster, topic, partitions)
        prepared = make_records(batch_records, size_bytes)
        with (
            progress("producing", records, "records") as advance,
            Producer(
                cluster,
                acks=ACKS[acks],
                compression=COMPRESSIONS[compression],
                in_flight_max=in_flight,
                on_delivery=load.delivered,
            ) as producer,
        ):
            load.send(producer, keys, prepared, records, rate, advance)
    _show(
        figures(records, records * size_bytes, load.seconds, load.latencies), f"produced to {topic}", as_json
    )


@command.command()
@_topic_option
@click.option(
    "--records", "-n", type=click.IntRange(1), metavar="N", help="Stop after so many.  [default: all]"
)
@broker_option
@json_option
def consume(topic: str, records: int | None, bootstrap: str, as_json: bool) -> None:
    """Read a topic from its beginning as fast as the broker gives it.

    Latency is how long the client waited each time for more records.

    \b
    Examples:
      trivium bench consume
      trivium bench consume --topic orders --records 100000 --json
    """
    latencies = LatencyHistogram()
    with reach(bootstrap) as cluster:
        ranges = offset_ranges(cluster, cluster.topic(topic).partition_keys())
        ends = {key: end for key, (_, end) in ranges.items()}
        there = sum(end - start for start, end in ranges.values())
        if there == 0:
            raise ClientError(
                f"Topic {topic} is empty; fill it with 'trivium bench produce --topic {topic}'."
            )
        wanted = min(there, records or there)
        with (
            progress("consuming", wanted, "records") as advance,
            Reader(cluster, {key: start for key, (start, _) in ranges.items()}) as reader,
        ):
            began = time.perf_counter()
            count, size_bytes = read_load(reader, ends, wanted, latencies, advance)
            seconds = time.perf_counter() - began
    _show(figures(count, size_bytes, seconds, latencies), f"consumed from {topic}", as_json)


def _ensure_topic(cluster: Cluster, topic: str, partitions: int | None) -> list[TopicPartition]:
    outcome = create_topics(cluster, [NewTopic(topic, partitions or BROKER_DEFAULT)])[topic]
    if isinstance(outcome, Refused) and outcome.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
        raise outcome
    keys = cluster.topic(topic).partition_keys()
    offset_ranges(cluster, keys)  # Answered by the leaders: how soon they are ready is not measured.
    return keys


def _show(found: Figures, title: str, as_json: bool) -> None:
    if as_json:
        write_json(asdict(found))
        return
    from trivium.cli.tables import show_table

    show_table(
        printable(title),
        [
            FigureRow("records", f"{found.records:,}"),
            FigureRow("time", f"{found.seconds:,.2f} s"),
            FigureRow("rate", f"{found.records_per_second:,.0f} records/s"),
            FigureRow("throughput", f"{found.megabytes_per_second:,.1f} MB/s"),
            FigureRow("latency, half within", f"{found.p50_ms:,.2f} ms"),
            FigureRow("90 % within", f"{found.p90_ms:,.2f} ms"),
            FigureRow("99 % within", f"{found.p99_ms:,.2f} ms"),
            FigureRow("99.9 % within", f"{found.p99_9_ms:,.2f} ms"),
            FigureRow("longest", f"{found.max_ms:,.2f} ms"),
        ],
    )
