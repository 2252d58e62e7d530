"""The demo's pipeline, unchanged, on executors that are processes of their own: issue 7, ``docs/spark.md``.

Each run is the command in a process of its own: a Python process has one Spark, and that is taken. What comes
of it is counted by clients that know nothing of us, as the demo does.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from demo.shop import Shop
from demo.tour import DOORS, PIPELINE

from tests.spark.conftest import SECONDS_MAX
from trivium.spark.launch.errors import LaunchError
from trivium.spark.launch.java import find_java_home
from trivium.testing import Broker

pytestmark = [pytest.mark.pipelines, pytest.mark.timeout(SECONDS_MAX)]

LOOPBACK = "127.0.0.1"


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
