"""One Spark session for all tests that need one: it takes longer to start than all of them to run."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from trivium.spark import session
from trivium.spark.launch.errors import LaunchError
from trivium.spark.launch.java import find_java_home
from trivium.testing import Broker

HEAP = "1g"
QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss2m"
"""A JVM that lives for a minute gains nothing from compiling well."""

SECONDS_MAX = 900
"""On a busy machine, with the start of the session."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With ``--dist loadgroup`` one worker of pytest-xdist gets them all, and one session is enough."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("spark"))
            # To interrupt a call into the JVM spoils the session for all tests behind it.
            item.add_marker(pytest.mark.timeout(SECONDS_MAX))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    try:
        find_java_home(os.environ)
    except LaunchError as reason:
        pytest.skip(str(reason))
    started = session(
        "local[2]",
        app_name="tests",
        spark_driver_memory=HEAP,
        **{
            "spark.driver.extraJavaOptions": QUICK_JVM,
            "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
            "spark.sql.shuffle.partitions": 1,
            # On, to show that nothing is missing with it: see connector/batch_reader.
            "spark.sql.python.filterPushdown.enabled": True,
        },
    )
    yield started
    started.stop()


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    return str(tmp_path / "checkpoint")
