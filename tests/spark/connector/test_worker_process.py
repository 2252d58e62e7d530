"""What a process of Spark's does differently, tried in a process of its own: it changes the whole of it."""

import os
import platform
import subprocess
import sys

import pytest

FREEZES = """
import gc
from trivium.spark.connector.worker_process import settle
settle()
first = gc.get_freeze_count()
more = [[] for _ in range(1000)]
settle()
print(first > 1000, gc.get_freeze_count() - first < 1000)
import json.tool
settle()
print(gc.get_freeze_count() - first > 1000)
"""

FAULTS = """
import resource
from trivium.spark.connector.worker_process import settle
settle()
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    bytearray(16 << 20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults()
print(sum(faults() for _ in range(10)) < 100)
"""

ENDS = """
import sys
from trivium.spark.connector.worker_process import fall_silent_if_left
try:
    try:
        raise {error}("left")
    finally:
        fall_silent_if_left()
except {error}:
    print("said", file=sys.stderr)
"""


def run(program: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    inherited = {name: text for name, text in os.environ.items() if name != "SPARK_REUSE_WORKER"}
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )


def test_what_is_imported_is_left_out_of_collections_until_more_is() -> None:
    assert run(FREEZES, SPARK_REUSE_WORKER="1").stdout == "True True\nTrue\n"
    assert run(FREEZES).stdout == "False True\nFalse\n", "the process of a person is left as it is"


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no such setting")
def test_memory_of_one_piece_is_there_for_the_next() -> None:
    assert run(FAULTS, SPARK_REUSE_WORKER="1").stdout == "True\n"
    assert run(FAULTS).stdout == "False\n", "the process of a person is left as it is"


@pytest.mark.parametrize(
    ("error", "told"), [("BrokenPipeError", ""), ("EOFError", ""), ("ValueError", "said\n")]
)
def test_only_the_end_of_the_pipe_is_not_told(error: str, told: str) -> None:
    assert run(ENDS.format(error=error), SPARK_REUSE_WORKER="1").stderr == told
    assert run(ENDS.format(error=error)).stderr == "said\n"
