"""What docs/spark.md tells people to copy works as it stands, and its table names the options there are."""

import re
from pathlib import Path

from pyspark.sql import SparkSession

from trivium.spark.connector import kafka_options, options, write_options

PAGE = Path(__file__).parents[2].joinpath("docs", "spark.md").read_text()


def test_first_example_of_the_page_runs(spark: SparkSession) -> None:
    example = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
    exec(compile(example, "docs/spark.md", "exec"), {})
    assert SparkSession.getActiveSession() is spark


def test_table_of_options_is_complete() -> None:
    table = PAGE.partition("## Options")[2].partition("\n## ")[0]
    rows = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    named = {name.lower() for row in rows for name in re.findall(r"`([\w.]+)`", row)}
    without_effect = {"fetchoffset.numretries", "fetchoffset.retryintervalms", "groupidprefix"}
    known = {name.lower() for name in options._NAMES} - without_effect
    known |= {kafka_options.PREFIX + name for name in kafka_options._SETTINGS}
    assert named == known


def test_table_of_options_for_writing_is_complete() -> None:
    table = PAGE.partition("## Writing")[2].partition("\n## ")[0]
    rows = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    named = {name.lower() for row in rows for name in re.findall(r"`([\w.]+)`", row)}
    known = {"topic", "deliveryguarantee", *(kafka_options.PREFIX + name for name in write_options._SETTINGS)}
    assert named == known - {"kafka.bootstrap.servers"}
