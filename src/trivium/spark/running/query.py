"""One flow as one query of Spark: its frame, its sink, its checkpoint, its trigger."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trivium.client.door import Door
from trivium.pipeline.checking.graph import Graph
from trivium.pipeline.definition import Definition
from trivium.pipeline.expectation import Otherwise
from trivium.pipeline.flow import Flow
from trivium.pipeline.schema import Schema
from trivium.pipeline.sink import Sink, SinkMode, TableSink, TopicSink, ValueFormat
from trivium.pipeline.source import NewColumns
from trivium.pipeline.trigger import Trigger, TriggerKind
from trivium.spark.running.batch_function import write_each_batch
from trivium.spark.running.columns import visible
from trivium.spark.running.decoding import CSV_QUOTING
from trivium.spark.running.errors import CannotRun
from trivium.spark.running.flow_frames import FlowFrames
from trivium.spark.running.judging import DROPPED, REASONS, reason_of
from trivium.spark.running.passages import Live, Passage
from trivium.spark.running.source_frames import PROBLEM, RECORD, column
from trivium.spark.running.stateless import check_stateless
from trivium.spark.running.tally import COUNTS
from trivium.spark.sinks.checkpoint import query_id_of
from trivium.spark.sinks.judged import aside, place
from trivium.spark.sinks.outlets import open_outlet
from trivium.spark.sinks.plan import SinkPlan
from trivium.spark.sinks.writer import BATCH_OPTION, FORMAT
from trivium.spark.tables.batch import MARKER
from trivium.spark.tables.stores import open_store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A query that can start: everything that can be wrong before is checked."""

    flow: Flow
    frame: "DataFrame"
    plan: SinkPlan
    writes_once: bool
    """Whether a batch that is run again after a crash is in the sink once."""

    def start(self, trigger: Trigger) -> "StreamingQuery":
        writer = self.frame.writeStream.queryName(self.plan.flow).option(
            "checkpointLocation", self.plan.checkpoint
        )
        writer = writer.trigger(**_trigger(trigger))
        options = self.plan.to_options()
        if _is_upsert(self.plan.rows):
            updates = writer.outputMode("update")
            session = self.frame.sparkSession
            return write_each_batch(session, updates, FORMAT, options, BATCH_OPTION).start()
        return writer.outputMode("append").format(FORMAT).options(**options).start()


def prepare(
    session: "SparkSession",
    definition: Definition,
    graph: Graph,
    schemas: Mapping[str, Schema],
    door: Door,
    flow: Flow,
    passage: Passage | None = None,
) -> PreparedQuery:
    """``passage``: what the flow is run on; None is the topics as they come."""
    assert flow.sink is not None
    passage = passage or Live(definition, flow, door)
    frames = FlowFrames(session, definition, graph, schemas, flow, passage)
    judged = _counted(frames.judged(), flow)
    if not passage.is_live:
        check_stateless(judged, flow)
    plan = SinkPlan(passage.name, passage.checkpoint, door, flow.sink, flow.quarantine)
    names = visible(judged.drop(DROPPED), flow)
    if isinstance(flow.sink, TableSink):
        sources = graph.topic_sources(definition, flow)
        may_grow = any(source.new_columns is NewColumns.ADD for source in sources)
        _check_table(judged.select(*(column(name) for name in names)), plan, flow.sink, may_grow=may_grow)
    outlets = [open_outlet(sink, door) for sink in (plan.rows, plan.rejected) if sink is not None]
    for outlet in outlets:
        outlet.make_ready(query_id_of(plan.checkpoint))
    writes_once = all(outlet.writes_once() for outlet in outlets)
    return PreparedQuery(flow, _shaped(judged, names, flow.sink), plan, writes_once)


