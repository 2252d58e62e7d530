"""``trivium produce TOPIC``: each line of the input as a record."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO, Final

import click

from trivium.cli.connecting import broker_option, reach
from trivium.cli.input_records import BadLine, NewRecord, parse_json, parse_lines, parse_text, read_lines
from trivium.cli.output import printable, write_json, writing
from trivium.cli.progress import progress
from trivium.client.delivery import ACKS_ALL, ACKS_LEADER, ACKS_NONE, Delivery
from trivium.client.producer import Producer
from trivium.records.compression import Compression
from trivium.records.record import Header

ACKS: Final = {"all": ACKS_ALL, "1": ACKS_LEADER, "0": ACKS_NONE}
COMPRESSIONS: Final = {compression.name.lower(): compression for compression in Compression}

DELIVERY_TIMEOUT_S: Final = 30.0
"""Shorter than a program would wait: somebody sits in front of this."""

acks_option = click.option(
    "--acks",
    type=click.Choice(list(ACKS)),
    default="all",
    show_default=True,
    help="Who must have a record before it counts: all replicas that are in sync, the leader alone, nobody.",
)
compression_option = click.option(
    "--compression", "-z", type=click.Choice(list(COMPRESSIONS)), default="none", show_default=True
)


def _headers(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> list[Header]:
    headers: list[Header] = []
    for value in values:
        name, sign, data = value.partition("=")
        if not sign or not name:
            raise click.BadParameter(f"'{value}' is no header; write NAME=VALUE.")
        headers.append((name, os.fsencode(data)))
    return headers


@click.command("produce")
@click.argument("topic")
@click.argument("file", type=click.File("rb"), default="-")
@click.option("--key-separator", "-k", metavar="TEXT", help="What stands between key and value, such as ':'.")
@click.option(
    "--header",
    "-H",
    "headers",
    multiple=True,
    callback=_headers,
    metavar="NAME=VALUE",
    help="For every record.",
)
@click.option(
    "--empty-as-null", is_flag=True, help="An empty value is null: a compacted topic forgets the key."
)
@click.option("--partition", "-p", type=click.IntRange(0), metavar="N", help="Not the one that the key says.")
@acks_option
@compression_option
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Lines are JSON, as 'trivium consume --json' prints them; so is the report.",
)
@broker_option
def command(
    topic: str,
    file: BinaryIO,
    key_separator: str | None,
    headers: list[Header],
    empty_as_null: bool,
    partition: int | None,
    acks: str,
    compression: str,
    as_json: bool,
    bootstrap: str,
) -> None:
    """Send each line of FILE, or of standard input, as a record.

    \b
    Examples:
      echo 'hello' | trivium produce orders
      trivium produce orders lines.txt --compression zstd
      echo 'customer-7:{"total": 12}' | trivium produce orders --key-separator :
      echo '{"key": "a", "value": "b", "headers": {"source": "shell"}}' | trivium produce orders --json
      trivium consume orders --json | jq -c 'del(.partition)' | trivium produce copy --json
    """
    if as_json and (key_separator is not None or headers or empty_as_null or partition is not None):
        raise click.UsageError("With --json the lines say key, headers and partition themselves.")
    if key_separator == "":
        raise click.BadParameter("nothing cannot separate.", param_hint="--key-separator")
    parse: Callable[[bytes], NewRecord] = parse_json
    if not as_json:
        separator = None if key_separator is None else os.fsencode(key_separator)
        parse = partial(parse_text, separator=separator, empty_is_null=empty_as_null)
    report = Report()
    with reach(bootstrap) as cluster:
        _greet(file)
        with Producer(
            cluster,
            acks=ACKS[acks],
            compression=COMPRESSIONS[compression],
            delivery_timeout_s=DELIVERY_TIMEOUT_S,
            on_delivery=report.add,
        ) as producer:
            _send(producer, topic, file, parse, headers, partition, report)
    _show(report, topic, as_json)


@dataclass(slots=True)
class Report:
    """What the cluster has acknowledged."""

    records: int = 0
    partitions: dict[int, tuple[int, int]] = field(default_factory=dict)
    """First and last offset; not for acks 0, when nobody says."""

    def add(self, delivery: Delivery) -> None:
        if delivery.error is not None:
            return
        self.records += delivery.records_count
        if delivery.base_offset >= 0:
            first, _ = self.partitions.get(delivery.key.partition, (delivery.base_offset, 0))
            last = delivery.base_offset + delivery.records_count - 1
            self.partitions[delivery.key.partition] = (first, last)


def _send(
    producer: Producer,
    topic: str,
    file: BinaryIO,
    parse: Callable[[bytes], NewRecord],
    headers: list[Header],
    partition: int | None,
    report: Report,
) -> None:
    with progress("sending", _size_bytes(file), "bytes", is_typed=file.isatty()) as advance:
        try:
            for record in parse_lines(read_lines(file, producer.flush, advance), parse):
                producer.send(
                    topic,
                    record.value,
                    key=record.key,
                    headers=record.headers or headers,
                    timestamp_ms=record.timestamp_ms,
                    partition=partition if record.partition is None else record.partition,
                )
        except BadLine as error:
            producer.flush()
            sent = (
                f"the {report.records:,} records before it were sent"
                if report.records
                else "nothing was sent"
            )
            raise click.ClickException(printable(f"{error}; {sent}.")) from error


def _show(report: Report, topic: str, as_json: bool) -> None:
    if as_json:
        rows = [
            {"partition": number, "first_offset": first, "last_offset": last}
            for number, (first, last) in sorted(report.partitions.items())
        ]
        write_json({"topic": topic, "records": report.records, "partitions": rows})
        return
    with writing():
        noun = "record" if report.records == 1 else "records"
        click.echo(printable(f"Sent {report.records:,} {noun} to {topic}."))


def _greet(file: BinaryIO) -> None:
    if file.isatty() and sys.stderr.isatty():
        click.echo("Each line is a record; Ctrl-D ends.", err=True)


def _size_bytes(file: BinaryIO) -> int | None:
    try:
        return os.fstat(file.fileno()).st_size or None
    except (OSError, ValueError):
        return None
