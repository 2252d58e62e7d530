"""Which kernel is used, and that everything works with the interpreted one and without Cython."""

import os
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

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


def kernel_beside(folder: Path, native: str) -> tuple[str, str]:
    """What is chosen, and what is said, in a copy of the package with that as its compiled form."""
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "spark", "server", "testing")
    shutil.copytree(_ROOT / "src" / "trivium", folder / "trivium", ignore=ignored)
    (folder / "trivium" / "records" / "kernel" / "native.py").write_text(native)
    script = "from trivium.records import kernel; print(kernel.form.__name__.rpartition('.')[2])"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": str(folder), "TRIVIUM_KERNEL": ""},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.strip()


@pytest.mark.parametrize(
    "native",
    [
        "made_from = 0\n",
        "from trivium.records.kernel.interpreted import *\n",
        "from trivium.records.batch import what_has_gone\n",
        "import trivium.records.what_has_gone\n",
    ],
    ids=["of other sources", "from before", "without a name it needs", "without a module it needs"],
)
def test_kernel_that_was_made_from_other_sources_is_passed_over_with_a_sentence(
    tmp_path: Path, native: str
) -> None:
    chosen, said = kernel_beside(tmp_path, native)
    assert chosen == "interpreted"
    assert said.startswith("The compiled kernel was made from other sources than these")
    assert said.count("\n") == 0


def test_kernel_that_was_made_from_these_sources_is_used_without_a_word(tmp_path: Path) -> None:
    """The stand-in for a compiled module lies among the sources here, so it reads what these are by now."""
    native = (
        "from pathlib import Path\n"
        "from trivium.records.kernel_sources import fingerprint\n"
        "from trivium.records.kernel.interpreted import *\n"
        "made_from = fingerprint(Path(__file__).parent)\n"
    )
    assert kernel_beside(tmp_path, native) == ("native", "")
