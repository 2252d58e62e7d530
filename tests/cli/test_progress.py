"""Progress is for people who watch, and for nobody else."""

import os
import pty
import subprocess
import sys

PROGRAM = """
from trivium.cli.progress import progress
with progress("sending", 10, "records") as advance:
    for _ in range(10):
        advance(1)
print("done")
"""


def test_progress_is_not_written_where_nobody_watches() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"done\n", b"")


def test_progress_is_shown_on_a_terminal_and_leaves_standard_output_alone() -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=theirs, check=True, env=environment
    )
    shown = os.read(ours, 100_000)
    os.close(theirs)
    os.close(ours)
    assert done.stdout == b"done\n"
    assert b"sending" in shown
    assert b"10 records" in shown


def test_lines_that_are_typed_have_no_bar_between_them() -> None:
    ours, theirs = pty.openpty()
    program = PROGRAM.replace('"records")', '"records", is_typed=True)')
    environment = {**os.environ, "TERM": "xterm"}
    command = [sys.executable, "-c", program]
    subprocess.run(command, stdout=theirs, stderr=theirs, check=True, env=environment)
    shown = os.read(ours, 100_000)
    os.close(theirs)
    os.close(ours)
    assert shown == b"done\r\n"
