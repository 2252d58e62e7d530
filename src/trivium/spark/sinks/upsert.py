"""Rows that replace others by key: one commit of the table for each batch, made beside the driver.

Tasks send the last row of each key with their message, and the commit merges them into the table: the rows of
a batch pass through the driver's memory. That is right for what upserts are for, aggregates and changes of
slowly changing things; a stream of everything is appended. Whether the table has the batch already is for
the table to say.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from trivium.pipeline.sink import TableSink
from trivium.spark.sinks.checkpoint import batch_of
from trivium.spark.sinks.judged import PLACE, good_rows, set_aside
from trivium.spark.sinks.outlets import Outlet, Part, open_outlet
from trivium.spark.sinks.place import task_place
from trivium.spark.sinks.plan import SinkPlan
from trivium.spark.tables.stores import open_store

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class TaskUpserts(WriterCommitMessage):
    rows: bytes
    """A stream of Arrow with the last rows by key and where each came from; empty without any."""

    rejected: Part


class UpsertWriter(DataSourceArrowWriter):
    """Writes one batch of a query."""

    def __init__(self, plan: SinkPlan, number: int) -> None:
        assert isinstance(plan.rows, TableSink)
        self._plan = plan
        self._sink = plan.rows
        self._number = number

    def write(self, iterator: "Iterator[pa.RecordBatch]") -> TaskUpserts:
        outlet = self._quarantine()
        place = task_place()
        rejected = outlet.open(place) if outlet is not None else None
        kept = []
        for rows in iterator:
            if rejected is not None:
                rejected.write(set_aside(rows, self._plan.flow, place.query_id, self._number))
            kept.append(last_of_each(good_rows(rows), self._sink.key))
        return TaskUpserts(
            _packed(kept, self._sink.key), rejected.close() if rejected is not None else Part()
        )

    def commit(self, messages: Sequence[Any]) -> None:
        import pyarrow as pa

        done = [message for message in messages if isinstance(message, TaskUpserts)]
        outlet = self._quarantine()
        packed = [pa.ipc.open_stream(task.rows).read_all() for task in done if task.rows]
        if not packed and not any(task.rejected != Part() for task in done):
            return  # Nothing to remember: run again, the batch is as empty as it was.
        batch = batch_of(self._plan.flow, self._plan.checkpoint, self._number)
        if outlet is not None:
            outlet.commit(batch, [task.rejected for task in done])
        if packed:
            last = last_of_each(_one(pa.concat_tables(packed)), self._sink.key).drop_columns([PLACE])
            open_store(self._sink).upsert(batch, pa.Table.from_batches([last]), self._sink.key)

    def abort(self, messages: Sequence[Any]) -> None:
        outlet = self._quarantine()
        if outlet is not None:
            outlet.abort([message.rejected for message in messages if isinstance(message, TaskUpserts)])

    def _quarantine(self) -> Outlet | None:
        plan = self._plan
        return None if plan.rejected is None else open_outlet(plan.rejected, plan.door)


def last_of_each(rows: "pa.RecordBatch", key: tuple[str, ...]) -> "pa.RecordBatch":
    """Of the rows with one key the last by partition and offset."""
    import pyarrow as pa

    places = [
        (place["partition"], place["offset"]) if place else (-1, at)
        for at, place in enumerate(rows.column(PLACE).to_pylist())
    ]
    last: dict[tuple[object, ...], int] = {}
    keys = list(zip(*(rows.column(name).to_pylist() for name in key), strict=True))
    for at in sorted(range(rows.num_rows), key=places.__getitem__):
        last[keys[at]] = at
    return rows.take(pa.array(sorted(last.values()), pa.int64()))


def _packed(kept: "Sequence[pa.RecordBatch]", key: tuple[str, ...]) -> bytes:
    import pyarrow as pa

    if not any(rows.num_rows for rows in kept):
        return b""
    last = last_of_each(_one(pa.Table.from_batches(kept)), key)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, last.schema) as stream:
        stream.write_batch(last)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _one(rows: "pa.Table") -> "pa.RecordBatch":
    (whole,) = rows.combine_chunks().to_batches()
    return whole
