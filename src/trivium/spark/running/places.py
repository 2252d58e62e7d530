"""Paths of a definition as seen from everywhere: Spark's processes need not stand where its author does."""

from dataclasses import replace
from pathlib import Path

from trivium.pipeline.definition import Definition
from trivium.pipeline.sink import Sink, TableSink
from trivium.pipeline.source import Source, TableSource
from trivium.pipeline.table import Table


def with_whole_paths(definition: Definition) -> Definition:
    """The same pipeline; relative paths begin at the working directory, as for every other command."""
    return replace(
        definition,
        state=_whole(definition.state),
        sources=tuple(_source(definition, source) for source in definition.sources),
        flows=tuple(
            replace(flow, sink=_sink(flow.sink), quarantine_at=_sink(flow.quarantine_at))
            for flow in definition.flows
        ),
    )


def _source(definition: Definition, source: Source) -> Source:
    if isinstance(source, TableSource):
        return replace(source, table=_table(source.table))
    if source.format.schema_file is None:
        return source
    file = str(definition.beside(source.format.schema_file).absolute())
    return replace(source, format=replace(source.format, schema_file=file))


def _sink(sink: Sink | None) -> Sink | None:
    return replace(sink, table=_table(sink.table)) if isinstance(sink, TableSink) else sink


def _table(table: Table) -> Table:
    return table if table.path is None else replace(table, path=_whole(table.path))


def _whole(path: str) -> str:
    return path if "://" in path else str(Path(path.removeprefix("file:")).absolute())
