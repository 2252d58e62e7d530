"""``trivium pipeline replay``: what a flow has set aside goes through it again, after a fix."""

import click

from trivium.cli.connecting import json_option
from trivium.cli.output import printable, write_json, writing
from trivium.cli.pipeline_file import door_of, file_argument, pipeline_broker_option
from trivium.cli.pipeline_running import flow_named, refusals, run_flows, runnable
from trivium.cli.pipeline_spark import spark_options
from trivium.pipeline.trigger import AVAILABLE_NOW


@click.command("replay")
@file_argument
@click.argument("flow_name", metavar="FLOW")
@spark_options
@pipeline_broker_option
@json_option
def command(file: str, flow_name: str, master: str | None, bootstrap: str | None, as_json: bool) -> None:
    """Send what FLOW has set aside through it again.

    For records that failed because of the pipeline and not because of themselves: correct the schema, the
    query or the rule, then replay. What passes now goes to the sink, what does not is set aside again with
    its new reasons. Each record is sent through once: the next replay takes only what was set aside since.
    The flow itself may run meanwhile.

    \b
    Examples:
      trivium pipeline replay orders.toml clean_orders
      trivium pipeline replay orders.toml clean_orders --json
    """
    from trivium.spark.running.replay import plan_replay, readers_of

    definition = runnable(file)
    flow = flow_named(definition, flow_name)
    door = door_of(definition, bootstrap)
    with refusals():
        passage = plan_replay(definition, flow, door)
    if passage is None:
        _say_nothing_waits(definition.name, flow_name, as_json=as_json)
        return
    (tally,) = run_flows(
        definition,
        door,
        master,
        lambda run: run.start((flow_name,), AVAILABLE_NOW, passage),
        as_json=as_json,
    )
    readers = readers_of(definition, flow)
    if readers and tally.rows_out and not as_json:
        with writing():
            click.echo(
                printable(
                    f"{', '.join(readers)} read {flow_name} from the topics on and have passed over these "
                    "records; reset them where they must have them."
                )
            )


def _say_nothing_waits(pipeline: str, flow: str, *, as_json: bool) -> None:
    if as_json:
        write_json({"pipeline": pipeline, "flows": []})
        return
    with writing():
        click.echo(printable(f"{flow} has set nothing aside."))
