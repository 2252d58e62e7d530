"""``trivium pipeline backfill``: older records through a flow, beside the live one."""

import click

from trivium.cli.connecting import json_option
from trivium.cli.output import printable, write_json, writing
from trivium.cli.pipeline_file import door_of, file_argument, pipeline_broker_option
from trivium.cli.pipeline_running import flow_named, refusals, run_flows, runnable
from trivium.cli.pipeline_spark import spark_options
from trivium.pipeline.checking.graph import graph_of
from trivium.pipeline.definition import Definition
from trivium.pipeline.flow import Flow
from trivium.pipeline.mistake import Mistake
from trivium.pipeline.start import Start
from trivium.pipeline.trigger import AVAILABLE_NOW


@click.command("backfill")
@file_argument
@click.argument("flow_name", metavar="FLOW")
@click.option(
    "--from",
    "since",
    metavar="WHEN",
    default="earliest",
    help="earliest, a time (UTC unless it says otherwise), or offsets: '{\"0\": 17}'. Default: earliest.",
)
@click.option(
    "--to",
    "until",
    metavar="WHEN",
    help="The same, not included. Default, and never later: where the live flow began.",
)
@spark_options
@pipeline_broker_option
@json_option
def command(
    file: str,
    flow_name: str,
    since: str,
    until: str | None,
    master: str | None,
    bootstrap: str | None,
    as_json: bool,
) -> None:
    """Fill a flow's sink with records from before the live flow began.

    The live flow may run meanwhile. No record is filled twice: what the live flow or an earlier backfill has
    is left out. A backfill that was broken off is finished first.

    \b
    Examples:
      trivium pipeline backfill orders.toml clean_orders
      trivium pipeline backfill orders.toml clean_orders --from 2025-01-01 --to 2025-06-01
      trivium pipeline backfill orders.toml clean_orders --from '{"0": 1000}'
    """
    from trivium.spark.running.backfill import plan_backfill

    definition = runnable(file)
    flow = flow_named(definition, flow_name)
    door = door_of(definition, bootstrap)
    first = _moment(definition, flow, "--from", since)
    last = None if until is None else _moment(definition, flow, "--to", until)
    with refusals():
        backfill = plan_backfill(definition, flow, first, last, door)
    if backfill is None:
        if as_json:
            write_json({"pipeline": definition.name, "flows": []})
        else:
            with writing():
                click.echo(printable(f"Nothing is left to fill: {flow_name} has all of it."))
        return
    if not as_json:
        with writing():
            if backfill.is_resumed:
                number = backfill.passage.number
                click.echo(f"Finishes backfill {number}, which was broken off; then repeat the command.")
            for sentence in backfill.sentences:
                click.echo(printable(sentence))
    run_flows(
        definition,
        door,
        master,
        lambda run: run.start((flow_name,), AVAILABLE_NOW, backfill.passage),
        as_json=as_json,
    )
    backfill.mark_done()


def _moment(definition: Definition, flow: Flow, option: str, text: str) -> Start:
    from trivium.spark.running.backfill import parse_moment

    sources = graph_of(definition).topic_sources(definition, flow)
    topics = tuple(topic for source in sources for topic in source.topics)
    try:
        return parse_moment(option, text, topics)
    except Mistake as mistake:
        said = str(mistake).replace("'start'", option)
        raise click.BadParameter(printable(said), param_hint=option) from mistake
