"""``trivium consume TOPIC``: records to standard output, alone or as a member of a group."""

import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import click

from trivium.cli.connecting import broker_option, reach
from trivium.cli.output import writing
from trivium.cli.record_text import BadTemplate, Render, as_json, by_template
from trivium.cli.starting_point import EARLIEST_POINT, Kind, StartingPoint, starting_point
from trivium.cli.topic_changes import chosen_partitions
from trivium.client.cluster import Cluster
from trivium.client.fetching import FetchSettings
from trivium.client.group import GroupConsumer
from trivium.client.offsets import EARLIEST, LATEST, Isolation, offset_ranges
from trivium.client.reader import POLL_RECORDS, Chunk, Reader
from trivium.client.topology import TopicPartition

_POLL_S: Final = 1.0
"""How long to wait for records at once, between looks at whether the end is reached."""


@click.command("consume")
@click.argument("topic")
@click.option(
    "--from",
    "start",
    callback=starting_point,
    metavar="POINT",
    help="earliest, latest, an offset, -N for the last N of each partition, a time such as 2025-06-15T10:30 "
    "(UTC), or how long ago, such as 15m.  [default: earliest]",
)
@click.option(
    "--partition",
    "-p",
    "partitions",
    type=click.IntRange(0),
    multiple=True,
    metavar="N",
    help="Only this one.",
)
@click.option("--group", "-g", metavar="NAME", help="As a member of this group, from where it has left off.")
@click.option("--follow", "-f", is_flag=True, help="Wait for more at the end, until Ctrl-C.")
@click.option("--max", "-n", "records_max", type=click.IntRange(1), metavar="N", help="Stop after N records.")
@click.option("--keys", "-k", is_flag=True, help="Also print keys.")
@click.option("--offsets", "-o", is_flag=True, help="Also print partition and offset.")
@click.option("--timestamps", "-t", is_flag=True, help="Also print timestamps, in UTC.")
@click.option("--headers", is_flag=True, help="Also print headers.")
@click.option(
    "--format",
    "-F",
    "template",
    metavar="TEXT",
    help="Print each record by a template with the fields {topic} {partition} {offset} {timestamp} "
    "{timestamp_ms} {key} {value} {headers}.",
)
@click.option(
    "--json", "wants_json", is_flag=True, help="One JSON object a line; bytes that are no text in base64."
)
@click.option("--uncommitted", is_flag=True, help="Also records of transactions that are open or aborted.")
@broker_option
def command(
    topic: str,
    start: StartingPoint | None,
    partitions: tuple[int, ...],
    group: str | None,
    follow: bool,
    records_max: int | None,
    keys: bool,
    offsets: bool,
    timestamps: bool,
    headers: bool,
    template: str | None,
    wants_json: bool,
    uncommitted: bool,
    bootstrap: str,
) -> None:
    """Print the records of a topic, up to its end as it is now.

    \b
    Examples:
      trivium consume orders                            everything that is there
      trivium consume orders --follow --from latest     what comes from now on
      trivium consume orders --from -5 -k -o            the last five of each partition, with keys
      trivium consume orders --from 1h --json | jq .value
      trivium consume orders --group billing --follow   share the partitions with others, remember the offset
      trivium consume orders --format '{partition}:{offset} {key}={value}'
    """
    if sum(map(bool, (template, wants_json, keys or offsets or timestamps or headers))) > 1:
        raise click.UsageError("Choose one of --format, --json, and the options that add fields.")
    if group is not None and partitions:
        raise click.UsageError(
            "In a group the group decides who reads which partition: --group or --partition."
        )
    if group is not None and start is not None and start.kind not in (Kind.EARLIEST, Kind.LATEST):
        raise click.UsageError(
            "With --group, --from says where a new group begins: earliest or latest. 'trivium group reset' "
            "moves one that has read already."
        )
    output = Output(
        as_json if wants_json else _render(template or _template(keys, offsets, timestamps, headers)),
        records_max,
    )
    settings = FetchSettings(
        isolation=Isolation.READ_UNCOMMITTED if uncommitted else Isolation.READ_COMMITTED
    )
    with reach(bootstrap) as cluster, writing():
        try:
            if group is None:
                read_alone(cluster, topic, partitions, start or EARLIEST_POINT, follow, settings, output)
            else:
                read_in_group(cluster, topic, group, start or EARLIEST_POINT, follow, settings, output)
        except KeyboardInterrupt:
            if not follow:
                raise


