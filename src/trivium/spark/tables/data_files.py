"""Parquet files that tasks write, one for each partition of the table that their rows belong to.

A file is nobody's until a commit names it. Names never repeat: what a failed attempt leaves behind is found
by no reader of the table.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from trivium.spark.tables.errors import TableError, beyond_calendar
from trivium.spark.tables.statistics import statistics_of

if TYPE_CHECKING:
    import pyarrow as pa

OPEN_FILES_MAX: Final = 200
"""Of one task. Rows that belong to more partitions than that are a wrong ``partition_by``, such as by id."""

FOLDER_NAME_BYTES_MAX: Final = 255
"""Of ``column=value``, with what is no letter in three bytes for each: what file systems take."""

NULL_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"
"""The folder of rows without a value, as Hive and everybody since calls it."""


@dataclass(frozen=True, slots=True)
class Layout:
    folder: str
    """A path or URI below which files are written."""

    partition_by: tuple[str, ...] = ()
    has_folders: bool = False
    """Whether each partition has a folder of its own, ``day=2025-01-01``."""

    keeps_partition_columns: bool = False
    """Whether the columns are also in the file."""


@dataclass(frozen=True, slots=True)
class DataFile:
    path: str
    """Below the layout's folder."""

    size_bytes: int
    rows: int
    partition: tuple[str | None, ...] = ()
    """The value of each column of ``partition_by``, as text."""

    statistics: dict[str, Any] = field(default_factory=dict)
    """As Delta keeps them: ``numRecords``, ``minValues``, ``maxValues``, ``nullCount``."""


class DataFileWriter:
    """The files of one task."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._open: dict[tuple[str | None, ...], _OpenFile] = {}

    def write(self, rows: "pa.RecordBatch") -> None:
        try:
            parts = _split(rows, self._layout.partition_by)
        except OverflowError as error:
            raise beyond_calendar(self._layout.folder) from error
        for partition, part in parts:
            if not self._layout.keeps_partition_columns:
                part = part.drop_columns(list(self._layout.partition_by))
            file = self._open.get(partition)
            if file is None:
                if len(self._open) == OPEN_FILES_MAX:
                    raise TableError(
                        f"The rows of one batch belong to more than {OPEN_FILES_MAX} partitions of "
                        f"{self._layout.folder}; choose columns with fewer values for partition_by."
                    )
                file = self._open[partition] = _OpenFile(self._layout, partition, part.schema)
            file.write(part)

    def close(self) -> list[DataFile]:
        """The finished files. Without it, nothing is promised about them."""
        return [file.close() for file in self._open.values()]


class _OpenFile:
    def __init__(self, layout: Layout, partition: tuple[str | None, ...], schema: "pa.Schema") -> None:
        from pyarrow import parquet

        folders = [
            f"{quote(name, safe='')}={quote(value, safe='') if value is not None else NULL_PARTITION}"
            for name, value in zip(layout.partition_by, partition, strict=True)
            if layout.has_folders
        ]
        for name, folder in zip(layout.partition_by, folders, strict=False):
            if len(folder) > FOLDER_NAME_BYTES_MAX:
                raise TableError(
                    f"A value of {name} is too long for the name of a folder below {layout.folder}; choose "
                    f"another column for partition_by, or set such rows aside by an expectation, such as "
                    f"length(url_encode({name})) <= {FOLDER_NAME_BYTES_MAX - len(name) - 1}."
                )
        self._path = "/".join([*folders, f"part-{uuid.uuid4().hex}.parquet"])
        self._partition = partition
        self._metadata: list[parquet.FileMetaData] = []
        filesystem, folder = file_system(layout.folder)
        self._filesystem, self._full_path = filesystem, f"{folder}/{self._path}"
        self._rows = 0
        try:
            filesystem.create_dir(self._full_path.rpartition("/")[0], recursive=True)
            self._writer = parquet.ParquetWriter(
                self._full_path,
                schema,
                filesystem=filesystem,
                compression="zstd",
                metadata_collector=self._metadata,
                coerce_timestamps="us",
            )
        except OSError as error:
            raise TableError(
                f"The table in {layout.folder} cannot be written ({error}); correct that, or choose "
                "another path."
            ) from error

    def write(self, rows: "pa.RecordBatch") -> None:
        self._writer.write_batch(rows)
        self._rows += rows.num_rows

    def close(self) -> DataFile:
        self._writer.close()
        size = self._filesystem.get_file_info(self._full_path).size
        return DataFile(self._path, size, self._rows, self._partition, statistics_of(self._metadata[0]))


def file_system(folder: str) -> "tuple[Any, str]":
    """Who keeps a folder, and its path there."""
    from pyarrow import fs

    if "://" in folder:
        filesystem, path = fs.FileSystem.from_uri(folder)
        return filesystem, path.rstrip("/")
    import os

    return fs.LocalFileSystem(), os.path.abspath(folder.removeprefix("file:"))


def _split(
    rows: "pa.RecordBatch", columns: Sequence[str]
) -> "list[tuple[tuple[str | None, ...], pa.RecordBatch]]":
    """The rows of each combination of values."""
    if not columns:
        return [((), rows)] if rows.num_rows else []
    import pyarrow as pa

    names = [[partition_text(value.as_py()) for value in rows.column(name)] for name in columns]
    places: dict[tuple[str | None, ...], list[int]] = {}
    for at, partition in enumerate(zip(*names, strict=True)):
        places.setdefault(partition, []).append(at)
    if len(places) == 1:
        return [(next(iter(places)), rows)]
    return [(partition, rows.take(pa.array(at))) for partition, at in places.items()]


def partition_text(value: Any) -> str | None:
    """A value of a partition column as Delta and Hive write it."""
    from datetime import UTC, datetime

    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        moment = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return moment.isoformat(" ")
    if isinstance(value, bytes):
        raise TableError("Bytes cannot be in partition_by; use hex(…) of them.")
    return str(value)
