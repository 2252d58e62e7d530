"""Whether a flow's records may go through it again beside the live flow: one by one, or not at all.

A backfill and a replay run the same query with a state of its own. That is right where each row is made of
one record, whenever it comes. It is not where rows depend on what else is there: sums, pairs, first of its
kind, last of its key.
"""

from collections.abc import Iterator

from trivium.pipeline.checking.graph import Graph
from trivium.pipeline.checking.sql_text import parse_query
from trivium.pipeline.definition import Definition
from trivium.pipeline.flow import Flow
from trivium.pipeline.mistake import Mistake
from trivium.pipeline.sink import SinkMode, TableSink
from trivium.pipeline.source import TableSource

RESET = "Reset it and let it read everything again."


def why_not_beside(definition: Definition, graph: Graph, flow: Flow) -> str | None:
    """A sentence with what to do instead; None where nothing speaks against it. What a function of Python
    does is not known here."""
    if isinstance(flow.sink, TableSink) and flow.sink.mode is SinkMode.UPSERT:
        return f"{flow.name} keeps the last row of each key, and an older record would replace it. {RESET}"
    return next((f"{reason} {RESET}" for reason in _reasons(definition, graph, flow)), None)


def _reasons(definition: Definition, graph: Graph, flow: Flow) -> Iterator[str]:
    upstream = graph.upstream(flow)
    for each in (flow, *(other for other in definition.flows if other.name in upstream)):
        if each.deduplicate:
            yield f"{each.name} keeps the first of equal rows, and does not know those of another run."
        if each.sql is not None:
            yield from _in_sql(definition, graph, each, each.sql)


def _in_sql(definition: Definition, graph: Graph, flow: Flow, sql: str) -> Iterator[str]:
    from sqlglot import exp

    try:
        query = parse_query("sql", sql)
    except Mistake:
        return  # Said by ``checking``, and such a flow is not run.
    if query.find(exp.AggFunc, exp.Group, exp.Distinct):
        yield f"{flow.name} makes rows of many records, and part of them are the live flow's."
    streams = [
        name for name in graph.inputs[flow.name] if not isinstance(definition.source(name), TableSource)
    ]
    if query.find(exp.Join) and len(streams) > 1:
        yield f"{flow.name} joins streams, and the partners of older records are not read again."
