"""Reading ``__cluster_metadata-0``: the newest snapshot, and the log after it.

A snapshot is a file of batches like a segment, framed by two control records::

    SNAPSHOT_HEADER | records that make the state as of the offset in the file's name | SNAPSHOT_FOOTER

What the records mean is the reader's matter; here they are values in their order, control records left
out. Nothing is changed on disk: a torn tail is cut in memory only, so a directory can be asked for its
settings before it is opened, and one that belongs to somebody else at any time.

In a quorum of several nodes the tail of a log may be one that the others never agreed to. A single node
agrees with itself, and that is the only quorum Trivium is.
"""

from collections.abc import Iterator
from typing import NamedTuple

from trivium.log.faults import Corrupt
from trivium.log.files import Files
from trivium.log.health import Health
from trivium.log.names import (
    CLEAN_SHUTDOWN,
    METADATA_TOPIC,
    MetadataSnapshot,
    metadata_snapshot,
    newest_metadata_snapshot,
    partition_directory,
)
from trivium.log.opening import Known, open_log
from trivium.log.overlay import OverlayFiles
from trivium.log.partition_log import PartitionLog
from trivium.log.scan import Damage, Found, scan
from trivium.log.settings import LogSettings
from trivium.records.batch import iter_records
from trivium.records.control import ControlType, read_control_type
from trivium.records.record import Record
from trivium.wire.errors import DecodeError

METADATA_DIRECTORY = partition_directory(METADATA_TOPIC, 0)


class MetadataEntry(NamedTuple):
    """The value of one record, and the place that a complaint about it should name."""

    place: str
    value: bytes


def has_metadata_log(files: Files, path: str) -> bool:
    """Whether this log directory is the one, of all that a node has, with the metadata in it."""
    return files.is_directory(f"{path}/{METADATA_DIRECTORY}")


def read_metadata_log(
    files: Files, path: str, *, now_ms: int, controls: list[Record] | None = None
) -> Iterator[MetadataEntry]:
    """Every value that makes up the metadata in the log directory ``path``, oldest first.

    ``controls`` is given the control records on the way. ``Corrupt`` where something is damaged or missing:
    half a picture of the cluster is none.
    """
    controls = [] if controls is None else controls
    unchanged = OverlayFiles(files)
    directory = f"{path}/{METADATA_DIRECTORY}"
    snapshot = newest_metadata_snapshot(unchanged.list(directory))
    offset = 0
    if snapshot is not None:
        offset = snapshot.offset
        yield from _read_snapshot(unchanged, directory, snapshot, controls)
    # What a snapshot sums up was durable before the snapshot was made: damage to it is no torn tail.
    known = Known(clean=unchanged.exists(f"{path}/{CLEAN_SHUTDOWN}"), recovery_point=offset)
    log, _ = open_log(
        unchanged,
        directory,
        METADATA_DIRECTORY,
        settings=LogSettings(),
        health=Health(path),
        known=known,
        now_ms=now_ms,
    )
    try:
        yield from _read_log(log, offset, controls)
    finally:
        for segment in log.segments:
            segment.retire()


def _read_snapshot(
    files: Files, directory: str, snapshot: MetadataSnapshot, controls: list[Record]
) -> Iterator[MetadataEntry]:
    name = metadata_snapshot(*snapshot)
    file = files.open_to_read(f"{directory}/{name}")
    ends = []
    try:
        for found in scan(file, 0, file.size(), offset_start=0, offset_end=None):
            if found.header.is_control:
                records = list(iter_records(found.data))
                controls += records
                ends += [read_control_type(record.key) for record in records]
            else:
                yield from _values(found, name, 0)
    except (Damage, DecodeError) as error:
        raise Corrupt(METADATA_DIRECTORY, 0, f"{name}: {error}") from error
    finally:
        file.close()
    # A snapshot gets its name when it is whole; without both ends it is not the file that was named.
    if ends[:1] != [ControlType.SNAPSHOT_HEADER] or ends[-1:] != [ControlType.SNAPSHOT_FOOTER]:
        raise Corrupt(METADATA_DIRECTORY, 0, f"{name} is not framed as a snapshot")


def _read_log(log: PartitionLog, offset: int, controls: list[Record]) -> Iterator[MetadataEntry]:
    if log.corruption is not None:
        raise log.corruption
    if log.log_start_offset > offset:
        raise Corrupt(log.name, offset, f"the records up to {log.log_start_offset - 1} are missing")
    for found in log.batches(offset):
        try:
            if found.header.is_control:
                controls += iter_records(found.data)
            else:
                yield from _values(found, f"offset {found.header.base_offset}", offset)
        except DecodeError as error:
            raise Corrupt(log.name, found.header.base_offset, str(error)) from error


def _values(found: Found, place: str, offset: int) -> Iterator[MetadataEntry]:
    for record in iter_records(found.data):
        if record.offset < offset:
            continue
        if record.value is None:
            raise DecodeError(f"the record at offset {record.offset} has no value")
        yield MetadataEntry(place, record.value)
