"""The measured half of ``bench.spark``: reads and writes of topics by one connector, in a Spark of its own.

    spark_reads.py trivium|kafka BOOTSTRAP BROKER_PID ROWS SCRATCH TOPIC…

Runs where this Spark is installed, with or without Trivium. Prints one line of JSON: for each topic and read
the rows a second, and the processor seconds of Spark's JVM, of its Python workers and of the broker. A table
is what a pipeline of ours writes, exactly once; Spark's own way, beside its Kafka connector, is its sink for
Parquet.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

TICKS = os.sysconf("SC_CLK_TCK")
ROUNDS = 3
"""Of each read; of the rate and of the processor the best one counts. The first ones warm the JVM: with two
rounds a third of its time is spent on compiling itself."""

SETTLED_S = 0.5
"""After an action, until Spark has waited for the processes that ended with it: what one of them has used may
be in nobody's account for a moment, or in two."""

WAITED_FOR = 0
"""In place of a process: all those that have ended and were waited for."""

PIPELINE = """
[pipeline]
name = "bench"
state = "{folder}/state"
[source.{topic}]
format = "raw"
[flow.kept]
sql = "SELECT _key, value, _topic, _partition, _offset, _timestamp FROM {topic}"
sink = {{ format = "{table_format}", path = "{folder}/rows" }}
"""

SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def main() -> None:
    kind, bootstrap, broker, rows, scratch, *topics = sys.argv[1:]
    spark = start(kind)
    options = {"kafka.bootstrap.servers": bootstrap}
    for topic in topics:  # warm
        noop(spark.read.format(kind).options(**options, subscribe=topic).load().limit(200_000))
    figures = {}
    for topic in topics:
        actions = reads(spark, kind, {**options, "subscribe": topic}, int(rows), scratch)
        if topic == topics[0]:  # How records were compressed has nothing to do with what is written.
            actions |= writes(spark, kind, {**options, "subscribe": topic}, int(rows), scratch)
        for name, action in actions.items():
            rounds = [measured(spark, int(broker), action, int(rows)) for _ in range(ROUNDS)]
            figures[f"{topic}: {name}"] = best(rounds)
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
    """What is read, by name."""

    def count_and_sum() -> None:
        frame = loaded(spark, kind, options, "value BINARY, offset BIGINT")
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

    return {
        "batch -> noop": lambda: noop(loaded(spark, kind, options)),
        "batch -> count, sum": count_and_sum,
        "only value -> noop": lambda: noop(loaded(spark, kind, options, "value BINARY").select("value")),
        "availableNow, 1 batch": lambda: available_now(1),
        "availableNow, 10 batches": lambda: available_now(10),
    }


def writes(
    spark: SparkSession, kind: str, options: dict[str, str], rows: int, scratch: str
) -> dict[str, Callable[[], None]]:
    """What is written, by name."""

    def to_topic() -> None:
        records = loaded(spark, kind, options, "key BINARY, value BINARY").select("key", "value")
        target = {name: text for name, text in options.items() if name != "subscribe"}
        records.write.format(kind).mode("append").options(**target, topic=f"written-{kind}").save()

    def to_parquet() -> None:
        loaded(spark, kind, options).write.mode("overwrite").parquet(f"{scratch}/{kind}.parquet")

    def pipeline_into(table_format: str) -> None:
        from trivium.pipeline.reading import load as load_pipeline
        from trivium.pipeline.trigger import AVAILABLE_NOW
        from trivium.spark.running.run import Run

        folder = Path(scratch, f"{table_format}-{time.time_ns()}")
        folder.mkdir()
        file = folder / "bench.toml"
        file.write_text(PIPELINE.format(folder=folder, topic=options["subscribe"], table_format=table_format))
        with Run(load_pipeline(file), spark, options["kafka.bootstrap.servers"]) as run:
            run.start(trigger=AVAILABLE_NOW)
            run.wait()
        run.raise_failure()
        assert run.tallies["kept"].rows_out == rows, run.tallies
        shutil.rmtree(folder)

    def sink_into_parquet() -> None:
        folder = Path(scratch, f"parquet-{time.time_ns()}")
        source = spark.readStream.format(kind).options(**options, startingOffsets="earliest").load()
        query = (
            source.select("key", "value", "topic", "partition", "offset", "timestamp")
            .writeStream.format("parquet")
            .options(path=str(folder / "rows"), checkpointLocation=str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        assert sum(each["numInputRows"] for each in query.recentProgress) == rows
        shutil.rmtree(folder)

    tables: dict[str, Callable[[], None]] = {"availableNow -> Parquet": sink_into_parquet}
    if kind == "trivium":
        tables = {
            "availableNow -> Parquet": lambda: pipeline_into("parquet"),
            "availableNow -> Delta": lambda: pipeline_into("delta"),
        }
    return {"batch -> topic, keys hashed": to_topic, "batch -> Parquet": to_parquet, **tables}


def loaded(spark: SparkSession, kind: str, options: dict[str, str], schema: str | None = None) -> DataFrame:
    """A schema is how our source is told which columns are wanted."""
    reader = spark.read.format(kind).options(**options)
    return (reader.schema(schema) if schema and kind == "trivium" else reader).load()


def noop(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


Figures = tuple[float, float, float, float]
"""Rows a second; processor seconds of the JVM, of its Python workers, of the broker."""


def measured(spark: SparkSession, broker: int, action: Callable[[], None], rows: int) -> Figures:
    jvm = int(spark._jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]
    before, broker_before, began = processor_s(jvm), processor_s(broker), time.perf_counter()
    action()
    seconds = time.perf_counter() - began
    time.sleep(SETTLED_S)
    return rows / seconds, *spent_s(jvm, before), sum(spent_s(broker, broker_before))


def best(rounds: list[Figures]) -> Figures:
    """The best rate; and the processor seconds of the round in which Spark needed fewest."""
    rate = max(each[0] for each in rounds)
    return rate, *min(rounds, key=lambda each: each[1] + each[2])[1:]


def processor_s(root: int) -> dict[int, float]:
    """Used so far by a process and by each that it has started, those included that each has waited for."""
    parents, used = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # It has just ended.
        pid = int(path.parent.name)
        parents[pid] = int(fields[1])
        used[pid] = [int(ticks) / TICKS for ticks in fields[11:15]]
    descendants = {root}
    while more := {pid for pid, parent in parents.items() if parent in descendants} - descendants:
        descendants |= more
    spent = {pid: sum(used[pid]) for pid in descendants if pid in used}
    spent[root], spent[WAITED_FOR] = sum(used[root][:2]), sum(used[root][2:])
    return spent


def spent_s(root: int, before: dict[int, float]) -> tuple[float, float]:
    """Since then, by the process itself and by all others. An idle worker that has ended meanwhile counts for
    nothing: Python's daemon does not wait for it, and its time is gone with it."""
    spent = {pid: now - before.get(pid, 0.0) for pid, now in processor_s(root).items()}
    own = spent.pop(root)
    return own, sum(spent.values())


if __name__ == "__main__":
    main()
