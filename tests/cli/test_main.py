"""The command as a process: how it is started, and what becomes of its output."""

import subprocess
import sys
from pathlib import Path

import pytest

from trivium import __version__

COMMAND = [sys.executable, "-m", "trivium"]


def test_python_m_trivium_is_the_command() -> None:
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"trivium, version {__version__}\n"


def test_wrong_command_is_a_sentence_and_exit_code_2() -> None:
    done = subprocess.run([*COMMAND, "inspct"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.endswith("Error: No such command 'inspct'.\n")


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
