"""The ``trivium`` command: one group, each subcommand in a module of its own.

Whatever may go wrong (a wrong flag, a foreign directory, a full disk) is one sentence on standard error
and an exit code: 2 for a command that cannot be understood, 1 for one that cannot be done. Subcommands
are imported when they are called: ``--help`` is instant.
"""

import click

from trivium import __version__
from trivium.cli.lazy_group import LazyGroup

_COMMANDS = {
    "acl": "Say who may do what: access control lists.",
    "audit": "Read who came in, and what each was allowed or not.",
    "bench": "Measure how fast a broker takes and gives records.",
    "cert": "Make certificates for encrypted listeners.",
    "config": "Show a node's settings, and where each comes from.",
    "consume": "Print the records of a topic.",
    "doctor": "Tell what a node opens to whom, and what of that is risky.",
    "group": "List, describe, reset and delete consumer groups.",
    "inspect": "Look into a log directory, ours or Kafka's, without changing it.",
    "pipeline": "Write, check, run and watch data pipelines.",
    "produce": "Send lines of text as records.",
    "quota": "Limit what clients may use of a broker.",
    "serve": "Run a broker for clients of Kafka, Iggy and RustLog.",
    "table": "Look at and look after tables that pipelines write.",
    "token": "Make, list, renew and end delegation tokens.",
    "topic": "List, create, describe, change and delete topics.",
    "user": "List, add and remove users, and change passwords.",
}


@click.group(
    cls=LazyGroup,
    sentences=_COMMANDS,
    modules="trivium.cli.{}",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="trivium")
def main() -> None:
    """Trivium: one streaming log that Kafka, Iggy and RustLog clients share.

    \b
    Examples:
      trivium serve --data data
      trivium topic create orders --partitions 3
      echo 'hello' | trivium produce orders
      trivium consume orders --follow
      trivium inspect data --partition orders-0 --records 20
    """
