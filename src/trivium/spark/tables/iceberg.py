"""Iceberg by ``pyiceberg``: files and the number of the batch in one transaction on the table.

The number is a property of the table, ``trivium.<flow>.<query>``: properties stay when snapshots expire. A
table with a path has a catalog of its own beside its data, in SQLite; a table with a name is in a catalog of
pyiceberg's configuration.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from trivium.pipeline.sink import TableSink
from trivium.spark.tables.batch import MARKER, Batch
from trivium.spark.tables.data_files import DataFile, Layout
from trivium.spark.tables.errors import TableError, beyond_calendar
from trivium.spark.tables.matching import check_fit, check_partitioning, missing, nullable, with_wide_integers

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table

COMMIT_ATTEMPTS_MAX: Final = 20
"""Against other writers; each looks at the table anew."""

CATALOG_FILE: Final = "catalog.db"
OFFSETS: Final = "offsets."
"""Before the name of a writer: the property with what its last batch covers."""

_NAMESPACE: Final = "trivium"


class IcebergStore:
    def __init__(self, sink: TableSink) -> None:
        self._sink = sink
        self._name = str(sink.table)

    @property
    def layout(self) -> Layout:
        if self._sink.table.path is not None:
            folder = _absolute(self._sink.table.path)
        else:
            table = self.open()
            if table is None:
                raise TableError(
                    f"The table {self._name} is not in its catalog; create it there, or name a path."
                )
            folder = table.location()
        return Layout(f"{folder}/data", self._sink.partition_by, keeps_partition_columns=True)

    def check(self, schema: "pa.Schema") -> None:
        schema = with_wide_integers(schema)
        untyped = [field.name for field in schema if str(field.type) == "null"]
        if untyped:
            raise TableError(
                f"The flow gives {untyped[0]} without a type, which no Iceberg table has; write CAST(NULL AS "
                f"STRING) AS {untyped[0]}, or the type that it will have."
            )
        table = self.open()
        if table is None:
            return
        fields = table.spec().fields
        named = [table.schema().find_column_name(field.source_id) or field.name for field in fields]
        check_partitioning(self._name, named, self._sink.partition_by)
        check_fit(self._name, table.schema().as_arrow(), schema)

    def read_schema(self) -> "pa.Schema | None":
        table = self.open()
        return None if table is None else table.schema().as_arrow()

    def widen(self, schema: "pa.Schema") -> None:
        table = self.open()
        new = missing(table.schema().as_arrow(), with_wide_integers(schema)) if table is not None else None
        if table is not None and new:
            with table.update_schema() as update:
                update.union_by_name(new)

    def writers(self) -> set[str]:
        table = self.open()
        properties = table.properties if table is not None else {}
        return {name for name in properties if name.startswith(f"{MARKER}.")}

    def append(self, batch: Batch, schema: "pa.Schema", files: Sequence[DataFile]) -> None:
        folder = self.layout.folder
        paths = [f"{folder}/{file.path}" for file in files]

        def add(transaction: Any) -> None:
            if paths:
                transaction.add_files(paths, snapshot_properties=batch.properties())

        self._commit(batch, schema, add)

    def upsert(self, batch: Batch, rows: "pa.Table", key: Sequence[str]) -> None:
        def change(transaction: Any) -> None:
            properties = batch.properties()
            whole, partial = _by_key(rows, key)
            if whole.num_rows:
                transaction.upsert(whole, join_cols=list(key), snapshot_properties=properties)
            if partial.num_rows:  # pyiceberg has no words for a key that is NULL.
                transaction.overwrite(partial, _same_key(partial, key), snapshot_properties=properties)

        self._commit(batch, rows.schema, change)

    def read(self) -> "pa.Table":
        import pyarrow as pa

        table = self.open()
        return pa.table({}) if table is None else table.scan().to_arrow()

    def read_whole_batches(self) -> "pa.Table":
        return self.read()  # A commit is seen as a whole.

    # -- the table -------------------------------------------------------------------------------

    def _commit(self, batch: Batch, schema: "pa.Schema", change: Any) -> None:
        from pyiceberg.exceptions import CommitFailedException, ValidationException

        for _ in range(COMMIT_ATTEMPTS_MAX):
            table = self.open() or self._create(schema)
            if int(table.properties.get(batch.writer, -1)) >= batch.number:
                return
            self.check(schema)
            # Left to itself, pyiceberg repeats a commit on top of what another has written meanwhile: that
            # may be this very batch, by a process of a run that was killed. Whether it is, is asked here.
            table.metadata.properties["commit.retry.num-retries"] = "0"
            try:
                with table.transaction() as transaction:
                    transaction.set_properties(
                        {batch.writer: str(batch.number), f"{OFFSETS}{batch.writer}": batch.offsets}
                    )
                    change(transaction)
            except (CommitFailedException, ValidationException):
                continue  # Somebody else was faster: it may have been this batch.
            except OverflowError as error:
                raise beyond_calendar(self._name) from error
            return
        raise TableError(f"The table {self._name} is changed by others all the time; try again later.")

    def _catalog(self) -> "Catalog":
        from pyiceberg.catalog import load_catalog

        table = self._sink.table
        if table.path is None:
            return load_catalog(table.catalog)
        folder = Path(_absolute(table.path))
        folder.mkdir(parents=True, exist_ok=True)
        return load_catalog(
            _NAMESPACE, type="sql", uri=f"sqlite:///{folder / CATALOG_FILE}", warehouse=str(folder)
        )

    def _identifier(self) -> str:
        return self._sink.table.name or f"{_NAMESPACE}.rows"

    def open(self) -> "Table | None":
        """As it is now; None where it is not there."""
        from pyiceberg.exceptions import NoSuchTableError

        if self._sink.table.path is not None and not Path(_absolute(self._sink.table.path)).exists():
            return None
        try:
            return self._catalog().load_table(self._identifier())
        except NoSuchTableError:
            return None

    def _create(self, schema: "pa.Schema") -> "Table":
        from pyiceberg.exceptions import NamespaceAlreadyExistsError, TableAlreadyExistsError

        catalog = self._catalog()
        with suppress(NamespaceAlreadyExistsError):
            catalog.create_namespace(self._identifier().rpartition(".")[0])
        location = _absolute(self._sink.table.path) if self._sink.table.path else None
        try:
            table = catalog.create_table(self._identifier(), nullable(schema), location=location)
        except TableAlreadyExistsError:
            return catalog.load_table(self._identifier())
        if self._sink.partition_by:
            with table.update_spec() as spec:
                for name in self._sink.partition_by:
                    spec.add_identity(name)
        return catalog.load_table(self._identifier())


def _by_key(rows: "pa.Table", key: Sequence[str]) -> "tuple[pa.Table, pa.Table]":
    """Rows with a value in every column of their key, and the others."""
    from functools import reduce

    import pyarrow.compute as pc

    is_whole = reduce(pc.and_, (pc.is_valid(rows.column(name)) for name in key))
    return rows.filter(is_whole), rows.filter(pc.invert(is_whole))


def _same_key(rows: "pa.Table", key: Sequence[str]) -> Any:
    """Which rows of a table these replace."""
    from pyiceberg import expressions

    made: Any = expressions  # Its classes tell type checkers of other arguments than they take.
    found = made.AlwaysFalse()
    for row in rows.select(list(key)).to_pylist():
        same = made.AlwaysTrue()
        for name, value in row.items():
            same = made.And(same, made.IsNull(name) if value is None else made.EqualTo(name, value))
        found = made.Or(found, same)
    return found


def _absolute(path: str) -> str:
    if "://" in path and not path.startswith("file://"):
        raise TableError(f"An Iceberg table at {path} needs a catalog; write table = and catalog = instead.")
    return os.path.abspath(path.removeprefix("file://"))
