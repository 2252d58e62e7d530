"""The collector of garbage is ours only where nobody has named one: a JVM told of two does not start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trivium.spark.launch.errors import LaunchError
from trivium.spark.launch.java import find_java_home
from trivium.spark.launch.settings import settings_for

OPTIONS = "spark.driver.defaultJavaOptions"
PARALLEL = "-XX:+UseParallelGC"


def options(environment: dict[str, str], **conf: object) -> str:
    return settings_for("local[2]", conf, environment)[OPTIONS]


def test_collector_is_ours_where_nobody_says_anything() -> None:
    heap = {"spark_driver_memory": "4g", "spark_driver_extraJavaOptions": "-Xss4m -Dmail=me@example.org"}
    assert PARALLEL in options({"JAVA_HOME": "/usr/lib/jvm", "PS1": "@here"}, **heap)


def test_collector_is_not_ours_on_other_machines() -> None:
    for master in ("yarn", "spark://host:7077", "sc://host"):
        assert OPTIONS not in settings_for(master, {})


@pytest.mark.parametrize("name", ["spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"])
def test_collector_of_the_caller_stays_the_only_one(name: str) -> None:
    assert PARALLEL not in options({}, **{name: "-Xss2m -XX:+UseSerialGC"})


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("JAVA_TOOL_OPTIONS", "-XX:+UseZGC"),
        ("_JAVA_OPTIONS", "-XX:+UseG1GC"),
        ("JDK_JAVA_OPTIONS", "@options.txt"),
        ("JDK_JAVA_OPTIONS", "-XX:VMOptionsFile=options.txt"),
        ("SPARK_SUBMIT_OPTS", "-XX:+UseShenandoahGC"),
        ("PYSPARK_SUBMIT_ARGS", "--driver-java-options '-Xss2m -XX:+UseSerialGC' pyspark-shell"),
        ("PYSPARK_SUBMIT_ARGS", "--conf spark.driver.extraJavaOptions=-XX:+UseG1GC pyspark-shell"),
        ("PYSPARK_SUBMIT_ARGS", "--driver-java-options=@options.txt pyspark-shell"),
    ],
)
def test_collector_of_the_environment_stays_the_only_one(variable: str, text: str) -> None:
    assert PARALLEL not in options({variable: text})


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("spark-defaults.conf", "spark.driver.extraJavaOptions  -XX:+UseG1GC\n"),
        ("spark-env.sh", "export JAVA_TOOL_OPTIONS=-XX:+UseSerialGC\n"),
        ("java-opts", "-XX:+UseSerialGC\n"),
    ],
)
def test_collector_of_sparks_own_files_stays_the_only_one(tmp_path: Path, file: str, line: str) -> None:
    folder = tmp_path / "conf"
    folder.mkdir()
    assert PARALLEL in options({"SPARK_CONF_DIR": str(folder)})
    (folder / file).write_text(line)
    assert PARALLEL not in options({"SPARK_CONF_DIR": str(folder)})
    assert PARALLEL not in options({"SPARK_HOME": str(tmp_path)})


@pytest.mark.parametrize("form", ["--properties-file {} pyspark-shell", "--properties-file={} pyspark-shell"])
def test_collector_of_a_file_of_properties_stays_the_only_one(tmp_path: Path, form: str) -> None:
    file = tmp_path / "mine.conf"
    file.write_text("spark.driver.extraJavaOptions -XX:+UseZGC\n")
    assert PARALLEL not in options({"PYSPARK_SUBMIT_ARGS": form.format(file)})


def test_default_options_of_sparks_own_file_are_not_put_aside(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(f"{OPTIONS} -Dmine=1\n")
    assert OPTIONS not in settings_for("local", {}, {"SPARK_CONF_DIR": str(tmp_path)})


SESSION = """
import sys
from trivium.spark import session
spark = session("local[1]", **dict(each.split("=", 1) for each in sys.argv[1:]))
beans = spark._jvm.java.lang.management.ManagementFactory.getGarbageCollectorMXBeans()
print(sorted(bean.getName() for bean in beans))
spark.stop()
"""


@pytest.mark.parametrize(
    ("environment", "conf", "collectors"),
    [
        ({}, [], "PS MarkSweep"),
        ({"JAVA_TOOL_OPTIONS": "-XX:+UseSerialGC"}, [], "MarkSweepCompact"),
        ({}, ["spark.driver.extraJavaOptions=-XX:+UseG1GC"], "G1 Young Generation"),
    ],
)
def test_jvm_starts_with_the_collector_that_was_chosen(
    environment: dict[str, str], conf: list[str], collectors: str
) -> None:
    try:
        find_java_home(os.environ)
    except LaunchError as reason:
        pytest.skip(str(reason))
    done = subprocess.run(
        [sys.executable, "-c", SESSION, *conf], env=os.environ | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert collectors in done.stdout