@dataclass(slots=True)
class Output:
    """Lines on standard output, up to so many."""

    render: Render
    records_max: int | None
    records: int = 0

    @property
    def is_full(self) -> bool:
        return self.records_max is not None and self.records >= self.records_max

    @property
    def room(self) -> int:
        return (
            POLL_RECORDS if self.records_max is None else min(POLL_RECORDS, self.records_max - self.records)
        )

    def write(self, chunks: list[Chunk], ends: dict[TopicPartition, int] | None = None) -> None:
        """Write the records that lie before the ends; those behind came after we began."""
        out = sys.stdout.buffer
        for chunk in chunks:
            end = None if ends is None else ends[chunk.key]
            records = chunk.records if end is None else [each for each in chunk.records if each.offset < end]
            out.write(b"".join([self.render(chunk, record) for record in records]))
            self.records += len(records)
        out.flush()


def read_alone(
    cluster: Cluster,
    topic: str,
    partitions: tuple[int, ...],
    start: StartingPoint,
    follow: bool,
    settings: FetchSettings,
    output: Output,
) -> None:
    keys = chosen_partitions(cluster, topic, partitions)
    positions = start.resolve(cluster, keys, settings.isolation)
    ends = None if follow else _ends(cluster, keys, settings.isolation)
    with Reader(cluster, positions, settings=settings, reset_to=EARLIEST) as reader:
        while not output.is_full and not _is_at_end(reader.positions, ends):
            output.write(reader.poll(_POLL_S, output.room), ends)


def read_in_group(
    cluster: Cluster,
    topic: str,
    group: str,
    start: StartingPoint,
    follow: bool,
    settings: FetchSettings,
    output: Output,
) -> None:
    """The same as a member. Only what was written is committed: whatever happens, nothing is skipped."""
    beginning = LATEST if start.kind is Kind.LATEST else EARLIEST
    with GroupConsumer(cluster, group, [topic], start=beginning, settings=settings) as consumer:
        written: dict[TopicPartition, int] = {}
        generation_id = consumer.generation_id
        ends: dict[TopicPartition, int] = {}
        try:
            while not output.is_full:
                chunks = consumer.poll(_POLL_S, output.room)
                with _uninterrupted():
                    output.write(chunks)
                    written, generation_id = dict(consumer.positions), consumer.generation_id
                if not follow:
                    news = [key for key in written if key not in ends]
                    ends.update(_ends(cluster, news, settings.isolation))
                    if _is_at_end(written, ends):
                        break
        finally:
            # After a rebalance somebody else may have read on: then these positions are not ours to commit.
            if consumer.generation_id == generation_id:
                consumer.commit(written)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits a moment: what is written, and what counts as written, must not differ."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ends(cluster: Cluster, keys: list[TopicPartition], isolation: Isolation) -> dict[TopicPartition, int]:
    return {key: end for key, (_, end) in offset_ranges(cluster, keys, isolation=isolation).items()}


def _is_at_end(positions: Mapping[TopicPartition, int], ends: dict[TopicPartition, int] | None) -> bool:
    return ends is not None and all(position >= ends[key] for key, position in positions.items())


def _template(keys: bool, offsets: bool, timestamps: bool, headers: bool) -> str:
    wanted: list[tuple[bool, str]] = [
        (timestamps, "{timestamp}"),
        (offsets, "{partition}:{offset}"),
        (keys, "{key}"),
        (True, "{value}"),
        (headers, "{headers}"),
    ]
    return "\t".join(part for is_wanted, part in wanted if is_wanted)


def _render(template: str) -> Render:
    try:
        return by_template(template, is_terminal=sys.stdout.isatty())
    except BadTemplate as error:
        raise click.BadParameter(f"{error}.", param_hint="--format") from error
