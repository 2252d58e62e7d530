"""Looking after a table that flows write: what is in it, small files into large ones, and what nobody reads.

``describe`` says what a table holds and up to which offsets; ``compact`` and ``expire`` change nothing that a
reader of its newest state can see, and may be done while flows write.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

from trivium.pipeline.table import Table, TableFormat

if TYPE_CHECKING:
    import pyarrow as pa

TARGET_BYTES: Final = 128 << 20
"""Of a file after compaction: large enough to read in one go, small enough for one task."""


@dataclass(frozen=True, slots=True)
class WriterStanding:
    """The last batch of one query, as the table remembers it."""

    flow: str
    query: str
    batch: int
    offsets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Up to where each partition is covered (exclusive), by topic; of a replay, by query and batch."""


@dataclass(frozen=True, slots=True)
class Commit:
    version: str
    """A number of Delta, a snapshot of Iceberg; of a folder the name of the last batch."""

    timestamp_ms: int
    operation: str


@dataclass(frozen=True, slots=True)
class Description:
    format: TableFormat
    location: str
    schema: "pa.Schema"
    partition_by: tuple[str, ...]
    file_sizes: tuple[int, ...]
    """In bytes, of each file that a reader of the newest state opens."""

    rows: int | None
    writers: tuple[WriterStanding, ...]
    last_commit: Commit | None


@dataclass(frozen=True, slots=True)
class Compaction:
    files_before: int
    files_after: int


@dataclass(frozen=True, slots=True)
class Expiry:
    snapshots: int
    """Older states that cannot be read any more."""

    files: int
    """Files that are gone: of older states, and of attempts that failed."""


class TableCare(Protocol):
    def describe(self) -> Description | None:
        """None where there is no such table."""

    def compact(self, target_bytes: int = TARGET_BYTES, *, only_look: bool = False) -> Compaction:
        """Files much smaller than the target become fewer."""

    def expire(self, before: datetime, *, only_look: bool = False) -> Expiry:
        """What no reader of a younger state needs, and what was never part of one."""


def open_care(table: Table) -> TableCare:
    if table.format is TableFormat.ICEBERG:
        from trivium.spark.tables.iceberg_care import IcebergCare

        return IcebergCare(table)
    if table.format is TableFormat.DELTA:
        from trivium.spark.tables.delta_care import DeltaCare

        return DeltaCare(table)
    from trivium.spark.tables.parquet_care import ParquetCare

    return ParquetCare(table)


def small_files(sizes: Mapping[str, int], target_bytes: int) -> list[list[str]]:
    """Groups of files that become one each: small ones, together not larger than the target."""
    groups: list[list[str]] = []
    filled = target_bytes
    for name, size in sorted(sizes.items(), key=lambda each: (each[1], each[0])):
        if size > target_bytes // 2:
            break
        if filled + size > target_bytes:
            groups.append([])
            filled = 0
        groups[-1].append(name)
        filled += size
    return [group for group in groups if len(group) > 1]


def covered(offsets: Any) -> dict[str, dict[str, int]]:
    """The offsets of a batch, of all its sources together."""
    found: dict[str, dict[str, int]] = {}
    for source in offsets if isinstance(offsets, list) else ():
        for topic, partitions in source.items():
            found.setdefault(topic, {}).update(partitions)
    return found
