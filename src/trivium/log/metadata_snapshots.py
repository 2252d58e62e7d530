"""Snapshots of the metadata log: each sums up the log before it, so that the log need not be kept for ever.

::

    00000000000000000422-0000000002.checkpoint      everything before offset 422, last written in epoch 2

A snapshot gets its name when it is whole and durable (``whole_file``). What it sums up must be durable
before: a log that ends before its snapshot has lost records. Removing goes from the oldest on, and never
takes the newest. What the records mean is the caller's matter, except the two control records of Raft
that say who the voters are: a snapshot that left them out would take a quorum's constitution away.
"""

from collections.abc import Iterable, Iterator, Sequence

from trivium.log import whole_file
from trivium.log.files import Files
from trivium.log.names import MetadataSnapshot, metadata_snapshot, parse_metadata_snapshot
from trivium.messages.stored.control_records import (
    ControlRecordType,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    decode_control_key,
    encode_control_key,
    encode_control_value,
)
from trivium.records.batch import build_batch
from trivium.records.record import Record
from trivium.wire.errors import DecodeError

BATCH_BYTES = 1 << 20
"""Values are put into batches of about this size; Kafka reads none above 8 MiB."""

_KEPT = (ControlRecordType.KRAFT_VERSION, ControlRecordType.KRAFT_VOTERS)


def quorum_records(controls: Iterable[Record]) -> list[Record]:
    """Of all control records of a metadata log, those that a snapshot has to repeat: the last of each."""
    last: dict[ControlRecordType, Record] = {}
    for record in controls:
        try:
            kind = decode_control_key(record.key or b"")
        except DecodeError:
            # Of a newer Kafka. It is skipped by every reader that does not know it.
            continue
        if kind in _KEPT:
            last[kind] = record
    return [last[kind] for kind in _KEPT if kind in last]


def write_snapshot(
    files: Files,
    directory: str,
    snapshot: MetadataSnapshot,
    values: Iterable[bytes],
    *,
    quorum: Sequence[Record],
    now_ms: int,
) -> None:
    """Write a snapshot into the metadata log's directory; durable when this returns."""
    content = bytearray()
    header = SnapshotHeaderRecord(version=0, last_contained_log_timestamp=now_ms)
    controls = [_control(ControlRecordType.SNAPSHOT_HEADER, header, now_ms), *quorum]
    content += build_batch(controls, leader_epoch=snapshot.epoch, control=True)
    offset = len(controls)
    for batch in _batches(values, now_ms):
        content += build_batch(batch, base_offset=offset, leader_epoch=snapshot.epoch)
        offset += len(batch)
    footer = _control(ControlRecordType.SNAPSHOT_FOOTER, SnapshotFooterRecord(version=0), now_ms)
    content += build_batch([footer], base_offset=offset, leader_epoch=snapshot.epoch, control=True)
    whole_file.replace(files, f"{directory}/{metadata_snapshot(*snapshot)}", content)


def _control(
    kind: ControlRecordType, message: SnapshotHeaderRecord | SnapshotFooterRecord, now_ms: int
) -> Record:
    return Record(0, now_ms, encode_control_key(kind), encode_control_value(message, 0))


def _batches(values: Iterable[bytes], now_ms: int) -> Iterator[list[Record]]:
    batch: list[Record] = []
    size_bytes = 0
    for value in values:
        batch.append(Record(len(batch), now_ms, None, value))
        size_bytes += len(value)
        if size_bytes >= BATCH_BYTES:
            yield batch
            batch, size_bytes = [], 0
    if batch:
        yield batch


def list_snapshots(files: Files, directory: str) -> list[MetadataSnapshot]:
    """Those in the metadata log's directory, oldest first."""
    return sorted(found for name in files.list(directory) if (found := parse_metadata_snapshot(name)))


def snapshot_bytes(files: Files, directory: str, snapshot: MetadataSnapshot) -> int:
    return files.size(f"{directory}/{metadata_snapshot(*snapshot)}")


def remove_snapshots(files: Files, directory: str, snapshots: Sequence[MetadataSnapshot]) -> None:
    """Take these away, durably."""
    for snapshot in snapshots:
        files.remove(f"{directory}/{metadata_snapshot(*snapshot)}")
    if snapshots:
        files.sync_directory(directory)
