"""A group of commands that are imported when they are called: ``--help`` is instant.

What goes wrong in any of them ends alike: a sentence that cannot command a terminal, or silence and exit code
130 after Ctrl-C.
"""

import importlib
from collections.abc import Mapping
from typing import Any, Final

import click

from trivium.cli.output import printable

INTERRUPTED: Final = 130
"""The exit code of a program that a shell has interrupted."""


class LazyGroup(click.Group):
    """Each command is ``command`` of a module of its own."""

    def __init__(self, *args: Any, sentences: Mapping[str, str], modules: str, **options: Any) -> None:
        """``sentences``: what each command does, by its name; ``modules``: a module, with {} for the name."""
        super().__init__(*args, **options)
        self._sentences = sentences
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._sentences)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._sentences:
            return None
        command: click.Command = importlib.import_module(self._modules.format(cmd_name)).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The nearest name for a wrong one: click looks among commands that are imported, here none."""
        name = args[0]
        if name not in self._sentences and not ctx.resilient_parsing:
            from difflib import get_close_matches

            for nearest in get_close_matches(name, self._sentences, n=1):
                ctx.fail(f"No such command {name!r}. Did you mean {nearest!r}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            # It may quote a file or a broker, and those may hold anything.
            said = "\n".join(map(printable, error.message.split("\n")))
            error.message = said  # type: ignore[misc] # final, and yet what click shows
            raise
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED) from None
        except click.Abort as end:
            # At a question, where click makes one of Ctrl-C and of an input that has ended.
            if isinstance(end.__context__, KeyboardInterrupt):
                raise click.exceptions.Exit(INTERRUPTED) from None
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """From the table: click would import every command to ask for its first sentence."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(self._sentences.items()))
