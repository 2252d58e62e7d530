"""Flows one after the other: each is looked at with what the ones before it give."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from trivium.pipeline.checking.graph import Graph
from trivium.pipeline.checking.relation import UNKNOWN, Relation
from trivium.pipeline.checking.sql_columns import QueryFacts, analyse
from trivium.pipeline.checking.sql_text import parse_condition, parse_query
from trivium.pipeline.checking.streams import Streaming
from trivium.pipeline.definition import Definition
from trivium.pipeline.expectation import Expectation
from trivium.pipeline.finding import Finding, error, from_mistake, warning
from trivium.pipeline.flow import Flow
from trivium.pipeline.mistake import Mistake, did_you_mean
from trivium.pipeline.schema import BOOLEAN
from trivium.pipeline.sink import SinkMode, TableSink


def flow_findings(
    definition: Definition, graph: Graph, flow: Flow, relations: dict[str, Relation]
) -> Iterator[Finding]:
    """``relations``: by casefolded name; what the flow gives is added."""
    where = f"flow.{flow.name}"
    inputs = {name.casefold(): relations[name.casefold()] for name in graph.inputs[flow.name]}
    facts = _facts(flow, inputs)
    yield from (from_mistake(mistake.inside(where)) for mistake in facts.mistakes)
    if facts.is_beyond_us:
        yield warning(f"{where}.sql", "The SQL is beyond what can be checked without Spark.")
    yield from _unnamed(where, flow, facts)
    if not facts.mistakes:
        yield from _streaming(definition, graph, flow, facts.streaming)
    relation = _relation(flow, inputs, facts)
    relations[flow.name.casefold()] = relation
    yield from _deduplication(where, flow, relation)
    for expectation in flow.expectations:
        yield from _expectation(where, expectation, relation)


def _facts(flow: Flow, inputs: Mapping[str, Relation]) -> QueryFacts:
    if flow.sql is None:
        return QueryFacts(columns=flow.schema)
    try:
        return analyse("sql", parse_query("sql", flow.sql), inputs)
    except Mistake:
        return QueryFacts()  # Whoever draws the graph has said so already.


def _relation(flow: Flow, inputs: Mapping[str, Relation], facts: QueryFacts) -> Relation:
    streams = [each for each in inputs.values() if each.is_stream]
    if flow.sql is not None and not facts.mistakes and not facts.is_beyond_us:
        times = facts.streaming.event_times
    else:
        # A function may do what it likes with its inputs, and a query that is not understood: the benefit
        # of the doubt.
        times = frozenset().union(*(each.event_times for each in streams))
    # What a wrong query gives is a guess; whoever reads it should not be accused for it.
    columns = None if facts.mistakes else facts.columns
    return Relation(flow.name, columns, bool(streams), times, facts.spoken)


def _unnamed(where: str, flow: Flow, facts: QueryFacts) -> Iterator[Finding]:
    if flow.sink is not None:
        for text in facts.unnamed:
            yield warning(f"{where}.sql", f"{text} has no name of its own.", "Give it one: AS name.")


def _streaming(definition: Definition, graph: Graph, flow: Flow, streaming: Streaming) -> Iterator[Finding]:
    where = f"flow.{flow.name}.sql"
    for text in streaming.impossible:
        yield error(
            where,
            f"{text} needs all rows at once, and a stream has no end.",
            "Use a window of time, or a table.",
        )
    if streaming.waits_endlessly:
        yield error(
            where,
            "An outer join of two streams has to know when no partner can come any more.",
            "Give both sources a watermark, and compare their times in ON: b.at BETWEEN a.at AND …",
        )
    elif streaming.joins_endlessly:
        yield warning(
            where,
            "Two streams are joined without watermarks: every row is remembered for ever.",
            "Add watermarks.",
        )
    if not streaming.endless:
        return
    by = "; ".join(streaming.endless)
    has_watermark = any(source.watermark for source in graph.topic_sources(definition, flow))
    remedy = (
        "Group by window(…) of the time, too" if has_watermark else "Add watermark = … and group by window(…)"
    )
    if _is_upserted(definition, graph, flow):
        yield warning(
            where, f"Aggregates by {by} are remembered for ever.", f"{remedy}, if they may be forgotten."
        )
    else:
        yield error(
            where,
            f"Aggregates by {by} are never final, so nothing would be written.",
            f'{remedy}, or write to a table with mode = "upsert".',
        )


def _is_upserted(definition: Definition, graph: Graph, flow: Flow) -> bool:
    """Whether all that becomes of a flow's rows goes into tables that take changes."""
    ends = [each.sink for each in definition.flows if each is flow or flow.name in graph.upstream(each)]
    sinks = [sink for sink in ends if sink is not None]
    return bool(sinks) and all(isinstance(sink, TableSink) and sink.mode is SinkMode.UPSERT for sink in sinks)


def _deduplication(where: str, flow: Flow, relation: Relation) -> Iterator[Finding]:
    if not flow.deduplicate:
        return
    if not relation.event_times:
        yield error(
            f"{where}.deduplicate",
            "Rows are compared for as long as the watermark waits, and there is none.",
            "Add watermark = … to the source, and keep its column.",
        )
    for name in flow.deduplicate:
        if relation.columns is not None and relation.find(name) is None:
            sentence = f"'deduplicate' names {name}, which the flow does not give."
            yield error(f"{where}.deduplicate", sentence, did_you_mean(name, relation.visible_names))


def _expectation(where: str, expectation: Expectation, relation: Relation) -> Iterator[Finding]:
    key = f"expect.{expectation.name}"
    try:
        query = parse_condition(key, expectation.where)
    except Mistake as mistake:
        yield from_mistake(mistake.inside(where))
        return
    # A condition is of one row: whatever would be wrong about streams in a query is wrong here as a query.
    facts = analyse(key, query, {"rows": replace(relation, name="rows", is_stream=True)})
    if facts.mistakes:
        for found in facts.mistakes:
            renamed = found.sentence.replace(" in rows.", f" in {relation.name}.")
            yield from_mistake(Mistake(found.key, renamed, found.remedy).inside(where))
    elif facts.streaming.endless or facts.streaming.impossible:
        yield error(
            f"{where}.{key}", "An expectation is about one row, not about several.", "Use no aggregates."
        )
    elif facts.columns is not None and facts.columns.columns[0].type not in (BOOLEAN, UNKNOWN):
        kind = facts.columns.columns[0].type
        yield error(f"{where}.{key}", f"'{expectation.where}' is {kind}, and no condition.", "Compare it.")
