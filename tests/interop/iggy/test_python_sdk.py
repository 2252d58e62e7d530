"""Iggy's Python client of each generation: the tests that it ships, and ours over a restart (002.*, R1)."""

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.interop.brokers import Restartable
from tests.interop.iggy.python_sdk import SHA256, PythonSdk
from tests.interop.kafka import Unavailable

pytestmark = pytest.mark.interop

SUITE_SECONDS_MAX = 300
SITTING_SECONDS_MAX = 90
SMOKE = Path(__file__).parent / "smoke.py"


@pytest.fixture(scope="module", params=SHA256)
def sdk(request: pytest.FixtureRequest) -> PythonSdk:
    try:
        return PythonSdk.obtain(request.param)
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture
def address() -> str:
    """A port that stays the same over restarts."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{sock.getsockname()[1]}"


@pytest.fixture
def broker(tmp_path: Path, address: str) -> Iterator[Restartable]:
    with Restartable(tmp_path, "--iggy", address) as served:
        assert isinstance(served, Restartable)
        yield served


def test_sdk_suite_of_the_release_passes(sdk: PythonSdk, broker: Restartable, address: str) -> None:
    host, _, port = address.partition(":")
    done = subprocess.run(
        [
            *(str(sdk.python), "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-o", "asyncio_mode=auto", "tests/test_iggy_sdk.py"),
        ],
        cwd=sdk.tests,
        # Its pytest has none of our plugins, and knows none of their options.
        env={**os.environ, "PYTEST_ADDOPTS": "", "IGGY_SERVER_HOST": host, "IGGY_SERVER_TCP_PORT": port},
        capture_output=True,
        text=True,
        timeout=SUITE_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert " failed" not in done.stdout


@pytest.mark.parametrize("killed", [False, True], ids=["stopped", "killed"])
def test_sdk_goes_on_where_it_was_after_a_restart(
    sdk: PythonSdk, broker: Restartable, address: str, killed: bool
) -> None:
    first_partition = "1" if sdk.version.startswith("0.5") else "0"
    _play(sdk, address, first_partition, "begin")
    broker.restart(killed=killed)
    _play(sdk, address, first_partition, "resume")


def _play(sdk: PythonSdk, address: str, first_partition: str, sitting: str) -> None:
    done = subprocess.run(
        [str(sdk.python), str(SMOKE), address, "days", first_partition, sitting],
        capture_output=True,
        text=True,
        timeout=SITTING_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
