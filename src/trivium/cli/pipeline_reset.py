"""``trivium pipeline reset``: a flow from the beginning, explained before it is done."""

import click

from trivium.cli.output import printable, writing
from trivium.cli.pipeline_file import file_argument, read_pipeline
from trivium.cli.pipeline_running import flow_named
from trivium.spark.running.errors import CannotRun
from trivium.spark.running.reset import plan_reset


@click.command("reset")
@file_argument
@click.argument("flow_name", metavar="FLOW")
@click.option("--remove-output", is_flag=True, help="Also remove its table and its quarantine.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def command(file: str, flow_name: str, remove_output: bool, yes: bool) -> None:
    """Let a flow begin anew, after saying what that means.

    Only while the flow does not run.

    \b
    Examples:
      trivium pipeline reset orders.toml clean_orders
      trivium pipeline reset orders.toml clean_orders --remove-output --yes
    """
    definition = read_pipeline(file)
    flow = flow_named(definition, flow_name)
    try:
        reset = plan_reset(definition, flow, removes_output=remove_output)
    except CannotRun as error:
        raise click.ClickException(printable(str(error))) from error
    with writing():
        for sentence in reset.sentences:
            click.echo(printable(sentence))
    if not reset.folders:
        return
    if not yes and not click.confirm("Do it?"):
        raise click.exceptions.Exit(1)
    try:
        reset.carry_out()
    except OSError as error:
        raise click.ClickException(
            printable(f"{error.filename} cannot be removed: {error.strerror}. Correct that and repeat it.")
        ) from error
    with writing():
        click.echo("Done.")
