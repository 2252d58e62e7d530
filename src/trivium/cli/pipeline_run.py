"""``trivium pipeline run``: a pipeline's flows on Spark."""

import click

from trivium.cli.connecting import json_option
from trivium.cli.output import printable
from trivium.cli.pipeline_file import door_of, file_argument, pipeline_broker_option
from trivium.cli.pipeline_running import run_flows, runnable
from trivium.cli.pipeline_spark import spark_options
from trivium.pipeline.mistake import Mistake
from trivium.pipeline.trigger import Trigger, parse_trigger


@click.command("run")
@file_argument
@click.option("--only", "only", metavar="FLOW", multiple=True, help="This flow; more than once for several.")
@click.option(
    "--trigger",
    metavar="WHEN",
    help="Instead of what the flows say: continuous, available-now, or how often, '10 seconds'.",
)
@spark_options
@pipeline_broker_option
@json_option
def command(
    file: str,
    only: tuple[str, ...],
    trigger: str | None,
    master: str | None,
    bootstrap: str | None,
    as_json: bool,
) -> None:
    """Run the flows of a pipeline until they end, or until Ctrl-C.

    Each flow goes on where it was: what is written is in its sink once, whatever was killed when. With
    --trigger available-now the command ends when everything that is there is read.

    \b
    Examples:
      trivium pipeline run orders.toml
      trivium pipeline run orders.toml --trigger available-now
      trivium pipeline run orders.toml --only clean_orders --master 'local[4]'
    """
    definition = runnable(file)
    when = _trigger(trigger)
    run_flows(
        definition,
        door_of(definition, bootstrap),
        master,
        lambda run: run.start(only, when),
        as_json=as_json,
        is_live=True,
    )


def _trigger(said: str | None) -> Trigger | None:
    try:
        return None if said is None else parse_trigger(said)
    except Mistake as mistake:
        raise click.BadParameter(printable(str(mistake)), param_hint="--trigger") from mistake
