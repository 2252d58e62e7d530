"""The ``trivium`` command: one group, each subcommand in a module of its own.

Whatever may go wrong (a wrong flag, a foreign directory, a full disk) is one sentence on standard error
and an exit code: 2 for a command that cannot be understood, 1 for one that cannot be done. Subcommands
are imported when they are called: ``--help`` is instant.
"""

import importlib

import click

from trivium import __version__

_COMMANDS = {"inspect": "Look into a log directory, ours or Kafka's, without changing it."}


class _Lazy(click.Group):
    """Subcommands by name of their module."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"trivium.cli.{cmd_name}").command
        return command


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="trivium")
def main() -> None:
    """Trivium: one streaming log that Kafka, Iggy and RustLog clients share.

    \b
    Examples:
      trivium inspect /var/lib/kafka/data
      trivium inspect data --partition orders-0 --records 20
    """
