"""``trivium inspect DIR``: what is in a log directory, and what recovery would do to it.

Works on Trivium's and on Kafka's directories, also while a broker runs on them: everything is opened
through an overlay, so nothing on disk changes. The facts are gathered first (``survey``), then shown
as tables or, with ``--json``, as one document.
"""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from uuid import uuid4

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from trivium.log.directory import LogDirectory
from trivium.log.faults import LogError
from trivium.log.files import RealFiles
from trivium.log.names import META_PROPERTIES
from trivium.log.overlay import OverlayFiles
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.records.batch import iter_records
from trivium.wire.errors import DecodeError
from trivium.wire.uuid_text import uuid_to_text


@dataclass(frozen=True, slots=True)
class PartitionRow:
    name: str
    topic_id: str | None
    log_start_offset: int
    log_end_offset: int
    last_stable_offset: int
    segments: int
    size_bytes: int
    producers: int
    notes: list[str]


@dataclass(frozen=True, slots=True)
class SegmentRow:
    base_offset: int
    size_bytes: int
    index_entries: int
    time_entries: int
    aborted_transactions: int
    max_timestamp: int


@dataclass(frozen=True, slots=True)
class BatchRow:
    base_offset: int
    last_offset: int
    records: int
    size_bytes: int
    leader_epoch: int
    compression: str
    timestamp_type: str
    max_timestamp: int
    producer: str
    kind: str


@dataclass(frozen=True, slots=True)
class RecordRow:
    offset: int
    timestamp: int
    key: str | None
    value: str | None
    headers: dict[str, str | None]


@click.command("inspect")
@click.argument("directory", type=click.Path(exists=True, file_okay=False))
@click.option("--partition", "-p", metavar="TOPIC-N", help="Show this partition's segments and batches.")
@click.option(
    "--records",
    "-r",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="With --partition: also N records.",
)
@click.option(
    "--from", "offset", type=click.IntRange(0), metavar="OFFSET", help="With --partition: begin here."
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="With --partition: batches to show.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document for scripts.")
def command(
    directory: str, partition: str | None, records: int, offset: int | None, limit: int, as_json: bool
) -> None:
    """Look into a log directory, ours or Kafka's, without changing it.

    \b
    Examples:
      trivium inspect data                           all partitions, and what recovery would do
      trivium inspect data -p orders-0               segments and batches of one
      trivium inspect data -p orders-0 -r 5 --from 1000
      trivium inspect data --json | jq '.partitions[].log_end_offset'
    """
    opened = _open(directory)
    if partition is None:
        facts: dict[str, Any] = survey(opened)
    else:
        facts = _survey_partition(opened, partition, offset, limit, records)
    if as_json:
        click.echo(json.dumps(facts, default=asdict, indent=1))
    elif partition is None:
        _show_directory(Console(), opened, facts)
    else:
        _show_partition(Console(), facts)


def _open(directory: str) -> LogDirectory:
    if not os.path.exists(os.path.join(directory, META_PROPERTIES)):
        raise click.ClickException(
            f"{directory} has no {META_PROPERTIES}; name the log directory itself, as in log.dirs."
        )
    try:
        return LogDirectory.open(
            OverlayFiles(RealFiles()),
            directory.rstrip("/") or "/",
            node_id=-1,
            cluster_id=None,
            new_id=uuid4,
            settings_for=lambda _topic: LogSettings(compact=True),
            now_ms=int(time.time() * 1000),
        )
    except (LogError, OSError) as error:
        raise click.ClickException(str(error)) from error


# -- facts -----------------------------------------------------------------------------------------


def survey(opened: LogDirectory) -> dict[str, Any]:
    """Everything about a directory, ready for JSON."""
    notes = {recovery.name: recovery.notes for recovery in opened.opening.recoveries}
    rows = []
    for key, log in sorted(opened.logs.items()):
        topic_id = opened.topic_ids.get(key)
        rows.append(
            PartitionRow(
                name=log.name,
                topic_id=None if topic_id is None else uuid_to_text(topic_id.bytes),
                log_start_offset=log.log_start_offset,
                log_end_offset=log.log_end_offset,
                last_stable_offset=log.last_stable_offset,
                segments=len(log.segments),
                size_bytes=sum(segment.size_bytes for segment in log.segments),
                producers=len(log.producers.states),
                notes=notes.get(log.name, []),
            )
        )
    return {
        "directory": opened.path,
        "cluster_id": opened.meta.cluster_id,
        "node_id": opened.meta.node_id,
        "clean_shutdown": opened.opening.clean,
        "notes": opened.opening.notes,
        "partitions": rows,
    }


