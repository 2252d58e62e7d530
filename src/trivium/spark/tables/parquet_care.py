"""Folders of Parquet files, looked after without a log that could tell readers what is valid when.

A compaction writes large files beside the table, then a note of which files they replace, and only then
removes the small ones and moves the large ones in: a reader at that moment may miss rows, and never sees one
twice. Broken off, it is finished by the next compaction or batch (``ParquetStore.finish_replacing``).
"""

import json
import time
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from trivium.pipeline.sink import TableSink
from trivium.pipeline.table import Table, TableFormat
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
from trivium.spark.tables.data_files import DataFileWriter, Layout, file_system
from trivium.spark.tables.errors import TableError
from trivium.spark.tables.finding import refuse_tables_below
from trivium.spark.tables.parquet import STAGED, ParquetStore

if TYPE_CHECKING:
    import pyarrow as pa

LOCK_S: Final = 6 * 3600
"""After that a compaction that has not ended is taken for dead."""


class ParquetCare:
    def __init__(self, table: Table) -> None:
        self._path = (table.path or "").rstrip("/")
        self._store = ParquetStore(TableSink(table), self._path)

    def describe(self) -> Description | None:
        from pyarrow import parquet

        files = self._store.files()
        if not files:
            return None
        filesystem, folder = file_system(self._path)
        infos = filesystem.get_file_info([f"{folder}/{path}" for path in files])
        rows = [parquet.read_metadata(info.path, filesystem=filesystem).num_rows for info in infos]
        writers = [
            WriterStanding(
                book.get("flow", ""),
                book.get("query_id", ""),
                book["number"],
                covered(json.loads(book.get("offsets", "[]"))),
            )
            for book in self._store.books()
        ]
        youngest = max(infos, key=lambda info: info.mtime)
        last = youngest.path.rpartition("/")[2]
        return Description(
            TableFormat.PARQUET,
            self._path,
            self._store.schema(),
            _partition_by(files[0]),
            tuple(info.size for info in infos),
            sum(rows),
            tuple(writers),
            Commit(last, int(youngest.mtime.timestamp() * 1000), "append"),
        )

    def compact(self, target_bytes: int = TARGET_BYTES, *, only_look: bool = False) -> Compaction:
        if not self._store.files():
            raise TableError(f"There are no Parquet files in {self._path}; correct the path.")
        refuse_tables_below(self._path)
        if only_look:
            return self._compacted(target_bytes, only_look=True)
        self._lock()
        try:
            self._store.finish_replacing()
            return self._compacted(target_bytes, only_look=False)
        finally:
            self._store.remove_note("compacting")

    def _compacted(self, target_bytes: int, *, only_look: bool) -> Compaction:
        filesystem, folder = file_system(self._path)
        files = self._store.files()
        infos = filesystem.get_file_info([f"{folder}/{path}" for path in files])
        sizes: dict[str, dict[str, int]] = {}
        for path, info in zip(files, infos, strict=True):
            sizes.setdefault(path.rpartition("/")[0], {})[path] = info.size
        groups = [group for each in sizes.values() for group in small_files(each, target_bytes)]
        after = len(files) - sum(len(group) - 1 for group in groups)
        for group in groups if not only_look else ():
            self._store.replace(group, self._merged(group))
        return Compaction(len(files), after)

    def expire(self, before: datetime, *, only_look: bool = False) -> Expiry:
        """What failed attempts have left: staged, old, and in the book of no writer."""
        from pyarrow.fs import FileSelector, FileType

        filesystem, folder = file_system(self._path)
        staged = f"{folder}/{STAGED}"
        named = {path for book in self._store.books() for path in book["files"]}
        replacing = self._store.read_note("replacing")
        if replacing is not None:  # Broken off: the file may be all that is left of those it replaces.
            named.add(replacing["new"])
        infos = filesystem.get_file_info(FileSelector(staged, allow_not_found=True, recursive=True))
        left = [
            info.path
            for info in infos
            if info.type is FileType.File
            and info.mtime < before
            and info.path.removeprefix(f"{staged}/") not in named
        ]
        for path in left if not only_look else ():
            filesystem.delete_file(path)
        return Expiry(0, len(left))

    def _merged(self, group: Sequence[str]) -> str:
        """The rows of several files of one folder in one, staged; its path as a table has it."""
        from pyarrow import parquet

        filesystem, folder = file_system(self._path)
        inside = group[0].rpartition("/")[0]
        writer = DataFileWriter(Layout("/".join(filter(None, (self._path, STAGED, inside)))))
        schema = self._store.schema_of_files(group)
        for path in group:
            for batch in parquet.ParquetFile(f"{folder}/{path}", filesystem=filesystem).iter_batches():
                writer.write(_widened(batch, schema))
        (merged,) = writer.close()
        return "/".join(filter(None, (inside, merged.path)))

    def _lock(self) -> None:
        begun = self._store.read_note("compacting")
        if begun is not None and time.time() - float(begun["begun_s"]) < LOCK_S:
            raise TableError(
                f"{self._path} is being compacted. If that process is dead, remove _trivium/compacting.json "
                "in that folder."
            )
        self._store.write_note("compacting", {"begun_s": time.time()})


def _partition_by(path: str) -> tuple[str, ...]:
    return tuple(folder.partition("=")[0] for folder in path.split("/")[:-1])


def _widened(batch: "pa.RecordBatch", schema: "pa.Schema") -> "pa.RecordBatch":
    """With NULL in columns that the file did not have yet."""
    import pyarrow as pa

    columns = [
        batch.column(field.name) if field.name in batch.schema.names else pa.nulls(batch.num_rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
