"""The store of a sink's table."""

from trivium.pipeline.sink import TableSink
from trivium.pipeline.table import TableFormat
from trivium.spark.tables.store import TableStore


def open_store(sink: TableSink) -> TableStore:
    """Nothing is looked at yet; a table that is not there comes with the first batch."""
    if sink.table.format is TableFormat.ICEBERG:
        from trivium.spark.tables.iceberg import IcebergStore

        return IcebergStore(sink)
    path = sink.table.path or ""
    if sink.table.format is TableFormat.DELTA:
        from trivium.spark.tables.delta import DeltaStore

        return DeltaStore(sink, path)
    from trivium.spark.tables.parquet import ParquetStore

    return ParquetStore(sink, path)