def _survey_partition(
    opened: LogDirectory, name: str, offset: int | None, limit: int, records: int
) -> dict[str, Any]:
    log = next((log for log in opened.logs.values() if log.name == name), None)
    if log is None:
        raise click.ClickException(
            f"There is no partition {name}; run 'trivium inspect {opened.path}' to see them."
        )
    start = log.log_start_offset if offset is None else offset
    try:
        return {
            "partition": name,
            "segments": list(_segments(log)),
            "batches": list(islice(_batches(log, start), limit)),
            "records": list(islice(_records(log, start), records)),
            "notes": [] if log.corruption is None else [str(log.corruption)],
        }
    except (LogError, DecodeError) as error:
        raise click.ClickException(str(error)) from error


def _segments(log: PartitionLog) -> Iterator[SegmentRow]:
    for segment in log.segments:
        timestamp = segment.max_timestamp.timestamp
        yield SegmentRow(
            segment.base_offset,
            segment.size_bytes,
            len(segment.index),
            len(segment.times),
            len(segment.aborted),
            timestamp,
        )


def _batches(log: PartitionLog, offset: int) -> Iterator[BatchRow]:
    for found in log.batches(offset):
        header = found.header
        kind = "control" if header.is_control else "transaction" if header.is_transactional else "data"
        producer = f"{header.producer_id}/{header.producer_epoch}" if header.producer_id >= 0 else ""
        yield BatchRow(
            header.base_offset,
            header.last_offset,
            header.records_count,
            header.size_bytes,
            header.leader_epoch,
            header.compression.name.lower(),
            header.timestamp_type.name.lower(),
            header.max_timestamp,
            producer,
            kind,
        )


def _records(log: PartitionLog, offset: int) -> Iterator[RecordRow]:
    for found in log.batches(offset):
        if found.header.is_control:
            continue
        for record in iter_records(found.data):
            if record.offset >= offset:
                headers = {name: _text(value) for name, value in record.headers}
                yield RecordRow(
                    record.offset, record.timestamp, _text(record.key), _text(record.value), headers
                )


def _text(data: bytes | None) -> str | None:
    """Bytes as a person reads them: text where they are text, escapes where they are not."""
    if data is None:
        return None
    text = data.decode("utf-8", "backslashreplace")
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text
    )


# -- tables ----------------------------------------------------------------------------------------


def _show_directory(console: Console, opened: LogDirectory, facts: dict[str, Any]) -> None:
    state = (
        "stopped cleanly" if opened.opening.clean else "not stopped cleanly: shown as recovery would leave it"
    )
    console.print(
        f"[bold]{opened.path}[/bold]  cluster {opened.meta.cluster_id}, node {opened.meta.node_id}, {state}"
    )
    table = Table(
        "partition",
        *(_right(title) for title in ("start", "end", "stable", "segments", "bytes", "producers")),
    )
    for row in facts["partitions"]:
        offsets = (row.log_start_offset, row.log_end_offset, row.last_stable_offset)
        numbers = (*offsets, row.segments, row.size_bytes, row.producers)
        table.add_row(_short(row.name), *(f"{number:,}" for number in numbers))
    console.print(table)
    for note in opened.opening.notes:
        console.print(f"- {note}", highlight=False)
    for row in facts["partitions"]:
        for note in row.notes:
            console.print(f"- {_short(row.name)}: {note}", highlight=False)


def _show_partition(console: Console, facts: dict[str, Any]) -> None:
    console.print(f"[bold]{facts['partition']}[/bold]")
    for title in ("segments", "batches", "records"):
        rows = facts[title]
        if not rows:
            continue
        names = list(asdict(rows[0]))
        table = Table(*(name.replace("_", " ") for name in names), title=title, title_justify="left")
        for row in rows:
            table.add_row(*(_cell(name, value) for name, value in asdict(row).items()))
        console.print(table)
    for note in facts["notes"]:
        console.print(f"- {note}", highlight=False)


def _right(title: str) -> Column:
    return Column(title, justify="right")


def _short(name: str, width: int = 40) -> str:
    return name if len(name) <= width else f"{name[: width // 2]}…{name[-width // 2 + 1 :]}"


def _cell(name: str, value: object) -> str:
    if name.endswith("timestamp") and isinstance(value, int):
        if value < 0:
            return "none"
        return datetime.fromtimestamp(value / 1000, UTC).isoformat(sep=" ", timespec="milliseconds")[:-6]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return " ".join(f"{key}={part}" for key, part in value.items())
    return "null" if value is None else escape(str(value))