def _counted(judged: "DataFrame", flow: Flow) -> "DataFrame":
    """Counts how rows were judged, and forgets those that are dropped."""
    from pyspark.sql import functions as F  # noqa: N812

    is_aside = F.col(REASONS).isNotNull()
    malformed = F.col(RECORD).getField(PROBLEM).isNotNull()
    rules = [rule for rule in flow.expectations if rule.otherwise is Otherwise.QUARANTINE]
    return judged.observe(
        COUNTS,
        F.count_if(~is_aside & ~F.col(DROPPED)).alias("rows_out"),
        F.count_if(is_aside).alias("quarantined"),
        F.count_if(F.col(DROPPED)).alias("dropped"),
        F.count_if(is_aside & malformed).alias("malformed"),
        *(F.count_if(F.array_contains(REASONS, reason_of(rule))).alias(rule.name) for rule in rules),
    ).filter(~F.col(DROPPED))


def _shaped(judged: "DataFrame", names: list[str], sink: Sink) -> "DataFrame":
    """The columns that a sink gets, and the judgement behind them; good rows leave their record behind."""
    from pyspark.sql import functions as F  # noqa: N812

    columns = [column(name) for name in names]
    if isinstance(sink, TopicSink):
        columns = _as_record(judged, names, sink)
    if _is_upsert(sink):  # Of rows with one key the last wins.
        columns.append(place(F.col(RECORD)))
    return judged.select(*columns, aside(F.col(RECORD), F.col(REASONS)))


def _as_record(judged: "DataFrame", names: list[str], sink: TopicSink) -> list[Any]:
    from pyspark.sql import functions as F  # noqa: N812

    key: Any = F.lit(None).cast("binary")
    if sink.key is not None:
        kind = dict(judged.dtypes).get(sink.key)
        key = column(sink.key) if kind == "binary" else F.encode(column(sink.key).cast("string"), "utf-8")
    values = [name for name in names if sink.key is None or name.casefold() != sink.key.casefold()]
    if sink.format is ValueFormat.RAW:
        value = column(values[0]).cast("binary")
    elif sink.format is ValueFormat.TEXT:
        value = F.encode(column(values[0]).cast("string"), "utf-8")
    else:
        row = F.struct(*(column(name) for name in names))
        text = (
            F.to_csv(row, CSV_QUOTING)
            if sink.format is ValueFormat.CSV
            else F.to_json(row, {"ignoreNullFields": "false"})
        )
        value = F.encode(text, "utf-8")
    return [key.alias("key"), value.alias("value")]


def _check_table(rows: "DataFrame", plan: SinkPlan, sink: TableSink, *, may_grow: bool) -> None:
    from pyspark.sql.pandas.types import to_arrow_schema

    store = open_store(sink)
    known = {name for name in store.writers() if name.startswith(f"{MARKER}.{plan.flow}.")}
    query_id = query_id_of(plan.checkpoint)
    if known and query_id is None:
        raise CannotRun(
            f"The table {sink.table} has rows of {plan.flow}, and the checkpoint {plan.checkpoint} that "
            "knows how far it came is gone: all would be written again. Bring the checkpoint back, or "
            "remove the table, or write to another."
        )
    if known and f"{MARKER}.{plan.flow}.{query_id}" not in known:
        raise CannotRun(
            f"The table {sink.table} has rows of {plan.flow}, and {plan.checkpoint} is not the checkpoint "
            "that they were written with: some would be there twice, or never. Bring that one back, or "
            "remove the table, or write to another."
        )
    schema = to_arrow_schema(rows.schema, timezone="UTC")
    if may_grow:
        store.widen(schema)
    store.check(schema)


def _is_upsert(sink: Sink) -> bool:
    return isinstance(sink, TableSink) and sink.mode is SinkMode.UPSERT


def _trigger(trigger: Trigger) -> dict[str, Any]:
    if trigger.kind is TriggerKind.AVAILABLE_NOW:
        return {"availableNow": True}
    return {"processingTime": str(trigger.every) if trigger.every else "0 seconds"}
