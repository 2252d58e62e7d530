"""``trivium table show``: what is in a table, up to which offsets, and where its flow differs from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from trivium.cli.connecting import json_option
from trivium.cli.output import printable, write_json
from trivium.cli.table_argument import named_table, table_argument, table_refusals
from trivium.pipeline.drift import Drift

if TYPE_CHECKING:
    from trivium.pipeline.table import Table
    from trivium.spark.tables.care import Description


@dataclass(frozen=True, slots=True)
class TableRow:
    format: str
    files: int
    small_files: int
    size_bytes: int
    rows: int | None
    last_commit: str | None
    operation: str | None
    commit_timestamp: int | None


@dataclass(frozen=True, slots=True)
class ColumnRow:
    column: str
    type: str
    is_partition: bool


@dataclass(frozen=True, slots=True)
class WriterRow:
    flow: str
    query: str
    batch: int
    offsets: Mapping[str, int]
    """Up to where each partition is covered (exclusive)."""


@click.command("show")
@table_argument
@click.option(
    "--pipeline", "file", metavar="FILE", help="The pipeline that writes it: shows where the two differ."
)
@json_option
def command(table: str, catalog: str | None, file: str | None, as_json: bool) -> None:
    """Show a table's columns, files, offsets covered, last commit and drift.

    TABLE is a folder with a Delta table, an Iceberg table or Parquet files. Offsets are those that the table
    itself remembers of each flow; they are in it from the same moment on as the rows.

    \b
    Examples:
      trivium table show lake/orders
      trivium table show lake/orders --pipeline orders.toml
      trivium table show sales.orders --catalog prod --json
    """
    from trivium.spark.tables.care import TARGET_BYTES, open_care
    from trivium.spark.tables.spark_types import spark_type

    with table_refusals():
        there = named_table(table, catalog)
        found = open_care(there).describe()
    if found is None:
        raise click.ClickException(printable(f"There is no table {table}; correct its name."))
    last = found.last_commit
    summary = TableRow(
        str(found.format),
        len(found.file_sizes),
        sum(size <= TARGET_BYTES // 2 for size in found.file_sizes),
        sum(found.file_sizes),
        found.rows,
        last.version if last else None,
        last.operation if last else None,
        last.timestamp_ms if last else None,
    )
    columns = [
        ColumnRow(field.name, spark_type(field.type), field.name in found.partition_by)
        for field in found.schema
    ]
    writers = _writers(found)
    drift = [] if file is None else _drift(file, there, {each.column: each.type for each in columns})
    if as_json:
        write_json({"table": summary, "columns": columns, "writers": writers, "drift": drift})
        return
    from trivium.cli.tables import show_table

    show_table(printable(table), [summary])
    show_table("columns", columns)
    show_table("offsets covered", writers)
    show_table("drift", drift)


def _writers(found: "Description") -> list[WriterRow]:
    return [
        WriterRow(
            writer.flow,
            writer.query,
            writer.batch,
            {
                f"{topic}-{partition}": offset
                for topic, partitions in sorted(writer.offsets.items())
                for partition, offset in sorted(partitions.items())
            },
        )
        for writer in sorted(found.writers, key=lambda each: (each.flow, each.query))
    ]


def _drift(file: str, there: "Table", columns: Mapping[str, str]) -> list[Drift]:
    from trivium.cli.pipeline_file import read_pipeline
    from trivium.pipeline.checking import relations_of
    from trivium.pipeline.checking.graph import graph_of
    from trivium.pipeline.drift import record_drift, table_drift
    from trivium.pipeline.sink import TableSink
    from trivium.spark.running.places import with_whole_paths
    from trivium.spark.running.seen_columns import seen_columns
    from trivium.spark.tables.data_files import file_system

    definition = with_whole_paths(read_pipeline(file))

    def is_it(sink: object) -> bool:
        if not isinstance(sink, TableSink):
            return False
        if sink.table.path is None or there.path is None:
            return sink.table == there
        return file_system(sink.table.path)[1] == file_system(there.path)[1]

    flow = next((each for each in definition.flows if is_it(each.sink)), None)
    if flow is None:
        raise click.BadParameter(printable(f"No flow of {file} writes to {there}."), param_hint="--pipeline")
    relation = relations_of(definition)[flow.name.casefold()]
    found = [] if relation.visible is None else list(table_drift(columns, relation.visible))
    for source in graph_of(definition).topic_sources(definition, flow):
        found += record_drift(source.name, seen_columns(definition, source))
    return found
