"""Sinks: their columns exist, no two flows write to one place, and none feeds itself."""

from collections.abc import Iterator

from trivium.pipeline.checking.graph import Graph
from trivium.pipeline.checking.nesting import whole
from trivium.pipeline.checking.relation import Relation
from trivium.pipeline.definition import Definition
from trivium.pipeline.finding import Finding, error
from trivium.pipeline.flow import Flow
from trivium.pipeline.mistake import did_you_mean
from trivium.pipeline.schema import Array, Column, Map, Struct
from trivium.pipeline.sink import Sink, TableSink, TopicSink, ValueFormat


def sink_findings(flow: Flow, relation: Relation) -> Iterator[Finding]:
    """``relation``: what the flow gives."""
    columns = relation.visible
    if flow.sink is None or columns is None:
        return
    where = f"flow.{flow.name}.sink"
    yield from _twice(where, columns)
    if isinstance(flow.sink, TopicSink):
        yield from _topic(where, flow.sink, columns)
    else:
        yield from _table(where, flow.sink, columns)


def place_findings(definition: Definition, graph: Graph) -> Iterator[Finding]:
    """Who writes where."""
    taken: dict[str, str] = {}
    for flow in definition.flows:
        for key, sink in (("sink", flow.sink), ("quarantine", flow.quarantine)):
            if sink is None:
                continue
            owner = f"flow.{flow.name}.{key}"
            before = taken.setdefault(_place(sink), owner)
            is_beside = key == "quarantine" and flow.quarantine_at is None
            if before != owner and not (is_beside and before.endswith("quarantine")):
                _, other, other_key = before.split(".")
                yield error(
                    f"flow.{flow.name}" if is_beside else owner,
                    f"The {key} of {flow.name}, {sink}, is also the {other_key} of {other}.",
                    "Two flows cannot write to one place; give each its own, or UNION them in one flow.",
                )
        if isinstance(flow.sink, TopicSink):
            for source in graph.topic_sources(definition, flow):
                if flow.sink.topic in source.topics:
                    yield error(
                        f"flow.{flow.name}.sink",
                        f"The flow writes to {flow.sink.topic}, which it reads: it would never end.",
                        "Write to another topic.",
                    )


def _place(sink: Sink) -> str:
    if isinstance(sink, TopicSink):
        return str(sink)
    return f"path {whole(sink.table.path)}" if sink.table.path else f"table {sink.table}"


def _twice(where: str, columns: tuple[Column, ...]) -> Iterator[Finding]:
    seen: set[str] = set()
    for column in columns:
        if column.name.casefold() in seen:
            yield error(where, f"The flow gives two columns {column.name}.", "Rename one of them with AS.")
        seen.add(column.name.casefold())


def _topic(where: str, sink: TopicSink, columns: tuple[Column, ...]) -> Iterator[Finding]:
    names = [column.name for column in columns]
    if sink.key is not None:
        column = _find(columns, sink.key)
        if column is None:
            yield _missing(f"{where}.key", "key", sink.key, names)
        elif isinstance(column.type, Array | Map | Struct):
            yield error(
                f"{where}.key", f"The key {sink.key} is {column.type}.", "Use to_json, or one of its parts."
            )
    values = [name for name in names if sink.key is None or name.casefold() != sink.key.casefold()]
    if sink.format in (ValueFormat.TEXT, ValueFormat.RAW) and len(values) != 1:
        said = f"has {', '.join(values)}" if values else "has none"
        yield error(f"{where}.format", f"{sink.format} takes one column beside the key, and the flow {said}.")
    if sink.format is ValueFormat.CSV:
        for column in columns:
            if isinstance(column.type, Array | Map | Struct):
                yield error(
                    f"{where}.format", f"{column.name} is {column.type}, which csv cannot hold.", "Use json."
                )


def _table(where: str, sink: TableSink, columns: tuple[Column, ...]) -> Iterator[Finding]:
    names = [column.name for column in columns]
    for key, wanted in (("key", sink.key), ("partition_by", sink.partition_by)):
        for name in wanted:
            column = _find(columns, name)
            if column is None:
                yield _missing(f"{where}.{key}", key, name, names)
            elif isinstance(column.type, Array | Map | Struct):
                yield error(f"{where}.{key}", f"{name} is {column.type}; '{key}' needs simple values.")
    if names and len(sink.partition_by) == len(names):
        yield error(
            f"{where}.partition_by", "Every column is in 'partition_by'.", "Files need one that is not."
        )


def _find(columns: tuple[Column, ...], name: str) -> Column | None:
    return next((column for column in columns if column.name.casefold() == name.casefold()), None)


def _missing(where: str, key: str, name: str, names: list[str]) -> Finding:
    return error(where, f"'{key}' names {name}, which the flow does not give.", did_you_mean(name, names))
