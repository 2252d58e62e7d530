"""Delta by ``deltalake``: files and the number of the batch in one commit of the table's log.

The number is the version of an application's transaction (``txn`` of Delta's protocol), which every writer of
Delta keeps and no vacuum removes. A commit that loses a race against another writer is tried again by
deltalake, on what the other has left; two of the same batch cannot both win, because deltalake refuses the
second ``txn`` of one application.
"""

import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from trivium.pipeline.sink import TableSink
from trivium.spark.tables.batch import Batch
from trivium.spark.tables.data_files import DataFile, Layout
from trivium.spark.tables.delta_care import writers_in
from trivium.spark.tables.errors import TableError
from trivium.spark.tables.matching import check_fit, check_partitioning, missing, nullable

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import CommitProperties, DeltaTable

COMMIT_ATTEMPTS_MAX: Final = 20
"""Against other writers, such as somebody who compacts the table at the same time."""


class DeltaStore:
    def __init__(self, sink: TableSink, path: str) -> None:
        self._path = path
        self._partition_by = sink.partition_by
        self.layout: Final = Layout(path, sink.partition_by)

    def check(self, schema: "pa.Schema") -> None:
        table = self._open()
        if table is not None:
            check_partitioning(self._path, table.metadata().partition_columns, self._partition_by)
            check_fit(self._path, _arrow_schema(table), schema)

    def read_schema(self) -> "pa.Schema | None":
        table = self._open()
        return None if table is None else _arrow_schema(table)

    def widen(self, schema: "pa.Schema") -> None:
        from deltalake import Schema

        table = self._open()
        new = missing(_arrow_schema(table), schema) if table is not None else None
        if table is not None and new:
            table.alter.add_columns(Schema.from_arrow(new).fields)

    def writers(self) -> set[str]:
        table = self._open()
        if table is None:
            return set()
        return set(writers_in(table.history()))

    def append(self, batch: Batch, schema: "pa.Schema", files: Sequence[DataFile]) -> None:
        from deltalake import Schema
        from deltalake.transaction import AddAction, create_table_with_add_actions

        table = self._open()
        if table is not None and _has(table, batch):
            return
        now_ms = int(time.time() * 1000)
        actions: list[Any] = [
            AddAction(
                quote(file.path),
                file.size_bytes,
                dict(zip(self._partition_by, file.partition, strict=True)),
                now_ms,
                True,
                json.dumps(file.statistics),
            )
            for file in files
        ]
        columns = Schema.from_arrow(nullable(schema))
        partition_by = list(self._partition_by)
        if table is None:
            create_table_with_add_actions(
                self._path, columns, actions, partition_by=partition_by, commit_properties=_properties(batch)
            )
        else:
            self.check(schema)
            table.create_write_transaction(
                actions, "append", table.schema(), partition_by, commit_properties=_properties(batch)
            )

    def upsert(self, batch: Batch, rows: "pa.Table", key: Sequence[str]) -> None:
        from deltalake.exceptions import CommitFailedError

        for _ in range(COMMIT_ATTEMPTS_MAX):
            table = self._open() or self._create(rows.schema)
            if _has(table, batch):
                return
            self.check(rows.schema)
            try:
                _merge(table, batch, rows, key)
            except CommitFailedError:
                continue  # Files that it has read are others now: somebody has compacted the table.
            return
        raise TableError(f"The table {self._path} is changed by others all the time; try again later.")

    def read(self) -> "pa.Table":
        import pyarrow as pa

        table = self._open()
        return pa.table({}) if table is None else table.to_pyarrow_table()

    def read_whole_batches(self) -> "pa.Table":
        return self.read()  # A commit is seen as a whole.

    def _open(self) -> "DeltaTable | None":
        from deltalake import DeltaTable

        return DeltaTable(self._path) if DeltaTable.is_deltatable(self._path) else None

    def _create(self, schema: "pa.Schema") -> "DeltaTable":
        from deltalake import DeltaTable, Schema

        columns = Schema.from_arrow(nullable(schema))
        return DeltaTable.create(self._path, columns, partition_by=list(self._partition_by))


def _merge(table: "DeltaTable", batch: Batch, rows: "pa.Table", key: Sequence[str]) -> None:
    same = " AND ".join(f"(old.`{name}` IS NOT DISTINCT FROM new.`{name}`)" for name in key)
    properties = _properties(batch)
    merger = table.merge(rows, same, source_alias="new", target_alias="old", commit_properties=properties)
    merger.when_matched_update_all().when_not_matched_insert_all().execute()


def _has(table: "DeltaTable", batch: Batch) -> bool:
    last = table.transaction_version(batch.writer)
    return last is not None and last >= batch.number


def _properties(batch: Batch) -> "CommitProperties":
    from deltalake import CommitProperties, Transaction

    return CommitProperties(
        custom_metadata=dict(batch.properties()),
        max_commit_retries=COMMIT_ATTEMPTS_MAX,
        app_transactions=[Transaction(batch.writer, batch.number)],
    )


def _arrow_schema(table: "DeltaTable") -> "pa.Schema":
    import pyarrow as pa

    return pa.schema(table.schema().to_arrow())
