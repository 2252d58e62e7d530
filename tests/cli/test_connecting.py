"""Reaching a broker: which, and what is said when there is none."""

import socket
from pathlib import Path

import click
import pytest
from tests.cli.commands import complaint, misuse, output, run

from trivium.testing import Broker

COMMANDS = [
    ("topic", "list"),
    ("topic", "create", "a"),
    ("topic", "describe", "a"),
    ("topic", "alter", "a", "--partitions", "3"),
    ("topic", "records", "a"),
    ("topic", "delete", "a", "--yes"),
    ("produce", "a"),
    ("consume", "a"),
    ("consume", "a", "--group", "g"),
    ("group", "list"),
    ("group", "describe", "g"),
    ("group", "reset", "g", "--topic", "a", "--to", "earliest"),
    ("group", "delete", "g", "--yes"),
    ("bench", "produce"),
    ("bench", "consume"),
]


@pytest.fixture(scope="module")
def dead() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_command_without_a_broker_is_one_sentence(command: tuple[str, ...], dead: str) -> None:
    assert complaint(*command, "--broker", dead) == (
        f"Nothing listens at {dead}; start a broker with 'trivium serve', or name another by --broker."
    )


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_address_that_is_none_is_a_wrong_flag(command: tuple[str, ...]) -> None:
    assert "'here:there' is no address of a broker" in misuse(*command, "--broker", "here:there")


def test_broker_may_come_from_the_environment(dead: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_BROKER", dead)
    assert dead in complaint("topic", "list")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_has_an_example_and_says_where_the_broker_is(command: tuple[str, ...]) -> None:
    text = output(*command[: 2 if command[0] in ("topic", "group", "bench") else 1], "--help")
    assert "--broker" in text
    assert "TRIVIUM_BROKER" in text
    assert "127.0.0.1:9092" in text
    assert "Examples:" in text


def test_terminal_is_not_commanded_by_what_a_sentence_quotes() -> None:
    """S14."""
    result = run("topic", "list", "--broker", "a bell: \x07")
    assert "\\x07" in result.stderr
    assert "\x07" not in result.stderr


def test_terminal_is_not_commanded_by_a_file_that_is_no_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S14."""
    monkeypatch.delenv("TRIVIUM_TEST_BROKER", raising=False)  # settings come from the environment, too
    (tmp_path / "server.properties").write_bytes(b"\x7fELF\x1b[2J=1\n")
    result = run("config", str(tmp_path / "server.properties"))
    assert result.exit_code == 1
    assert "\\x7fELF\\x1b[2J" in result.stderr
    assert "\x1b" not in result.stderr


def test_interrupted_command_ends_in_silence(bootstrap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("trivium.cli.group.list_groups", interrupt)
    result = run("group", "list", "--broker", bootstrap)
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "")


def test_command_interrupted_at_its_question_ends_alike(
    bootstrap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> str:
        raise KeyboardInterrupt

    def ask(*_: object) -> None:
        click.termui.visible_prompt_func = interrupt  # until the runner puts its own away
        click.confirm("Is that so?", abort=True)

    monkeypatch.setattr("trivium.cli.group.list_groups", ask)
    result = run("group", "list", "--broker", bootstrap)
    assert result.exit_code == 130
    assert "Aborted" not in result.output


def test_stranger_who_is_refused_is_not_told_that_the_broker_is_empty() -> None:
    """Lists are empty because nothing is shown to strangers, and a refusal names the setting (S11)."""
    with Broker(access_anonymous="deny") as broker:
        for command in ("topic", "group"):
            said = output(command, "list", "--broker", broker.bootstrap)
            assert f"There are no {command}s yet, or none that you may see" in said
        assert "access.anonymous" in complaint("consume", "t", "--broker", broker.bootstrap)
