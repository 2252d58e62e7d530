"""Which kernel is used, and that everything works with the interpreted one and without Cython."""

import os
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from trivium.records import kernel

_ROOT = Path(__file__).parents[2]


def run_python(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": str(_ROOT / "src")} | environment,
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_kernel_asked_for_in_python_is_interpreted() -> None:
    script = "from trivium.records import kernel; print(kernel.compiled, kernel.form.__file__[-3:])"
    assert run_python("-c", script, TRIVIUM_KERNEL="python").split() == ["False", ".py"]


def test_kernel_without_a_wish_is_the_compiled_one_where_there_is_one() -> None:
    script = "from trivium.records import kernel; print(kernel.compiled)"
    built = any(Path(kernel.__file__).with_name(f"native{suffix}").exists() for suffix in EXTENSION_SUFFIXES)
    assert run_python("-c", script, TRIVIUM_KERNEL="").split() == [str(built)]


def test_kernel_without_cython_installed_reads_and_builds() -> None:
    script = """
import sys
sys.modules["cython"] = None
from trivium.records.batch import Record, build_batch, iter_records
batch = build_batch([Record(0, 1, b"k", b"v", (("h", b"1"),))])
print(list(iter_records(batch)) == [Record(0, 1, b"k", b"v", (("h", b"1"),))])
"""
    assert run_python("-c", script, TRIVIUM_KERNEL="python").split() == ["True"]


def test_whole_tests_pass_when_the_process_runs_the_interpreted_kernel() -> None:
    run_python(
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "interpreted",
        "tests/records/test_golden_batches.py",
        "tests/records/test_control.py",
        TRIVIUM_KERNEL="python",
    )
