"""Iceberg tables, looked after by ``pyiceberg``: files of one partition are read and written as one, and take
their place in a commit that knows which files it replaces."""

import json
import os
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from trivium.pipeline.sink import TableSink
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
    small_files,
)
from trivium.spark.tables.data_files import file_system
from trivium.spark.tables.errors import TableError
from trivium.spark.tables.iceberg import COMMIT_ATTEMPTS_MAX, OFFSETS, IcebergStore

if TYPE_CHECKING:
    from pyiceberg.table import FileScanTask
    from pyiceberg.table import Table as IcebergTable


class IcebergCare:
    def __init__(self, table: Table) -> None:
        self._name = str(table)
        self._store: Final = IcebergStore(TableSink(table))

    def describe(self) -> Description | None:
        table = self._store.open()
        if table is None:
            return None
        files = table.inspect.files()
        snapshot = table.current_snapshot()
        fields = table.spec().fields
        return Description(
            TableFormat.ICEBERG,
            self._name,
            table.schema().as_arrow(),
            tuple(table.schema().find_column_name(field.source_id) or field.name for field in fields),
            tuple(files.column("file_size_in_bytes").to_pylist()),
            sum(files.column("record_count").to_pylist()),
            _writers(table),
            None
            if snapshot is None
            else Commit(
                str(snapshot.snapshot_id),
                snapshot.timestamp_ms,
                snapshot.summary.operation.value if snapshot.summary else "",
            ),
        )

    def compact(self, target_bytes: int = TARGET_BYTES, *, only_look: bool = False) -> Compaction:
        from pyiceberg.exceptions import CommitFailedException, ValidationException

        for _ in range(COMMIT_ATTEMPTS_MAX):
            table = self._existing()
            tasks = {task.file.file_path: task for task in table.scan().plan_files()}
            groups = _groups(tasks, target_bytes)
            after = len(tasks) - sum(len(group) - 1 for group in groups)
            if groups and not only_look:
                try:
                    _rewrite(table, groups)
                except (CommitFailedException, ValidationException):
                    continue  # Somebody else was faster: the files may be others now.
            return Compaction(len(tasks), after)
        raise TableError(f"The table {self._name} is changed by others all the time; try again later.")

    def expire(self, before: datetime, *, only_look: bool = False) -> Expiry:
        table = self._existing()
        held = {reference.snapshot_id for reference in table.metadata.refs.values()}
        """By branches, of which one is the table as it is now, and tags."""
        old = [
            snapshot
            for snapshot in table.snapshots()
            if snapshot.timestamp_ms < before.timestamp() * 1000 and snapshot.snapshot_id not in held
        ]
        if old and not only_look:
            table.maintenance.expire_snapshots().by_ids([each.snapshot_id for each in old]).commit()
            table = self._existing()
        kept = [each.snapshot_id for each in table.snapshots() if each not in old]
        return Expiry(len(old), _remove_unnamed(table, kept, before, only_look=only_look))

    def _existing(self) -> "IcebergTable":
        table = self._store.open()
        if table is None:
            raise TableError(f"There is no Iceberg table {self._name}; correct the path, or its name.")
        return table


def _groups(tasks: "dict[str, FileScanTask]", target_bytes: int) -> "list[list[FileScanTask]]":
    """Small files of one partition. Files with rows that are marked as deleted are left as they are."""
    sizes: dict[tuple[int, str], dict[str, int]] = {}
    for path, task in tasks.items():
        if not task.delete_files:
            partition = (task.file.spec_id, str(task.file.partition))
            sizes.setdefault(partition, {})[path] = task.file.file_size_in_bytes
    return [
        [tasks[path] for path in group]
        for partition in sizes.values()
        for group in small_files(partition, target_bytes)
    ]


def _rewrite(table: "IcebergTable", groups: "list[list[FileScanTask]]") -> None:
    from pyiceberg.expressions import AlwaysTrue
    from pyiceberg.io.pyarrow import ArrowScan, _dataframe_to_data_files

    scan = ArrowScan(table.metadata, table.io, table.schema(), AlwaysTrue())
    with table.transaction() as transaction:
        update = transaction.update_snapshot(snapshot_properties={f"{MARKER}.operation": "compact"})
        with update.overwrite() as overwrite:
            for group in groups:
                for task in group:
                    overwrite.delete_data_file(task.file)
                for file in _dataframe_to_data_files(table.metadata, scan.to_table(group), table.io):
                    overwrite.append_data_file(file)


def _remove_unnamed(table: "IcebergTable", kept: list[int], before: datetime, *, only_look: bool) -> int:
    """Data files that no kept snapshot names, and old enough to belong to no batch at work."""
    from pyarrow.fs import FileSelector, FileType, LocalFileSystem

    filesystem, folder = file_system(f"{table.location()}/data")
    known_as = _real_path if isinstance(filesystem, LocalFileSystem) else partial(_tail, folder)
    named = {
        known_as(path)
        for snapshot_id in kept
        for path in table.inspect.files(snapshot_id).column("file_path").to_pylist()
    }
    infos = filesystem.get_file_info(FileSelector(folder, allow_not_found=True, recursive=True))
    unnamed = [
        info.path
        for info in infos
        if info.type is FileType.File and info.mtime < before and known_as(info.path) not in named
    ]
    for path in unnamed if not only_look else ():
        with suppress(FileNotFoundError):
            filesystem.delete_file(path)
    return len(unnamed)


def _real_path(path: str) -> str:
    """A path may have been written through ``..`` or a link, and be listed without."""
    return os.path.realpath(path.removeprefix("file://").removeprefix("file:"))


def _tail(folder: str, path: str) -> str:
    """Below the folder, however the folder is written before it."""
    _, found, tail = path.rpartition(f"{folder.rstrip('/')}/")
    if not found:
        raise TableError(f"The table names {path}, outside of {folder}: what else it needs cannot be told.")
    return tail


def _writers(table: "IcebergTable") -> tuple[WriterStanding, ...]:
    properties: Any = table.properties
    found = []
    for name, number in properties.items():
        if name.startswith(f"{MARKER}."):
            flow, _, query = name.removeprefix(f"{MARKER}.").rpartition(".")
            offsets = covered(json.loads(properties.get(f"{OFFSETS}{name}", "[]")))
            found.append(WriterStanding(flow, query, int(number), offsets))
    return tuple(found)
