"""Spark is quiet unless it is asked, also where no level of its log counts. No Spark."""

import subprocess
import sys

import pytest

from trivium.cli.pipeline_spark import KEPT_BYTES_MAX, Aside

CHATTER = "import sys; sys.stderr.write('WARNING: ' + 'x' * 200_000 + ' the end')"


def test_what_processes_write_is_kept_aside_and_ours_is_not(capfd: pytest.CaptureFixture[str]) -> None:
    aside = Aside()
    with aside.taking_standard_error():
        process = subprocess.Popen([sys.executable, "-c", CHATTER])
    print("ours", file=sys.stderr, flush=True)
    assert process.wait(60) == 0
    assert capfd.readouterr().err == "ours\n"
    assert len(aside.text()) == KEPT_BYTES_MAX
    assert aside.text().endswith("x the end")


def test_nothing_was_written_where_nothing_was_taken() -> None:
    assert Aside().text() == ""
