"""Reading a batch: from one bound to the other, planned on the driver, read on the executors.

Spark plans a DataFrame once, at its first action: where topics end is found then, and all actions on it see
the same rows.

Filters are not taken from Spark. It keeps one plan for all uses of a DataFrame, so what one query filters out
would be missing from the next one, and from both sides of a union (seen in Spark 4.2 and 4.3).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, InputPartition

from trivium.spark.connector.bounds import resolve_end, resolve_start
from trivium.spark.connector.options import ReadOptions
from trivium.spark.connector.origins import open_origin
from trivium.spark.connector.ranges import OffsetRange, make_ranges, split_ranges
from trivium.spark.connector.rows import WantedColumn, read_rows
from trivium.spark.connector.worker_process import settle

if TYPE_CHECKING:
    import pyarrow as pa


class BatchReader(DataSourceReader):
    """Is pickled between Spark's processes: it holds what was asked for and nothing that is open."""

    def __init__(self, options: ReadOptions, columns: tuple[WantedColumn, ...]) -> None:
        self._options = options
        self._columns = columns

    def partitions(self) -> list[InputPartition]:
        options = self._options
        origin = open_origin(options)
        keys = options.subscription.find(origin)
        starts = resolve_start(
            origin,
            options.starting,
            keys,
            no_match=options.no_match,
            fail_on_data_loss=options.fail_on_data_loss,
        )
        ends = resolve_end(origin, options.ending, keys, fail_on_data_loss=options.fail_on_data_loss)
        ranges = make_ranges(starts, ends)
        return [*split_ranges(ranges, options.partitions_min, options.partition_records_max)]

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        settle()
        if isinstance(partition, OffsetRange):  # Spark plans one empty partition where there are none.
            yield from read_rows(open_origin(self._options).pieces(partition), partition, self._columns)
