"""``trivium table``: one module for each of its commands, imported when it is called."""

import click

from trivium.cli.lazy_group import LazyGroup

_COMMANDS = {
    "compact": "Make few large files of many small ones.",
    "expire": "Remove older states and what failed attempts have left.",
    "show": "Show a table's columns, files, offsets and last commit.",
}


@click.group("table", cls=LazyGroup, sentences=_COMMANDS, modules="trivium.cli.table_{}")
def command() -> None:
    """Look at and look after tables that pipelines write.

    \b
    Examples:
      trivium table show lake/orders
      trivium table compact lake/orders
      trivium table expire lake/orders --older-than '7 days'
    """
