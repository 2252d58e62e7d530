"""Which collector of garbage the JVM gets: the parallel one, where nobody has chosen.

Rows come from Python as short-lived objects, and a collector that stops the program to clear them away needs
less of the processor for it than Java's default, which works beside the program. A JVM that is told of two
collectors does not start, so ours is named only if no word of one is found anywhere that Java and Spark look
for options: what the caller sets, the environment, and the files that Spark's scripts read. A file of
arguments may have such a word as well.
"""

import importlib.util
import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final

PARALLEL: Final = "-XX:+UseParallelGC"

DEFAULT_OPTIONS: Final = "spark.driver.defaultJavaOptions"

_CHOICE: Final = re.compile(r"Use\w*GC\b|VMOptionsFile|-XX:Flags=|(?:^|[\s=\"'])@\S")
"""A collector, or a file that may name one."""

_VARIABLES: Final = re.compile("JAVA|JDK|SPARK|IBM|GRAAL", re.IGNORECASE)
"""``JAVA_TOOL_OPTIONS``, ``_JAVA_OPTIONS``, ``JDK_JAVA_OPTIONS``, ``SPARK_SUBMIT_OPTS``,
``PYSPARK_SUBMIT_ARGS`` and what else a Java or a Spark may know."""

_FILES: Final = ("spark-defaults.conf", "spark-env.sh", "java-opts")


def collector_is_chosen(environment: Mapping[str, str], conf: Mapping[str, str]) -> bool:
    """Whether anybody but us says, or may say, how garbage is collected."""
    return any(_CHOICE.search(text) for text in _said(environment, conf))


def default_options_are_set(environment: Mapping[str, str]) -> bool:
    """Whether Spark's own file has default options for Java, which ours would put aside."""
    return any(DEFAULT_OPTIONS in text for text in _in_files(environment))


def _said(environment: Mapping[str, str], conf: Mapping[str, str]) -> Iterator[str]:
    yield from conf.values()
    yield from (text for name, text in environment.items() if _VARIABLES.search(name))
    yield from _in_files(environment)


def _in_files(environment: Mapping[str, str]) -> Iterator[str]:
    home = environment.get("SPARK_HOME") or _package()
    folder = environment.get("SPARK_CONF_DIR") or f"{home}/conf"
    files = [Path(folder, name) for name in _FILES]
    files += [Path(name) for name in _properties_files(environment.get("PYSPARK_SUBMIT_ARGS", ""))]
    for file in files:
        try:
            yield file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # Spark does without those that are not there, and says so itself of the last.


def _package() -> str:
    """Where Spark is looked for without ``SPARK_HOME``."""
    found = importlib.util.find_spec("pyspark")
    return str(Path(found.origin).parent) if found is not None and found.origin else ""


def _properties_files(arguments: str) -> Iterator[str]:
    """What ``--properties-file`` names."""
    try:
        words = shlex.split(arguments.replace("--properties-file=", "--properties-file "))
    except ValueError:
        return  # Of quotes that are not closed PySpark says what is wrong.
    yield from (following for word, following in pairwise(words) if word == "--properties-file")
