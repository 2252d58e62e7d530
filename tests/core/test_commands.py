"""Every command has its row, and a result for the day when it is refused."""

import importlib
import pkgutil
from typing import Any

import pytest

import trivium.core.commands
from trivium.core.access import Row
from trivium.core.commands.command import Act, Command


def all_commands() -> list[type[Command[Any]]]:
    """Two in different modules may have one name."""
    found = set()
    for info in pkgutil.iter_modules(trivium.core.commands.__path__):
        module = importlib.import_module(f"{trivium.core.commands.__name__}.{info.name}")
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Command) and value not in (Command, Act):
                found.add(value)
    return sorted(found, key=lambda command: (command.__name__, command.__module__))


@pytest.mark.parametrize("command", all_commands(), ids=lambda command: command.__name__)
def test_command_says_which_right_it_needs_and_what_its_refusal_looks_like(
    command: type[Command[Any]],
) -> None:
    """A command without a row would be open to everybody for ever (S10)."""
    row = getattr(command, "ROW", None)
    assert isinstance(row, Row)
    assert row.free or command.refused is not Command.refused
