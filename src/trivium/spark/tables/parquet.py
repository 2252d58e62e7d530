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
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from trivium.pipeline.sink import TableSink
from trivium.spark.tables.batch import MARKER, Batch
from trivium.spark.tables.data_files import DataFile, Layout, file_system
from trivium.spark.tables.errors import TableError
from trivium.spark.tables.matching import check_fit, missing, widened

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.dataset import Dataset

BOOKS: Final = "_trivium"
STAGED: Final = f"{BOOKS}/staged"


class ParquetStore:
    def __init__(self, sink: TableSink, path: str) -> None:
        self._path = path.rstrip("/")
        self._partition_by = sink.partition_by
        self.layout: Final = Layout(f"{self._path}/{STAGED}", sink.partition_by, has_folders=True)

    def check(self, schema: "pa.Schema") -> None:
        """Against the columns that are in files; those of partitions are in the names of folders."""
        there = self._columns()
        if there is not None:
            own = [field for field in schema if field.name not in self._partition_by]
            check_fit(self._path, there, _schema(own))

    def read_schema(self) -> "pa.Schema | None":
        return self.schema() if self.files() else None

    def widen(self, schema: "pa.Schema") -> None:
        """Files may differ in their columns; which there are altogether is noted."""
        there = self._columns()
        own = _schema([field for field in schema if field.name not in self._partition_by])
        if there is not None and missing(there, own):
            whole = widened(there.remove_metadata(), own)
            self.write_note("columns", {"schema": whole.serialize().to_pybytes().hex()})

    def writers(self) -> set[str]:
        return {path.rpartition("/")[2].removesuffix(".json") for path in self._books()}

    def append(self, batch: Batch, schema: "pa.Schema", files: Sequence[DataFile]) -> None:
        self.finish_replacing()
        done = self.read_note(batch.writer)
        if done is None or done["number"] < batch.number:
            self.check(schema)
            done = {**asdict(batch), "files": [file.path for file in files]}
            self.write_note(batch.writer, done)
        if done["number"] == batch.number:
            self._move(done["files"])

    def upsert(self, batch: Batch, rows: "pa.Table", key: Sequence[str]) -> None:
        raise TableError("Parquet files cannot be changed by key; use delta or iceberg, or append.")

    def read(self) -> "pa.Table":
        return self._rows_of(self.files())

    def read_whole_batches(self) -> "pa.Table":
        """Without files of a batch whose others are still to be moved."""
        waiting = [set(book["files"]) for book in map(self._book, self._books()) if self._is_unmoved(book)]
        return self._rows_of([path for path in self.files() if not any(path in each for each in waiting)])

    def files(self) -> list[str]:
        """What readers of the folder see, below it."""
        from pyarrow.fs import FileSelector

        filesystem, folder = file_system(self._path)
        infos = filesystem.get_file_info(FileSelector(folder, allow_not_found=True, recursive=True))
        below = (info.path.removeprefix(f"{folder}/") for info in infos)
        return sorted(path for path in below if path.endswith(".parquet") and not _is_hidden(path))

    def books(self) -> list[dict[str, Any]]:
        """The last batch of each writer."""
        return [self._book(path) for path in self._books()]

    def schema(self) -> "pa.Schema":
        """All columns of all files, those of partitions among them."""
        return self._dataset(self.files()).schema

    def schema_of_files(self, files: Sequence[str]) -> "pa.Schema":
        """What is in some files, without the names of folders."""
        import pyarrow as pa
        from pyarrow import parquet

        filesystem, folder = file_system(self._path)
        found = [parquet.read_schema(f"{folder}/{path}", filesystem=filesystem) for path in files]
        return pa.unify_schemas([schema.remove_metadata() for schema in found])

    # -- replacing -------------------------------------------------------------------------------

    def replace(self, old: Sequence[str], new: str) -> None:
        """Put a staged file in the place of others that have the same rows."""
        self.write_note("replacing", {"old": list(old), "new": new})
        self.finish_replacing()

    def finish_replacing(self) -> None:
        """What was begun, by whomever; several may do so at once. The old go first: a reader may miss rows
        for a moment, and none is there twice."""
        note = self.read_note("replacing")
        if note is None:
            return
        filesystem, folder = file_system(self._path)
        for path in note["old"]:
            with suppress(FileNotFoundError):
                filesystem.delete_file(f"{folder}/{path}")
        self._move([note["new"]])
        self.remove_note("replacing")

    def read_note(self, name: str) -> dict[str, Any] | None:
        from pyarrow.fs import FileType

        filesystem, folder = file_system(self._path)
        path = f"{folder}/{BOOKS}/{name}.json"
        return None if filesystem.get_file_info(path).type is FileType.NotFound else self._book(path)

    def write_note(self, name: str, facts: dict[str, Any]) -> None:
        self._write_whole(f"{BOOKS}/{name}.json", json.dumps(facts).encode())

    def remove_note(self, name: str) -> None:
        filesystem, folder = file_system(self._path)
        with suppress(FileNotFoundError):
            filesystem.delete_file(f"{folder}/{BOOKS}/{name}.json")

    # -- files -----------------------------------------------------------------------------------

    def _move(self, paths: Sequence[str]) -> None:
        """From where tasks wrote them to where readers look; what is moved already stays."""
        from pyarrow.fs import FileType

        filesystem, folder = file_system(self._path)
        for path in paths:
            staged = f"{folder}/{STAGED}/{path}"
            if filesystem.get_file_info(staged).type is FileType.NotFound:
                continue
            filesystem.create_dir(f"{folder}/{path}".rpartition("/")[0], recursive=True)
            with suppress(FileNotFoundError):  # Somebody else was faster.
                filesystem.move(staged, f"{folder}/{path}")

    def _rows_of(self, files: Sequence[str]) -> "pa.Table":
        import pyarrow as pa

        return self._dataset(files).to_table() if files else pa.table({})

    def _dataset(self, files: Sequence[str]) -> "Dataset":
        """Files may have columns that older ones have not."""
        from pyarrow import dataset

        filesystem, folder = file_system(self._path)
        options = dataset.FileSystemFactoryOptions(partition_base_dir=folder)
        options.partitioning_factory = dataset.HivePartitioning.discover()
        factory = dataset.FileSystemDatasetFactory(
            filesystem, [f"{folder}/{path}" for path in files], dataset.ParquetFileFormat(), options
        )
        return factory.finish(factory.inspect(fragments=None))

    def _is_unmoved(self, book: dict[str, Any]) -> bool:
        from pyarrow.fs import FileType

        filesystem, folder = file_system(self._path)
        staged = filesystem.get_file_info([f"{folder}/{STAGED}/{path}" for path in book["files"]])
        return any(info.type is not FileType.NotFound for info in staged)

    def _book(self, path: str) -> dict[str, Any]:
        filesystem, _ = file_system(self._path)
        with filesystem.open_input_file(path) as file:
            book: dict[str, Any] = json.loads(file.readall())
        return book

    def _write_whole(self, name: str, data: bytes) -> None:
        filesystem, folder = file_system(self._path)
        filesystem.create_dir(f"{folder}/{BOOKS}", recursive=True)
        with filesystem.open_output_stream(f"{folder}/{name}.new") as file:
            file.write(data)
        filesystem.move(f"{folder}/{name}.new", f"{folder}/{name}")

    def _books(self) -> list[str]:
        from pyarrow.fs import FileSelector

        filesystem, folder = file_system(self._path)
        found = filesystem.get_file_info(FileSelector(f"{folder}/{BOOKS}", allow_not_found=True))
        return [
            info.path
            for info in found
            if info.base_name.startswith(f"{MARKER}.") and info.path.endswith(".json")
        ]

    def _columns(self) -> "pa.Schema | None":
        """Of any file that is there: all have the same, unless it is noted otherwise."""
        import pyarrow as pa
        from pyarrow import parquet

        note = self.read_note("columns")
        if note is not None:
            return pa.ipc.read_schema(pa.py_buffer(bytes.fromhex(note["schema"])))

        filesystem, folder = file_system(self._path)
        for path in self.files():
            return parquet.read_schema(f"{folder}/{path}", filesystem=filesystem)
        return None


def _schema(fields: "list[pa.Field]") -> "pa.Schema":
    import pyarrow as pa

    return pa.schema(fields)


def _is_hidden(path: str) -> bool:
    """Whether it lies in a folder that is no part of the table; a partition may well begin like one."""
    return any(part.startswith("_") and "=" not in part for part in path.split("/"))
