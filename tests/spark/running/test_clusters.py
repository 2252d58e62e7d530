"""The demo's pipeline, unchanged, on executors that are processes of their own: issue 7, ``docs/spark.md``.

Each run is the command in a process of its own: a Python process has one Spark, and that is taken. What comes
of it is counted by clients that know nothing of us, as the demo does.
"""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest
from demo.shop import Shop
from demo.tour import DOORS, PIPELINE

from tests.spark.conftest import SECONDS_MAX
from trivium.spark.launch.errors import LaunchError
from trivium.spark.launch.java import find_java_home
from trivium.testing import Broker

pytestmark = [pytest.mark.pipelines, pytest.mark.timeout(SECONDS_MAX)]

LOOPBACK = "127.0.0.1"
STOP_SECONDS_MAX = 60


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """For Spark on this machine, whatever it is called in the network; 200 partitions are for larger ones."""
    try:
        java_home = find_java_home(os.environ)
    except LaunchError as reason:
        pytest.skip(str(reason))
    monkeypatch.chdir(tmp_path)
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text("spark.sql.shuffle.partitions 2\n")
    return {
        **os.environ,
        "JAVA_HOME": str(java_home),
        "SPARK_CONF_DIR": str(conf),
        "SPARK_LOCAL_IP": LOOPBACK,
        "PYSPARK_PYTHON": sys.executable,
    }


def run_demo(master: str, environment: dict[str, str]) -> None:
    with Broker(settings=DOORS) as broker:
        shop = Shop(broker)
        list(shop.write())
        shutil.copy(PIPELINE, ".")
        words = ["pipeline", "run", PIPELINE.name, "--trigger", "available-now", "--master", master]
        done = subprocess.run(
            [sys.executable, "-m", "trivium", *words, "--broker", broker.bootstrap],
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
        )
        assert done.returncode == 0, done.stdout + done.stderr[-5000:]
        assert shop.problems(shop.read_back()) == []


def test_demo_runs_on_a_cluster_of_processes(environment: dict[str, str]) -> None:
    run_demo("local-cluster[2,1,1024]", environment)


def test_demo_runs_on_a_standalone_master_with_a_worker(tmp_path: Path, environment: dict[str, str]) -> None:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
    master = f"spark://{LOOPBACK}:{port}"
    worker = ["--cores", "2", "--memory", "2g", "--work-dir", str(tmp_path / "work"), master]
    with (
        daemon("master.Master", ["--port", str(port)], tmp_path / "master.log", environment),
        daemon("worker.Worker", worker, tmp_path / "worker.log", environment),
    ):
        run_demo(master, environment)


@contextmanager
def daemon(name: str, arguments: list[str], log: Path, environment: dict[str, str]) -> Iterator[None]:
    """A process of a standalone cluster, until the end of the test. Who needs it waits for it: a worker
    for its master, a driver for workers."""
    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    command = [
        "bash",
        str(program),
        f"org.apache.spark.deploy.{name}",
        "--host",
        LOOPBACK,
        "--webui-port",
        "0",
    ]
    with log.open("wb") as output:
        running = subprocess.Popen([*command, *arguments], stdout=output, stderr=output, env=environment)
    try:
        yield
    finally:
        running.terminate()
        running.wait(STOP_SECONDS_MAX)
