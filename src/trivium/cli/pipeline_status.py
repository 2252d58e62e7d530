"""``trivium pipeline status``: how far each flow is, as the broker knows it. Spark is not asked."""

from dataclasses import dataclass

import click

from trivium.cli.connecting import fail_if_refused, json_option, reach
from trivium.cli.output import printable, write_json, writing
from trivium.cli.pipeline_file import file_argument, pipeline_broker_option, read_pipeline
from trivium.pipeline.definition import Definition
from trivium.pipeline.standing import Standing, standing_of


@dataclass(frozen=True, slots=True)
class FlowRow:
    flow: str
    group: str
    partitions: int
    lag_records: int | None
    """None where a partition's is not known."""

    lag_seconds: float | None
    """Of the partition that is furthest behind."""

    has_begun: bool


@click.command("status")
@file_argument
@click.option("--partitions", "each_partition", is_flag=True, help="Also each partition by itself.")
@pipeline_broker_option
@json_option
def command(file: str, each_partition: bool, bootstrap: str | None, as_json: bool) -> None:
    """Show how far each flow is behind, in records and in seconds.

    Every flow is a consumer group, PIPELINE.FLOW, so 'trivium group describe' and Kafka's own tools see the
    same. Behind in seconds is the age of the oldest record that the flow has not read.

    \b
    Examples:
      trivium pipeline status orders.toml
      trivium pipeline status orders.toml --partitions
      trivium pipeline status orders.toml --json | jq '.flows[] | select(.lag_seconds > 60)'
    """
    definition = read_pipeline(file)
    with reach(bootstrap or definition.broker()) as cluster:
        standing = standing_of(definition, cluster)
    rows = _flow_rows(definition, standing)
    if as_json:
        write_json({"pipeline": definition.name, "flows": rows, "partitions": standing.partitions})
    elif rows:
        from trivium.cli.tables import show_table

        show_table(definition.name, rows)
        if each_partition:
            show_table("partitions", standing.partitions)
    else:
        with writing():
            click.echo(printable(f"{definition.name} has no flow that reads a topic."))
    fail_if_refused(standing.missing)


def _flow_rows(definition: Definition, standing: Standing) -> list[FlowRow]:
    rows = []
    for flow in definition.flows:
        own = [each for each in standing.partitions if each.flow == flow.name]
        records = [each.lag_records for each in own]
        if own:
            rows.append(
                FlowRow(
                    flow.name,
                    definition.group_of(flow),
                    len(own),
                    None if None in records else sum(filter(None, records)),
                    standing.lag_seconds(flow.name),
                    any(each.committed is not None for each in own),
                )
            )
    return rows
