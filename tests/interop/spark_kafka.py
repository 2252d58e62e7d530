"""Spark with its own Kafka connector, in an environment of its own: releases of Spark do not share one.

The connector is resolved by Spark itself (``spark.jars.packages``), the first time from Maven Central.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.interop.kafka import ROOT, Unavailable

SPARK_VERSION = "4.0.0"
"""The newest whose connector was found with all of its parts."""

PACKAGES = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{SPARK_VERSION}"

INSTALL_SECONDS_MAX = 900
QUERY_SECONDS_MAX = 600


@dataclass(frozen=True)
class SparkKafka:
    python: Path

    @classmethod
    def obtain(cls) -> "SparkKafka":
        """The environment, made the first time, with a Spark that has found its connector."""
        directory = ROOT / ".cache" / f"spark-{SPARK_VERSION}"
        obtained = cls(directory / "bin" / "python")
        ready = directory / "ready"
        if not ready.exists():
            for command in (
                [sys.executable, "-m", "venv", str(directory)],
                [str(obtained.python), "-m", "pip", "install", "--quiet", f"pyspark=={SPARK_VERSION}"],
            ):
                done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS_MAX)
                if done.returncode:
                    raise Unavailable(f"pyspark {SPARK_VERSION} cannot be installed here")
            if obtained.run(ROOT / "interop" / "spark-kafka" / "queries.py", "resolve").returncode:
                raise Unavailable(f"{PACKAGES} cannot be resolved here")
            ready.touch()
        return obtained

    def run(
        self, program: Path, *arguments: str, seconds_max: float = QUERY_SECONDS_MAX
    ) -> "subprocess.CompletedProcess[str]":
        """Run a program in the environment; it finds the connector's name in ``SPARK_PACKAGES``."""
        environment = {
            **os.environ,
            "PYSPARK_PYTHON": str(self.python),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_PACKAGES": PACKAGES,
        }
        return subprocess.run(
            [str(self.python), str(program), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds_max,
        )
