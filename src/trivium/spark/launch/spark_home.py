"""A home for Spark in which its Python workers start four times as fast, and its JVM starts quietly.

Spark lets its workers import PySpark from an archive of sources in its home, which every one of them compiles
anew: a second of processor time for each, and Spark gives up a worker that has not come after ten seconds.
In a home without that archive they import the installed package that this process runs with, compiled once.
Only for workers on this machine: elsewhere the archive may be all the PySpark there is.

A JVM that finds no settings for its log says so, and logs warnings until a session tells it its level. Here
it finds the level of our sessions. A folder that ``SPARK_CONF_DIR`` names still comes before.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from trivium.spark.launch.places import cache_folder

SHARED: Final = ("bin", "jars", "sbin")
"""What Spark needs of its home."""


LOGGING: Final = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n%ex
# What Python starts asks for the level of shells, and tells about it where it is another.
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
"""


def quick_spark_home(environment: Mapping[str, str]) -> Path | None:
    """A folder with everything of Spark but the archive; None where it cannot be made."""
    import pyspark

    package = Path(pyspark.__file__).parent
    home = cache_folder(environment) / f"spark-{pyspark.__version__}-{_mark(package)}"
    try:
        home.mkdir(parents=True, exist_ok=True)
        for name in SHARED:
            _link(home / name, package / name)
        _write(home / "conf" / "log4j2.properties", LOGGING)
    except OSError:
        return None
    return home


def _link(link: Path, target: Path) -> None:
    if link.is_symlink() and Path(os.readlink(link)) == target:
        return
    draft = link.with_name(f"{link.name}.{os.getpid()}")
    draft.symlink_to(target, target_is_directory=True)
    draft.replace(link)


def _write(file: Path, text: str) -> None:
    if file.is_file() and file.read_text() == text:
        return
    file.parent.mkdir(exist_ok=True)
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.write_text(text)
    draft.replace(file)


def _mark(package: Path) -> str:
    """Tells environments apart that have the same version."""
    import hashlib

    return hashlib.sha256(str(package).encode()).hexdigest()[:12]
