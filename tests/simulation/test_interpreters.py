"""One seed, one history: in another process too, with other hashes, and under another interpreter.

What ``make sim`` finds under PyPy has to be there when CPython is asked to show it again.
"""

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import click
import pytest

from trivium.testing.world.histories import history
from trivium.testing.world.profiles import PROFILES

SEEDS = (6, 7)
"""The second goes over real sessions."""
OPERATIONS = 25
PLAIN = """
import sys
for compiled in ("cramjam", "google_crc32c._crc32c", "lz4", "orjson", "zstandard"):
    sys.modules[compiled] = None
"""
"""Packages that PyPy cannot load, or slowly."""
PLAYS = """
from tests.simulation.test_interpreters import digests
print(*digests(), sep="\\n")
"""
DEADLINE_SECONDS = 170


def digests() -> list[str]:
    """What each profile's histories were, in short."""
    return [
        sha256(repr([history(profile, seed, OPERATIONS) for seed in SEEDS]).encode()).hexdigest()
        for profile in PROFILES
    ]


def played_by(interpreter: str, code: str, **environment: str) -> list[str]:
    done = subprocess.run(
        [interpreter, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        env={**os.environ, **environment},
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_seed_gives_the_same_history_without_compiled_packages_and_with_other_hashes() -> None:
    plain = played_by(sys.executable, PLAIN + PLAYS, PYTHONHASHSEED="1", TRIVIUM_KERNEL="python")
    assert plain == digests()


def test_seed_gives_the_same_history_under_pypy() -> None:
    pypy = shutil.which("pypy3")
    if pypy is None or played_by(pypy, "import sys; print(sys.version_info >= (3, 11))") != ["True"]:
        pytest.skip("no pypy3 of Python 3.11 or newer")
    packages = Path(click.__file__).parents[1]
    source = Path(__file__).parents[2] / "src"
    assert played_by(pypy, PLAYS, PYTHONPATH=f"{source}{os.pathsep}{packages}") == digests()
