"""A flow on top of what it reads, down to the topics: one frame for one query.

What cannot be read goes to the quarantine of the flow that reads the source, itself or through flows without
a sink. A flow that reads a flow with a sink sees its good rows; the others are in that flow's quarantine.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from trivium.pipeline.checking.graph import Graph
from trivium.pipeline.definition import Definition
from trivium.pipeline.expectation import Otherwise
from trivium.pipeline.flow import Flow
from trivium.pipeline.schema import Schema
from trivium.pipeline.source import TableSource, TopicSource
from trivium.spark.running.calling import called
from trivium.spark.running.columns import unique
from trivium.spark.running.judging import DROPPED, REASONS, accepted, judge
from trivium.spark.running.lineage import Carried, carry
from trivium.spark.running.passages import Passage
from trivium.spark.running.source_frames import PROBLEM, RECORD, decoded, new_columns, table_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

READ: Final = "read_"
"""Begins the name under which Spark reports what was read of a source: how many records, however often the
query reads it, and what they have beyond its schema."""


class FlowFrames:
    """Of one flow. ``schemas``: the columns of each topic source, by its name."""

    def __init__(
        self,
        session: "SparkSession",
        definition: Definition,
        graph: Graph,
        schemas: Mapping[str, Schema],
        flow: Flow,
        passage: Passage,
    ) -> None:
        self._session = session
        self._definition = definition
        self._graph = graph
        self._schemas = schemas
        self._flow = flow
        self._passage = passage
        self._decoded: dict[str, DataFrame] = {}

    def judged(self) -> "DataFrame":
        """All rows of the flow, good and bad, with what ``judging`` says of them."""
        flow = self._flow
        carried = self._carried(flow)
        only = self._only_source(flow)
        if carried is not None and carried.takes_malformed and only is not None and not flow.deduplicate:
            frame = self._query(carried.sql, {only.name: self._rows(only)})
            if frame is not None and RECORD in frame.columns:
                return judge(unique(frame, flow), flow, only.malformed)
        rows = judge(self._rows_of(flow), flow, Otherwise.QUARANTINE)
        rows = self._deduplicated(rows)
        for source in self._own_sources(flow):
            rows = rows.unionByName(self._malformed(source), allowMissingColumns=True)
        return rows

    # -- flows -----------------------------------------------------------------------------------

    def _rows_of(self, flow: Flow) -> "DataFrame":
        inputs = {name: self._input(name) for name in self._graph.inputs[flow.name]}
        if flow.function is not None:
            by_argument = {name.casefold(): frame for name, frame in inputs.items()}
            return unique(called(flow, [by_argument[name.casefold()] for name in flow.arguments]), flow)
        carried = self._carried(flow)
        frame = self._query(carried.sql, inputs) if carried is not None else None
        if frame is None:
            frame = self._query(flow.sql or "", inputs, is_last_word=True)
            assert frame is not None
        return unique(frame, flow)

    def _input(self, name: str) -> "DataFrame":
        flow = self._definition.flow(name)
        if flow is not None:
            rows = accepted(judge(self._rows_of(flow), flow, Otherwise.DROP))
            return _distinct(rows, flow)
        source = self._definition.source(name)
        if isinstance(source, TableSource):
            return table_frame(self._session, source)
        assert isinstance(source, TopicSource)
        from pyspark.sql import functions as F  # noqa: N812

        rows = self._rows(source).filter(F.col(RECORD).getField(PROBLEM).isNull())
        if source.watermark is None:
            return rows
        return rows.withWatermark(source.watermark.column, str(source.watermark.delay))

    def _deduplicated(self, rows: "DataFrame") -> "DataFrame":
        """Only good rows are compared: a bad one must not hide the good one behind it."""
        from pyspark.sql import functions as F  # noqa: N812

        if not self._flow.deduplicate:
            return rows
        is_good = F.col(REASONS).isNull() & ~F.col(DROPPED)
        return _distinct(rows.filter(is_good), self._flow).unionByName(rows.filter(~is_good))

    # -- SQL -------------------------------------------------------------------------------------

    def _carried(self, flow: Flow) -> Carried | None:
        if flow.sql is None:
            return None
        tables = [each.name for each in self._definition.sources if isinstance(each, TableSource)]
        return carry(flow.sql, {n.casefold() for n in self._graph.inputs[flow.name] if n not in tables})

    def _query(
        self, sql: str, inputs: "Mapping[str, DataFrame]", *, is_last_word: bool = False
    ) -> "DataFrame | None":
        """None where Spark does not understand a query that we have changed: then the author's own is run."""
        from pyspark.errors import AnalysisException, ParseException

        for name, frame in inputs.items():
            frame.createOrReplaceTempView(name)
        try:
            return self._session.sql(sql)
        except (AnalysisException, ParseException):
            if is_last_word:
                raise
            return None

    # -- sources ---------------------------------------------------------------------------------

    def _rows(self, source: TopicSource) -> "DataFrame":
        """Every record, those that cannot be read among them."""
        if source.name not in self._decoded:
            raw = self._passage.open(self._session, source)
            self._decoded[source.name] = self._watched(
                source, decoded(source, self._schemas[source.name], raw)
            )
        return self._decoded[source.name]

    def _watched(self, source: TopicSource, rows: "DataFrame") -> "DataFrame":
        from pyspark.sql import functions as F  # noqa: N812

        seen = [F.count(F.lit(1)).alias("records")]
        unknown = new_columns(source, self._schemas[source.name])
        if unknown is not None:
            seen += [
                F.max(unknown).alias("most"),
                F.min(unknown).alias("least"),
                F.count(unknown).alias("with_new_columns"),
            ]
        return rows.observe(READ + source.name, *seen)

    def _malformed(self, source: TopicSource) -> "DataFrame":
        from pyspark.sql import functions as F  # noqa: N812

        problem = F.col(RECORD).getField(PROBLEM)
        bad = self._rows(source).filter(problem.isNotNull()).select(RECORD)
        return judge(bad, Flow(self._flow.name), source.malformed)

    def _own_sources(self, flow: Flow) -> list[TopicSource]:
        """Topics that a flow reads itself, or through flows that have no quarantine of their own."""
        found: dict[str, TopicSource] = {}
        for name in self._graph.inputs[flow.name]:
            source, other = self._definition.source(name), self._definition.flow(name)
            if isinstance(source, TopicSource):
                found[name] = source
            elif other is not None and other.sink is None:
                found |= {each.name: each for each in self._own_sources(other)}
        return list(found.values())

    def _only_source(self, flow: Flow) -> TopicSource | None:
        inputs = self._graph.inputs[flow.name]
        source = self._definition.source(inputs[0]) if len(inputs) == 1 else None
        return source if isinstance(source, TopicSource) else None


def _distinct(rows: "DataFrame", flow: Flow) -> "DataFrame":
    return rows.dropDuplicatesWithinWatermark(list(flow.deduplicate)) if flow.deduplicate else rows
