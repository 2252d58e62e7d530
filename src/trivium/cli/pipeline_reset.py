"""``trivium pipeline reset``: a flow from the beginning, explained before it is done."""

from collections.abc import Iterator

import click

from trivium.cli.output import printable, writing
from trivium.cli.pipeline_file import door_of, file_argument, pipeline_broker_option, read_pipeline
from trivium.cli.pipeline_running import flow_named, refusals
from trivium.client.admin_groups import delete_groups
from trivium.client.cluster import Cluster
from trivium.client.door import Door
from trivium.client.errors import ClientError, Refused, settled
from trivium.messages.errors import ErrorCode
from trivium.pipeline.checking.broker import BROKER_TIMEOUT_S
from trivium.spark.running.errors import CannotRun
from trivium.spark.running.reset import plan_reset


@click.command("reset")
@file_argument
@click.argument("flow_name", metavar="FLOW")
@click.option("--remove-output", is_flag=True, help="Also remove its table and its quarantine.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pipeline_broker_option
def command(file: str, flow_name: str, remove_output: bool, yes: bool, bootstrap: str | None) -> None:
    """Let a flow begin anew, after saying what that means.

    Only while the flow does not run.

    \b
    Examples:
      trivium pipeline reset orders.toml clean_orders
      trivium pipeline reset orders.toml clean_orders --remove-output --yes
    """
    definition = read_pipeline(file)
    flow = flow_named(definition, flow_name)
    door = door_of(definition, bootstrap)
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
        with refusals():
            reset.carry_out()
    except OSError as error:
        raise click.ClickException(
            printable(f"{error.filename} cannot be removed: {error.strerror}. Correct that and repeat it.")
        ) from error
    with writing():
        click.echo("Done.")
        for sentence in _group_forgotten(definition.group_of(flow), door):
            click.echo(printable(sentence))


def _group_forgotten(group: str, door: Door) -> Iterator[str]:
    """The broker only shows how far the flow was: where it cannot be told to forget, a run puts it right."""
    try:
        with Cluster.connect(door.bootstrap, timeout_s=BROKER_TIMEOUT_S, security=door.security) as cluster:
            settled(delete_groups(cluster, [group])[group])
    except ClientError as error:
        if not isinstance(error, Refused) or error.code is not ErrorCode.GROUP_ID_NOT_FOUND:
            yield f"'trivium pipeline status' shows how far {group} was until the next run: {error}"
