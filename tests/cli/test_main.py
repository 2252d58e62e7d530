"""The command as a process: how it is started, and what becomes of its output."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from trivium import __version__
from trivium.cli.main import main

COMMAND = [sys.executable, "-m", "trivium"]


def test_python_m_trivium_is_the_command() -> None:
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"trivium, version {__version__}\n"


def test_wrong_command_is_a_sentence_and_exit_code_2() -> None:
    done = subprocess.run([*COMMAND, "inspct"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.endswith("Error: No such command 'inspct'. Did you mean 'inspect'?\n")


def test_command_like_no_other_is_a_sentence_without_a_guess() -> None:
    done = CliRunner().invoke(main, ["xyzzy"])
    assert done.exit_code == 2
    assert done.output.endswith("Error: No such command 'xyzzy'.\n")


@pytest.mark.parametrize(
    "command", [["--help"], ["topic", "--help"], ["consume", "--help"], ["bench", "--help"]]
)
def test_help_does_not_wait_for_what_only_work_needs(command: list[str]) -> None:
    """Help is instant because it imports little; and the first page imports no command at all."""
    program = (
        "import sys\n"
        "from trivium.cli.main import main\n"
        f"main({command!r}, standalone_mode=False)\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'rich' or name == 'trivium.client'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    imported = done.stdout.splitlines()[-1]
    assert imported == ("[]" if command == ["--help"] else "['trivium.client']")


def test_every_command_of_the_table_is_there_and_described() -> None:
    page = CliRunner().invoke(main, ["--help"]).output
    assert isinstance(main, click.Group)
    context = click.Context(main)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert re.search(rf"^  {name} +[A-Z].+\.$", page, re.MULTILINE)
    assert main.get_command(context, "tables") is None


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_output_that_cannot_be_written_is_one_sentence(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "meta.properties").write_text("version=1\ncluster.id=x\nnode.id=1\n")
    with Path("/dev/full").open("w") as full:
        command = [*COMMAND, "inspect", str(tmp_path), *options]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (
        1,
        "Error: The output could not be written: No space left on device.\n",
    )


def test_reader_that_stops_reading_is_no_error_to_speak_of(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text("version=1\ncluster.id=x\nnode.id=1\n")
    writer = subprocess.Popen(
        [*COMMAND, "inspect", str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert writer.stdout is not None
    assert writer.stderr is not None
    writer.stdout.close()
    assert writer.stderr.read() == b""
    writer.wait()
