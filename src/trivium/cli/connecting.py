"""How a command reaches its broker: the options that say which, and a cluster while the command runs.

Everything that a client may complain about becomes one sentence and exit code 1 here; an address that is none
is a wrong flag, exit code 2. Ctrl-C ends a command in silence.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import click

from trivium.cli.output import printable
from trivium.cli.security_options import Command, logged_in_as, security_options
from trivium.client.address import parse_addresses
from trivium.client.cluster import Cluster
from trivium.client.errors import BadAddress, ClientError, Refused
from trivium.client.security import PLAINTEXT

K = TypeVar("K")
V = TypeVar("V")

_broker_option = click.option(
    "--broker",
    "-b",
    "bootstrap",
    envvar="TRIVIUM_BROKER",
    default="127.0.0.1:9092",
    show_default=True,
    show_envvar=True,
    metavar="HOST:PORT",
    help="Where a broker listens; several with commas between.",
)


def broker_option(command: Command) -> Command:
    """Which broker, and who one is there: ``bootstrap`` for the command, the rest for ``reach``."""
    return _broker_option(security_options(command))


json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document for scripts.")


@contextmanager
def reach(bootstrap: str, *, carries_secrets: bool = False) -> Iterator[Cluster]:
    """``carries_secrets``: what is sent must not be read on its way."""
    security = logged_in_as() or PLAINTEXT
    try:
        if carries_secrets and not security.has_tls:
            _require_this_machine(bootstrap)
        with Cluster.connect(bootstrap, security=security) as cluster:
            yield cluster
    except BadAddress as error:
        raise click.BadParameter(printable(str(error)), param_hint="--broker") from error
    except ClientError as error:
        raise click.ClickException(printable(str(error))) from error


def _require_this_machine(bootstrap: str) -> None:
    import ipaddress

    for address in parse_addresses(bootstrap):
        try:
            is_here = ipaddress.ip_address(address.host).is_loopback
        except ValueError:
            is_here = address.host == "localhost"
        if not is_here:
            raise click.UsageError(
                f"A password would be sent to {address} for everybody to read; use --tls-ca or --tls."
            )


def succeeded(outcomes: Mapping[K, V | Refused]) -> dict[K, V]:
    """What came of those that were not refused."""
    return {key: outcome for key, outcome in outcomes.items() if not isinstance(outcome, Refused)}


def fail_if_refused(outcomes: Mapping[K, V | Refused]) -> None:
    """Say why the others were refused, one sentence each, and end with exit code 1."""
    refusals = [outcome for outcome in outcomes.values() if isinstance(outcome, Refused)]
    if refusals:
        raise click.ClickException("\n".join(printable(str(refusal)) for refusal in refusals))


def confirm(question: str, is_sure: bool) -> None:
    """Ask before something is lost, unless ``--yes`` was given. A script has nobody to ask."""
    if is_sure:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("This cannot be undone; say --yes if nobody is there to be asked.")
    click.confirm(printable(question), abort=True)
