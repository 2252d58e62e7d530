"""A folder of Parquet files that any reader takes as a table, each batch in it once.

    lake/orders/day=2025-01-01/part-….parquet    what is committed
    lake/orders/_trivium/staged/part-….parquet   what tasks have written, and no commit has named yet
    lake/orders/_trivium/<writer>.json           the last batch of each writer, with its files

Readers of folders pass over names that begin with ``_``. A commit writes the JSON, whole or not at all, and
then moves the files: a batch that is run again after a crash finds its number there, and moves the files that
the first run named. Until that is done a reader may see some files of a batch and not the others; never any
of them twice.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from trivium.pipeline.sink import TableSink
from trivium.spark.tables.batch import Batch
from trivium.spark.tables.data_files import DataFile, Layout, file_system
from trivium.spark.tables.errors import TableError
from trivium.spark.tables.matching import check_fit

if TYPE_CHECKING:
    import pyarrow as pa

_BOOKS: Final = "_trivium"
_STAGED: Final = f"{_BOOKS}/staged"


class ParquetStore:
    def __init__(self, sink: TableSink, path: str) -> None:
        self._path = path.rstrip("/")
        self._partition_by = sink.partition_by
        self.layout: Final = Layout(f"{self._path}/{_STAGED}", sink.partition_by, has_folders=True)

    def check(self, schema: "pa.Schema") -> None:
        """Against the columns that are in files; those of partitions are in the names of folders."""
        there = self._columns()
        if there is not None:
            own = [field for field in schema if field.name not in self._partition_by]
            check_fit(self._path, there, _schema(own))

    def writers(self) -> set[str]:
        return {path.rpartition("/")[2].removesuffix(".json") for path in self._books()}

    def append(self, batch: Batch, schema: "pa.Schema", files: Sequence[DataFile]) -> None:
        done = self._last(batch)
        if done is None or done["number"] < batch.number:
            self.check(schema)
            done = {**asdict(batch), "files": [file.path for file in files]}
            self._write_whole(f"{_BOOKS}/{batch.writer}.json", json.dumps(done).encode())
        if done["number"] == batch.number:
            self._move(done["files"])

    def upsert(self, batch: Batch, rows: "pa.Table", key: Sequence[str]) -> None:
        raise TableError("Parquet files cannot be changed by key; use delta or iceberg, or append.")

    def read(self) -> "pa.Table":
        import pyarrow as pa
        from pyarrow import dataset

        filesystem, folder = file_system(self._path)
        if self._columns() is None:
            return pa.table({})
        return dataset.dataset(
            folder, filesystem=filesystem, format="parquet", partitioning="hive"
        ).to_table()

    # -- files -----------------------------------------------------------------------------------

    def _move(self, paths: Sequence[str]) -> None:
        """From where tasks wrote them to where readers look; what is moved already stays."""
        from pyarrow.fs import FileType

        filesystem, folder = file_system(self._path)
        for path in paths:
            staged = f"{folder}/{_STAGED}/{path}"
            if filesystem.get_file_info(staged).type is FileType.NotFound:
                continue
            filesystem.create_dir(f"{folder}/{path}".rpartition("/")[0], recursive=True)
            filesystem.move(staged, f"{folder}/{path}")

    def _last(self, batch: Batch) -> dict[str, Any] | None:
        from pyarrow.fs import FileType

        filesystem, folder = file_system(self._path)
        path = f"{folder}/{_BOOKS}/{batch.writer}.json"
        if filesystem.get_file_info(path).type is FileType.NotFound:
            return None
        with filesystem.open_input_file(path) as file:
            book: dict[str, Any] = json.loads(file.readall())
        return book

    def _write_whole(self, name: str, data: bytes) -> None:
        filesystem, folder = file_system(self._path)
        filesystem.create_dir(f"{folder}/{_BOOKS}", recursive=True)
        with filesystem.open_output_stream(f"{folder}/{name}.new") as file:
            file.write(data)
        filesystem.move(f"{folder}/{name}.new", f"{folder}/{name}")

    def _books(self) -> list[str]:
        from pyarrow.fs import FileSelector

        filesystem, folder = file_system(self._path)
        found = filesystem.get_file_info(FileSelector(f"{folder}/{_BOOKS}", allow_not_found=True))
        return [info.path for info in found if info.path.endswith(".json")]

    def _columns(self) -> "pa.Schema | None":
        """Of any file that is there: all have the same."""
        from pyarrow import parquet
        from pyarrow.fs import FileSelector

        filesystem, folder = file_system(self._path)
        for info in filesystem.get_file_info(FileSelector(folder, allow_not_found=True, recursive=True)):
            below = info.path.removeprefix(f"{folder}/")
            if below.endswith(".parquet") and not below.startswith("_"):
                return parquet.read_schema(info.path, filesystem=filesystem)
        return None


def _schema(fields: "list[pa.Field]") -> "pa.Schema":
    import pyarrow as pa

    return pa.schema(fields)
