"""``format("trivium_quarantine")``: the rows of a quarantine that is a table, as a stream.

A position is the next batch of each query that has set records aside: ``{"quarantine": {"<query>": 17}}``.
Batches of a query come in order, and each is there whole or not at all, so that a row is read once however
the table is compacted, and what a replay sets aside again is there for the next. Read in one task: a
quarantine that does not fit into memory is a pipeline that does not work.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from trivium.pipeline.table import Table

FORMAT: Final = "trivium_quarantine"
TABLE_OPTION: Final = "table"
_NAME: Final = "quarantine"

Position = dict[str, dict[str, int]]


class QuarantineSource(DataSource):
    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        from trivium.pipeline.quarantine import RECORD

        return str(RECORD)

    def streamReader(self, schema: "StructType") -> "QuarantineReader":  # noqa: N802 - Spark's name
        from trivium.spark.tables.table_json import from_json

        return QuarantineReader(from_json(self.options[TABLE_OPTION]))


@dataclass(frozen=True)
class Batches(InputPartition):
    """From one position to another."""

    start: Mapping[str, int]
    end: Mapping[str, int]

    def has(self, query: str, batch: int) -> bool:
        return self.start.get(query, 0) <= batch < self.end.get(query, 0)


class QuarantineReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, table: "Table") -> None:
        self._table = table
        self._target: Position | None = None

    def initialOffset(self) -> Position:  # noqa: N802 - this and the others below are Spark's names
        return {_NAME: {}}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target = self._latest()

    def latestOffset(self, start: Mapping[str, Any], limit: ReadLimit) -> Position:  # noqa: N802
        latest = self._target if self._target is not None else self._latest()
        # A quarantine that was removed and made anew has other queries; those that are gone stay.
        return {_NAME: dict(sorted({**start[_NAME], **latest[_NAME]}.items()))}

    def partitions(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> list[InputPartition]:
        return [Batches(start[_NAME], end[_NAME])] if start != end else []

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa

        from trivium.spark.tables.lookup import plain

        assert isinstance(partition, Batches)
        rows = plain(self._rows())
        if rows.num_columns:
            places = zip(rows.column("query").to_pylist(), rows.column("batch").to_pylist(), strict=True)
            wanted = pa.array([partition.has(query, batch) for query, batch in places], pa.bool_())
            yield from rows.filter(wanted).select(_columns()).combine_chunks().to_batches()

    def commit(self, end: Mapping[str, Any]) -> None:
        """The checkpoint knows it; nothing is removed from a quarantine."""

    def _latest(self) -> Position:
        import pyarrow.compute as pc

        rows = self._rows()
        if not rows.num_columns:
            return {_NAME: {}}
        last = rows.group_by("query").aggregate([("batch", "max")])
        ends = pc.add(last.column("batch_max"), 1)
        found = dict(zip(last.column("query").to_pylist(), ends.to_pylist(), strict=True))
        return {_NAME: dict(sorted(found.items()))}

    def _rows(self) -> "pa.Table":
        from trivium.pipeline.sink import TableSink
        from trivium.spark.tables.stores import open_store

        return open_store(TableSink(self._table)).read_whole_batches()


def _columns() -> list[str]:
    from trivium.pipeline.quarantine import RECORD

    return list(RECORD.names)
