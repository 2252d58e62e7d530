"""``format("trivium_flow")``: the sink of a flow, as Spark sees it: a stream that is appended to, or one
batch of a query whose rows replace others.

``write`` runs on executors, ``commit`` in a process beside the driver, on another copy of the writer; what
one knows the other learns from messages and from the checkpoint. The quarantine is committed first:
whoever finds a batch in the table finds what was set aside from it, too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceStreamArrowWriter, WriterCommitMessage

from trivium.spark.connector.worker_process import settle

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from trivium.spark.sinks.outlets import Outlet, Part
    from trivium.spark.sinks.plan import SinkPlan
    from trivium.spark.sinks.upsert import UpsertWriter

FORMAT: Final = "trivium_flow"
BATCH_OPTION: Final = "batch"
"""The number of the batch, where Spark would not tell it."""


@dataclass(frozen=True)
class TaskDone(WriterCommitMessage):
    rows: "Part"
    rejected: "Part | None"


class FlowSink(DataSource):
    @classmethod
    def name(cls) -> str:
        return FORMAT

    def streamWriter(self, schema: "StructType", overwrite: bool) -> "FlowWriter":  # noqa: N802 - Spark's name
        from trivium.spark.sinks.plan import from_options

        plan = from_options(self.options)
        settle()  # Asked anew for each micro-batch.
        return FlowWriter(plan)

    def writer(self, schema: "StructType", overwrite: bool) -> "UpsertWriter":
        from trivium.spark.sinks.plan import from_options
        from trivium.spark.sinks.upsert import UpsertWriter

        return UpsertWriter(from_options(self.options), int(self.options[BATCH_OPTION]))


class FlowWriter(DataSourceStreamArrowWriter):
    def __init__(self, plan: "SinkPlan") -> None:
        self._plan = plan

    def write(self, iterator: "Iterator[pa.RecordBatch]") -> TaskDone:
        from trivium.spark.sinks.judged import good_rows, set_aside
        from trivium.spark.sinks.place import task_place

        rows, rejected = self._outlets()
        place = task_place()
        rows_task = rows.open(place)
        rejected_task = rejected.open(place) if rejected is not None else None
        for batch in iterator:
            rows_task.write(good_rows(batch))
            if rejected_task is not None:
                rejected_task.write(set_aside(batch, self._plan.flow, place.query_id, place.batch))
        done = TaskDone(rows_task.close(), rejected_task.close() if rejected_task is not None else None)
        settle()  # By now everything is imported that a task needs.
        return done

    def commit(self, messages: Sequence[Any], batchId: int) -> None:  # noqa: N803 - Spark's name
        from trivium.spark.sinks.checkpoint import batch_of

        batch = batch_of(self._plan.flow, self._plan.checkpoint, batchId)
        done = [message for message in messages if isinstance(message, TaskDone)]
        rows, rejected = self._outlets()
        if rejected is not None:
            rejected.commit(batch, [task.rejected for task in done if task.rejected is not None])
        rows.commit(batch, [task.rows for task in done])
        settle()

    def abort(self, messages: Sequence[Any], batchId: int) -> None:  # noqa: N803 - Spark's name
        done = [message for message in messages if isinstance(message, TaskDone)]
        rows, rejected = self._outlets()
        rows.abort([task.rows for task in done])
        if rejected is not None:
            rejected.abort([task.rejected for task in done if task.rejected is not None])

    def _outlets(self) -> "tuple[Outlet, Outlet | None]":
        from trivium.spark.sinks.outlets import open_outlet

        plan = self._plan
        rejected = None if plan.rejected is None else open_outlet(plan.rejected, plan.door)
        return open_outlet(plan.rows, plan.door), rejected
