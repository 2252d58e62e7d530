"""``trivium pipeline``: one module for each of its commands, imported when it is called."""

import click

from trivium.cli.lazy_group import LazyGroup

_COMMANDS = {
    "backfill": "Fill a flow's sink with older records.",
    "check": "Find mistakes in a pipeline before Spark starts.",
    "new": "Write a commented file to begin with.",
    "replay": "Send what a flow has set aside through it again.",
    "reset": "Let a flow begin anew, after saying what that means.",
    "run": "Run the flows of a pipeline on Spark.",
    "status": "Show how far each flow is behind.",
}


@click.group("pipeline", cls=LazyGroup, sentences=_COMMANDS, modules="trivium.cli.pipeline_{}")
def command() -> None:
    """Write, check, run and watch data pipelines.

    \b
    Examples:
      trivium pipeline new orders
      trivium pipeline check orders.toml
      trivium pipeline run orders.toml
      trivium pipeline status orders.toml
    """
