"""Whether a flow fits the table that is there already, asked before Spark starts."""

from collections.abc import Iterator

from trivium.pipeline.checking.graph import graph_of
from trivium.pipeline.checking.relation import UNKNOWN, Relation
from trivium.pipeline.definition import Definition
from trivium.pipeline.finding import Finding, error
from trivium.pipeline.flow import Flow
from trivium.pipeline.schema import Array, Column, DataType, Decimal, Map, Struct
from trivium.pipeline.sink import TableSink
from trivium.pipeline.source import NewColumns
from trivium.spark.formats.arrow_types import SCALARS, arrow_type
from trivium.spark.tables.errors import TableError
from trivium.spark.tables.matching import shared
from trivium.spark.tables.stores import open_store


def table_findings(definition: Definition, relations: dict[str, Relation]) -> Iterator[Finding]:
    """``relations``: what each flow gives, by its casefolded name. Tables of a catalog are believed."""
    graph = graph_of(definition)
    for flow in definition.flows:
        columns = relations[flow.name.casefold()].visible if flow.name.casefold() in relations else None
        if columns is None or not isinstance(flow.sink, TableSink) or flow.sink.table.path is None:
            continue
        sources = graph.topic_sources(definition, flow)
        may_grow = any(source.new_columns is NewColumns.ADD for source in sources)
        problem = _problem(flow, flow.sink, columns, may_grow=may_grow)
        if problem is not None:
            yield problem


def _problem(flow: Flow, sink: TableSink, columns: tuple[Column, ...], *, may_grow: bool) -> Finding | None:
    import pyarrow as pa

    if not all(_is_known(column.type) for column in columns):
        return None
    given = pa.schema([pa.field(column.name, arrow_type(column.type)) for column in columns])
    store = open_store(sink)
    try:
        if may_grow:
            there = store.read_schema()
            given = given if there is None else shared(there, given)
        store.check(given)
    except TableError as refusal:
        return error(f"flow.{flow.name}.sink", str(refusal))
    return None


def _is_known(kind: DataType) -> bool:
    match kind:
        case Array(element):
            return _is_known(element)
        case Map(key, value):
            return _is_known(key) and _is_known(value)
        case Struct(fields):
            return all(_is_known(each.type) for each in fields)
        case Decimal():
            return True
        case _:
            return kind != UNKNOWN and kind.name in SCALARS
