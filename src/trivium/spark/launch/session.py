"""Starting a Spark session, or finding the one that runs."""

import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from trivium.spark.launch.errors import LaunchError
from trivium.spark.launch.java import find_java_home
from trivium.spark.launch.settings import LOOPBACK, caller_settings, is_local, settings_for
from trivium.spark.launch.spark_home import quick_spark_home
from trivium.spark.launch.threads import THREADS, threads_are_chosen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER_VARIABLE: Final = "TRIVIUM_MASTER"
DEFAULT_MASTER: Final = "local[*]"

_MASTER: Final = re.compile(
    r"local|local\[(\*|\d+)(, *\d+)?\]|local-cluster\[ *\d+ *, *\d+ *, *\d+ *\]|yarn|"
    r"spark://.+|k8s://.+|sc://.+"
)


def start(master: str | None, app_name: str, conf: Mapping[str, object]) -> "SparkSession":
    """See ``trivium.spark.session``."""
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError as error:
        raise LaunchError("Spark is not installed: pip install 'trivium[spark]'.") from error
    wanted = master or os.environ.get(MASTER_VARIABLE)
    target = wanted or DEFAULT_MASTER
    if not _MASTER.fullmatch(target):
        raise LaunchError(
            f"{target!r} is no master of Spark; write local[*], spark://HOST:PORT, yarn, k8s://… or sc://HOST."
        )
    running = SparkSession.getActiveSession()
    if running is not None:
        return _adopt(running, wanted, conf)
    settings = settings_for(target, conf, os.environ)
    _quieten()
    if target.startswith("sc://"):
        return _connect(target, app_name, settings)
    _prepare_environment(target)
    builder = SparkSession.builder.master(target).appName(app_name)
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        with _jvm_environment(target, settings):
            started = builder.getOrCreate()
    except Exception as error:
        # The JVM did not come up, and Spark has no one error for that.
        raise LaunchError(_why_not_started(error, settings)) from error
    if is_local(target):
        _leave_out_checksum_files(started)
    return started


def _leave_out_checksum_files(started: "SparkSession") -> None:
    """Beside each file on a local disk Hadoop writes another with checksums, and starts a program to set the
    rights of each: twice in every micro-batch. The settings of a session do not reach so far."""
    jvm: Any = started._jvm
    hadoop: Any = started._jsc.hadoopConfiguration()
    jvm.org.apache.hadoop.fs.FileSystem.getLocal(hadoop).setWriteChecksum(False)


def _adopt(running: "SparkSession", wanted: str | None, conf: Mapping[str, object]) -> "SparkSession":
    """Notebooks run their first cell again and again: the session that is there is the answer.

    What the caller sets is set, and nothing else: the settings it runs with may be somebody's choice.
    """
    current = running.conf.get("spark.master", None)
    if wanted is not None and current is not None and wanted != current:
        raise LaunchError(
            f"A Spark session runs on {current} already, not on {wanted}; stop it first, with spark.stop()."
        )
    for name, value in caller_settings(conf).items():
        known = running.conf.get(name, None)
        if running.conf.isModifiable(name):
            running.conf.set(name, value)
        elif known != value:
            raise LaunchError(
                f"{name} is {known or 'not set'} in the Spark session that runs, and only a new one can have "
                f"{value}; stop it first, with spark.stop()."
            )
    return running


def _connect(target: str, app_name: str, settings: Mapping[str, str]) -> "SparkSession":
    """A session on a Spark Connect server, which needs no Java here."""
    from pyspark.sql import SparkSession

    try:
        session = SparkSession.builder.remote(target).appName(app_name).getOrCreate()
    except ImportError as error:
        raise LaunchError("Spark Connect needs more packages: pip install 'pyspark[connect]'.") from error
    for name, value in settings.items():
        if session.conf.isModifiable(name):
            session.conf.set(name, value)
    return session


def _prepare_environment(target: str) -> None:
    """What Spark's launcher and workers read from the environment."""
    os.environ["JAVA_HOME"] = str(find_java_home(os.environ))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if is_local(target):
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)


@contextmanager
def _jvm_environment(target: str, settings: Mapping[str, str]) -> Iterator[None]:
    """What the JVM and the processes that it starts find in their environment, and nobody else: other
    programs that this process runs may have another Spark, and use all cores."""
    added = _additions(settings) if is_local(target) else {}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _additions(settings: Mapping[str, str]) -> dict[str, str]:
    added = {}
    if "SPARK_HOME" not in os.environ and (home := quick_spark_home(os.environ)) is not None:
        added["SPARK_HOME"] = str(home)
    if not threads_are_chosen(os.environ, settings):
        added[THREADS] = "1"
    return added


def _quieten() -> None:
    """PySpark repeats in its own log what it raises as an exception."""
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).disabled = True


def _why_not_started(error: Exception, settings: Mapping[str, str]) -> str:
    packages = settings.get("spark.jars.packages")
    if packages:
        return (
            f"Spark did not start; one of these packages may not be found: {packages}. What it wrote above "
            "names the missing one; correct it, or give files by spark.jars."
        )
    lines = str(error).strip().splitlines() or [type(error).__name__]
    # Of an exception in Java the first line only says which call it came from; the second is the reason.
    reason = next((line.removeprefix(": ") for line in lines if line.startswith(": ")), lines[0])
    return f"Spark did not start: {reason.rstrip('.')}. What it wrote above says more."
