"""The file that a command about a pipeline is given, and the broker that goes with it."""

import click

from trivium.cli.output import printable
from trivium.cli.security_options import Command, logged_in_as, security_options
from trivium.client.door import Door
from trivium.client.security import PLAINTEXT
from trivium.pipeline.checking.sql_text import SQL_REMEDY, is_sql_readable
from trivium.pipeline.definition import Definition
from trivium.pipeline.finding import Unreadable
from trivium.pipeline.reading import load

file_argument = click.argument("file", metavar="FILE", type=click.Path())

_broker_option = click.option(
    "--broker",
    "-b",
    "bootstrap",
    metavar="HOST:PORT",
    help="Where a broker listens, whatever the file says. Without it: the file, then TRIVIUM_BOOTSTRAP, then "
    "TRIVIUM_BROKER, then 127.0.0.1:9092.",
)


def pipeline_broker_option(command: Command) -> Command:
    """Which broker, and who one is there."""
    return _broker_option(security_options(command))


def door_of(definition: Definition, bootstrap: str | None) -> Door:
    """The broker of a pipeline, as the options of the command that runs say."""
    security = logged_in_as() or PLAINTEXT
    if security.key is not None:
        raise click.UsageError("Spark gets one file: put the key into that of --tls-certificate.")
    return Door(bootstrap or definition.broker(), security)


def read_pipeline(file: str) -> Definition:
    """The definition; a file that gives none is one sentence."""
    try:
        definition = load(file)
    except Unreadable as error:
        remedy = "" if len(error.findings) == 1 else f" 'trivium pipeline check {file}' shows all."
        raise click.ClickException(printable(f"{error}{remedy}")) from error
    if any(flow.sql for flow in definition.flows) and not is_sql_readable():
        raise click.ClickException(f"SQL cannot be understood without sqlglot. {SQL_REMEDY}")
    return definition
