"""Delta tables, looked after by ``deltalake``.

What each query has written last stands in the commits of the log. A log is shortened in time, so whoever
compacts or expires writes into that commit what it knows of all writers (``trivium.writers``).
"""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from trivium.pipeline.table import Table, TableFormat
from trivium.spark.tables.batch import MARKER
from trivium.spark.tables.care import (
    TARGET_BYTES,
    Commit,
    Compaction,
    Description,
    Expiry,
    WriterStanding,
    covered,
)
from trivium.spark.tables.data_files import file_system
from trivium.spark.tables.errors import TableError
from trivium.spark.tables.finding import refuse_tables_below

if TYPE_CHECKING:
    from deltalake import CommitProperties, DeltaTable

WRITERS: Final = f"{MARKER}.writers"
ATTEMPTS_MAX: Final = 10
"""Against flows that change the files that are being rewritten; each looks at the table anew."""


class DeltaCare:
    def __init__(self, table: Table) -> None:
        self._path = table.path or ""

    def describe(self) -> Description | None:
        import pyarrow as pa

        table = self._open()
        if table is None:
            return None
        actions = pa.table(table.get_add_actions(flatten=True))
        counts = (
            actions.column("num_records").to_pylist() if "num_records" in actions.column_names else [None]
        )
        history = table.history()
        last = history[0]
        return Description(
            TableFormat.DELTA,
            self._path,
            pa.schema(table.schema().to_arrow()),
            tuple(table.metadata().partition_columns),
            tuple(actions.column("size_bytes").to_pylist()),
            None if any(count is None for count in counts) else sum(counts),
            tuple(writers_in(history).values()),
            Commit(str(last["version"]), int(last["timestamp"]), str(last["operation"])),
        )

    def compact(self, target_bytes: int = TARGET_BYTES, *, only_look: bool = False) -> Compaction:
        from deltalake.exceptions import CommitFailedError

        for _ in range(ATTEMPTS_MAX):
            table = self._existing()
            before = len(table.file_uris())
            if only_look:
                return Compaction(before, _files_after(table, target_bytes))
            try:
                table.optimize.compact(target_size=target_bytes, commit_properties=_properties(table))
            except CommitFailedError:
                continue
            return Compaction(before, len(self._existing().file_uris()))
        raise TableError(f"The table {self._path} is changed by others all the time; try again later.")

    def expire(self, before: datetime, *, only_look: bool = False) -> Expiry:
        table = self._existing()
        refuse_tables_below(self._path)
        hours = max(0, math.ceil((datetime.now(UTC) - before).total_seconds() / 3600))
        # The caller has set the least that is safe; ``full`` finds what failed attempts have left, too.
        listed = table.vacuum(hours, dry_run=True, enforce_retention_duration=False, full=True)
        there = _existing_files(self._path, listed)
        old = [entry for entry in table.history()[1:] if entry["timestamp"] < before.timestamp() * 1000]
        if there and not only_look:
            table.vacuum(
                hours,
                dry_run=False,
                enforce_retention_duration=False,
                full=True,
                commit_properties=_properties(table),
            )
        return Expiry(len(old) if there else 0, there)

    def _open(self) -> "DeltaTable | None":
        from deltalake import DeltaTable

        return DeltaTable(self._path) if DeltaTable.is_deltatable(self._path) else None

    def _existing(self) -> "DeltaTable":
        table = self._open()
        if table is None:
            raise TableError(f"There is no Delta table at {self._path}; correct the path.")
        return table


def writers_in(history: list[dict[str, Any]]) -> dict[str, WriterStanding]:
    """By ``Batch.writer``, from what commits say, the newest first."""
    found: dict[str, WriterStanding] = {}
    for entry in history:
        for said in (entry, *json.loads(entry.get(WRITERS) or "[]")):
            flow, query = said.get(f"{MARKER}.flow"), said.get(f"{MARKER}.query")
            if flow is None or query is None:
                continue
            offsets = covered(json.loads(said.get(f"{MARKER}.offsets") or "[]"))
            standing = WriterStanding(flow, query, int(said.get(f"{MARKER}.batch", -1)), offsets)
            found.setdefault(f"{MARKER}.{flow}.{query}", standing)
    return found


def _properties(table: "DeltaTable") -> "CommitProperties":
    from deltalake import CommitProperties

    said = [_said(each) for each in writers_in(table.history()).values()]
    return CommitProperties(custom_metadata={WRITERS: json.dumps(said)})


def _said(writer: WriterStanding) -> Mapping[str, str]:
    return {
        f"{MARKER}.flow": writer.flow,
        f"{MARKER}.query": writer.query,
        f"{MARKER}.batch": str(writer.batch),
        f"{MARKER}.offsets": json.dumps([writer.offsets]),
    }


def _existing_files(folder: str, paths: list[str]) -> int:
    """How many of them are there: Delta names what it has removed for as long as its log remembers it."""
    from pyarrow.fs import FileType

    filesystem, whole = file_system(folder)
    infos = filesystem.get_file_info([f"{whole}/{unquote(path)}" for path in paths])
    return sum(info.type is FileType.File for info in infos)


def _files_after(table: "DeltaTable", target_bytes: int) -> int:
    """As many as there would be, about: deltalake does not say it beforehand."""
    import pyarrow as pa

    actions = pa.table(table.get_add_actions(flatten=True))
    names = [f"partition.{name}" for name in table.metadata().partition_columns]
    sizes: dict[tuple[Any, ...], list[int]] = {}
    for row in actions.to_pylist():
        sizes.setdefault(tuple(row.get(name) for name in names), []).append(row["size_bytes"])
    return sum(min(len(each), -(-sum(each) // target_bytes)) for each in sizes.values())
