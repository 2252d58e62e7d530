"""The measured half of ``bench.spark``: reads and writes of topics by one connector, in a Spark of its own.

    spark_reads.py trivium|kafka BOOTSTRAP ROWS SCRATCH TOPIC…

Runs where this Spark is installed, with or without Trivium. Prints one line of JSON: for each topic and read
the rows a second and the processor seconds of Spark's JVM and of its Python workers.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

TICKS = os.sysconf("SC_CLK_TCK")
ROUNDS = 2
"""Of each read; the better one counts. A first, shorter one of all warms the JVM."""

SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def main() -> None:
    kind, bootstrap, rows, scratch, *topics = sys.argv[1:]
    spark = start(kind)
    options = {"kafka.bootstrap.servers": bootstrap}
    for topic in topics:  # warm
        noop(spark.read.format(kind).options(**options, subscribe=topic).load().limit(200_000))
    figures = {}
    for topic in topics:
        for name, action in reads(spark, kind, {**options, "subscribe": topic}, int(rows), scratch).items():
            figures[f"{topic}: {name}"] = max(measured(spark, action, int(rows)) for _ in range(ROUNDS))
    print(json.dumps(figures))
    spark.stop()


def start(kind: str) -> SparkSession:
    if kind == "trivium":
        from trivium.spark import session

        return session("local[2]", **SETTINGS)
    builder = SparkSession.builder.master("local[2]").config(
        "spark.jars.packages", os.environ["SPARK_PACKAGES"]
    )
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def reads(
    spark: SparkSession, kind: str, options: dict[str, str], rows: int, scratch: str
) -> dict[str, Callable[[], None]]:
    """What is read, by name. A schema is how our source is told which columns are wanted."""

    def load(schema: str | None = None) -> DataFrame:
        reader = spark.read.format(kind).options(**options)
        return (reader.schema(schema) if schema and kind == "trivium" else reader).load()

    def count_and_sum() -> None:
        frame = load("value BINARY, offset BIGINT")
        (row,) = frame.selectExpr("count(*)", "sum(length(value))", "max(offset)").collect()
        assert row[0] == rows, row

    def available_now(batches: int) -> None:
        source = spark.readStream.format(kind).options(
            **options, startingOffsets="earliest", maxOffsetsPerTrigger=str(-(-rows // batches))
        )
        query = (
            source.load()
            .writeStream.format("noop")
            .option("checkpointLocation", f"{scratch}/{kind}-{time.time_ns()}")
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        assert sum(each["numInputRows"] for each in query.recentProgress) == rows

    def to_topic() -> None:
        rows_of_records = load("key BINARY, value BINARY").select("key", "value")
        target = {name: text for name, text in options.items() if name != "subscribe"}
        rows_of_records.write.format(kind).mode("append").options(**target, topic=f"written-{kind}").save()

    return {
        "batch -> noop": lambda: noop(load()),
        "batch -> count, sum": count_and_sum,
        "only value -> noop": lambda: noop(load("value BINARY").select("value")),
        "batch -> topic, keys hashed": to_topic,
        "batch -> parquet": lambda: load().write.mode("overwrite").parquet(f"{scratch}/{kind}.parquet"),
        "availableNow, 1 batch": lambda: available_now(1),
        "availableNow, 10 batches": lambda: available_now(10),
    }


def noop(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def measured(spark: SparkSession, action: Callable[[], None], rows: int) -> tuple[float, float, float]:
    """Rows a second; processor seconds of the JVM and of its Python workers."""
    jvm = int(spark._jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]
    before, began = processor_s(jvm), time.perf_counter()
    action()
    seconds, after = time.perf_counter() - began, processor_s(jvm)
    return rows / seconds, after[0] - before[0], after[1] - before[1]


def processor_s(jvm: int) -> tuple[float, float]:
    """Used so far by a JVM, and by everything that it has started, ended processes included."""
    parents, used = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # It has just ended.
        pid = int(path.parent.name)
        parents[pid] = int(fields[1])
        used[pid] = [int(ticks) / TICKS for ticks in fields[11:15]]
    descendants = {jvm}
    while more := {pid for pid, parent in parents.items() if parent in descendants} - descendants:
        descendants |= more
    own = sum(used[jvm][:2])
    return own, sum(sum(used[pid]) for pid in descendants if pid in used) - own


if __name__ == "__main__":
    main()
