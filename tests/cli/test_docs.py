"""``docs/cli.md`` names commands and options that there are."""

import re
from pathlib import Path

import click
import pytest

from trivium.cli.main import main

PAGE = Path(__file__).parents[2].joinpath("docs", "cli.md").read_text()
ROWS = re.findall(r"^\| `trivium ([^`]+)`(?: / `(\w+)`)? \| (.+) \|$", PAGE, re.MULTILINE)


def find(path: list[str]) -> click.Command:
    command: click.Command = main
    for name in path:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None, f"there is no 'trivium {' '.join(path)}'"
        command = found
    return command


@pytest.mark.parametrize(("spelled", "sibling", "text"), ROWS)
def test_commands_of_the_page_exist_with_their_options(spelled: str, sibling: str, text: str) -> None:
    path = [word for word in spelled.split() if re.fullmatch("[a-z]+", word)]
    command = find(path)
    if sibling:
        find([*path[:-1], sibling])
    options = {option for param in command.params for option in param.opts}
    for option in re.findall(r"--[a-z-]+", f"{spelled} {text}"):
        assert option in options, f"'trivium {' '.join(path)}' has no {option}"


def test_page_names_every_command_that_talks_to_a_broker() -> None:
    named = {
        tuple(word for word in spelled.split() if re.fullmatch("[a-z]+", word)) for spelled, _, _ in ROWS
    }
    named |= {(*spelled.split()[:1], sibling) for spelled, sibling, _ in ROWS if sibling}
    for group in ("topic", "group", "bench"):
        command = find([group])
        assert isinstance(command, click.Group)
        assert {(group, name) for name in command.list_commands(click.Context(command))} <= named
    assert {("produce",), ("consume",)} <= named
