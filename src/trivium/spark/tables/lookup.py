"""``format("trivium_table")``: a table that streams are joined with, as it is when a batch begins.

Spark plans the table anew for every micro-batch, and each time the table is opened anew. It is read in one
task: it is meant for what joins against it, which has to fit into memory anyhow.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from trivium.spark.tables.errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from trivium.pipeline.table import Table

FORMAT: Final = "trivium_table"
TABLE_OPTION: Final = "table"


class LookupSource(DataSource):
    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> "StructType":
        from pyspark.sql.pandas.types import from_arrow_schema

        return from_arrow_schema(plain(_rows(self._table())).schema)

    def reader(self, schema: "StructType") -> "LookupReader":
        return LookupReader(self._table())

    def _table(self) -> "Table":
        from trivium.spark.tables.table_json import from_json

        return from_json(self.options[TABLE_OPTION])


class LookupReader(DataSourceReader):
    def __init__(self, table: "Table") -> None:
        self._table = table

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(0)]

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        yield from plain(_rows(self._table)).to_batches()


def _rows(table: "Table") -> "pa.Table":
    from trivium.pipeline.sink import TableSink
    from trivium.spark.tables.stores import open_store

    rows = open_store(TableSink(table)).read()
    if not rows.num_columns:
        raise TableError(f"There is no {table.format} table at {table}; write it first, or correct its path.")
    return rows


def plain(rows: "pa.Table") -> "pa.Table":
    """With the types that Spark takes from Arrow: no views, no dictionaries, times in microseconds of UTC."""
    import pyarrow as pa

    return rows.cast(pa.schema([pa.field(field.name, _plain_type(field.type)) for field in rows.schema]))


def _plain_type(kind: "pa.DataType") -> "pa.DataType":
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if types.is_string_view(kind) or types.is_large_string(kind):
        return pa.string()
    if types.is_binary_view(kind) or types.is_large_binary(kind):
        return pa.binary()
    if types.is_timestamp(kind):
        return pa.timestamp("us", "UTC" if kind.tz else None)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_list_view(kind):
        return pa.list_(_plain_type(kind.value_type))
    if types.is_struct(kind):
        return pa.struct([pa.field(field.name, _plain_type(field.type)) for field in kind])
    return kind
