"""Rows that replace others by key: one commit of the table for each batch, made on the driver.

The rows of a batch pass through the driver's memory. That is right for what upserts are for, aggregates and
changes of slowly changing things; a stream of everything is appended.
"""

from typing import TYPE_CHECKING

from trivium.pipeline.sink import TableSink
from trivium.spark.sinks.checkpoint import batch_of
from trivium.spark.sinks.judged import RECORD, good_rows, set_aside
from trivium.spark.sinks.outlets import TaskPlace, open_outlet
from trivium.spark.sinks.plan import SinkPlan
from trivium.spark.tables.stores import open_store

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


class Upsert:
    """What ``foreachBatch`` calls."""

    def __init__(self, plan: SinkPlan, sink: TableSink) -> None:
        self._plan = plan
        self._sink = sink

    def __call__(self, frame: "DataFrame", number: int) -> None:
        rows = frame.toArrow().combine_chunks()
        if not rows.num_rows:
            return
        (whole,) = rows.to_batches()
        batch = batch_of(self._plan.flow, self._plan.checkpoint, number)
        if self._plan.rejected is not None:
            outlet = open_outlet(self._plan.rejected, self._plan.bootstrap)
            task = outlet.open(TaskPlace(batch.query_id, 0))
            task.write(set_aside(whole, self._plan.flow))
            outlet.commit(batch, [task.close()])
        last = good_rows(last_of_each(whole, self._sink.key))
        if last.num_rows:
            import pyarrow as pa

            open_store(self._sink).upsert(batch, pa.Table.from_batches([last]), self._sink.key)


def last_of_each(rows: "pa.RecordBatch", key: tuple[str, ...]) -> "pa.RecordBatch":
    """Of the good rows with one key the last by partition and offset; rows set aside are left out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from trivium.spark.sinks.judged import REASONS

    good = rows.filter(pc.is_null(rows.column(REASONS)))
    places = [
        (record["partition"], record["offset"]) if record else (-1, at)
        for at, record in enumerate(good.column(RECORD).to_pylist())
    ]
    last: dict[tuple[object, ...], int] = {}
    keys = list(zip(*(good.column(name).to_pylist() for name in key), strict=True))
    for at in sorted(range(good.num_rows), key=places.__getitem__):
        last[keys[at]] = at
    return good.take(pa.array(sorted(last.values()), pa.int64()))
