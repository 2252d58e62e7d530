"""The partitions of a log directory, for ``trivium inspect``: all of them, or the segments, batches and
records of one. The facts are gathered first (``survey``), then shown as tables.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias, TypeVar

import click
from rich.console import Console
from rich.markup import escape

from trivium.cli.output import printable, shortened
from trivium.cli.tables import show_rows
from trivium.log.directory import LogDirectory
from trivium.log.faults import Corrupt
from trivium.log.partition_log import PartitionLog
from trivium.records.batch import iter_records
from trivium.wire.uuid_text import uuid_to_text

Facts: TypeAlias = dict[str, Any]
"""What a view shows, ready for JSON."""

_Row = TypeVar("_Row")


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


# -- facts -----------------------------------------------------------------------------------------


def survey(opened: LogDirectory) -> Facts:
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


def survey_partition(opened: LogDirectory, name: str, offset: int | None, limit: int, records: int) -> Facts:
    log = next((log for log in opened.logs.values() if log.name == name), None)
    if log is None:
        raise click.ClickException(
            f"There is no partition {name}; run 'trivium inspect {opened.path}' to see them."
        )
    start = log.log_start_offset if offset is None else offset
    if not log.log_start_offset <= start <= log.log_end_offset:
        raise click.ClickException(
            f"{name} has no offset {start}: choose --from between {log.log_start_offset} "
            f"and its end, {log.log_end_offset}."
        )
    return {
        "partition": name,
        "segments": list(_segments(log)),
        "batches": _sound(_batches(log, start), limit),
        "records": _sound(_records(log, start), records),
        "notes": [] if log.corruption is None else [str(log.corruption)],
    }


def _sound(rows: Iterator[_Row], limit: int) -> list[_Row]:
    """The first rows, or those before the damage: the log remembers it, and the notes say where it begins."""
    found: list[_Row] = []
    try:
        for row in islice(rows, limit):
            found.append(row)
    except Corrupt:
        pass
    return found


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
                headers = {printable(name): _text(value) for name, value in record.headers}
                yield RecordRow(
                    record.offset, record.timestamp, _text(record.key), _text(record.value), headers
                )


def _text(data: bytes | None) -> str | None:
    """Bytes as a person reads them: text where they are text, escapes where they are not."""
    return None if data is None else printable(data.decode("utf-8", "backslashreplace"))


# -- tables ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _DirectoryLine:
    """Of a partition's row what is shown in a list of all, by short names."""

    partition: str
    start: int
    end: int
    stable: int
    segments: int
    bytes: int
    producers: int


def show_directory(console: Console, facts: Facts) -> None:
    state = (
        "stopped cleanly"
        if facts["clean_shutdown"]
        else "in use, or not stopped cleanly: shown as recovery would leave it"
    )
    console.print(
        f"[bold]{escape(facts['directory'])}[/bold]  "
        f"cluster {escape(facts['cluster_id'])}, node {facts['node_id']}, {state}"
    )
    lines = [
        _DirectoryLine(
            shortened(row.name),
            row.log_start_offset,
            row.log_end_offset,
            row.last_stable_offset,
            row.segments,
            row.size_bytes,
            row.producers,
        )
        for row in facts["partitions"]
    ]
    if lines:
        show_rows(console, "partitions", lines)
    else:
        console.print("It has no partitions yet.")
    _show_notes(console, facts["notes"])
    for row in facts["partitions"]:
        _show_notes(console, [f"{shortened(row.name)}: {note}" for note in row.notes])


def show_partition(console: Console, facts: Facts) -> None:
    console.print(f"[bold]{facts['partition']}[/bold]")
    for title in ("segments", "batches", "records"):
        if facts[title]:
            show_rows(console, title, facts[title])
    _show_notes(console, facts["notes"])


def _show_notes(console: Console, notes: Sequence[str]) -> None:
    for note in notes:
        console.print(f"- {escape(note)}", highlight=False)
