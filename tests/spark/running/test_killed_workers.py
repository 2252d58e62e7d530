"""Processes of a run that die at every step of a batch: what is simply run again has written everything once.

R19, the quick form: Python workers of a shared Spark are killed with SIGKILL, in a task, before a commit and
after it. ``tests/crash/test_killed_pipelines.py`` kills driver and JVM, too (``make crash``).
"""

import json
import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from trivium.pipeline import Pipeline, delta, to_topic
from trivium.pipeline.trigger import AVAILABLE_NOW
from trivium.spark.running.run import Run
from trivium.spark.sinks.upsert import TaskUpserts, UpsertWriter
from trivium.spark.sinks.writer import FlowSink, FlowWriter, TaskDone
from trivium.spark.tables.stores import open_store
from trivium.testing import Broker

RECORDS = 20
RUN_TIMEOUT_S = 240.0
"""For a run of a few records, on a machine that has a lot to do."""


def mortal_sink(orders: Path, step: str) -> type[FlowSink]:
    """A sink whose process dies at a step, once for each flow. Workers get it as it is written here."""

    def die(writer: FlowWriter | UpsertWriter, here: str) -> None:
        order = orders / writer._plan.flow
        if here == step and order.exists():
            order.unlink()
            os.kill(os.getpid(), signal.SIGKILL)

    class MortalWriter(FlowWriter):
        def write(self, iterator: Iterator[Any]) -> TaskDone:
            done = super().write(iterator)
            die(self, "task")
            return done

        def commit(self, messages: Sequence[Any], batchId: int) -> None:  # noqa: N803 - Spark's name
            die(self, "before")
            super().commit(messages, batchId)
            die(self, "after")

    class MortalUpserts(UpsertWriter):
        def write(self, iterator: Iterator[Any]) -> TaskUpserts:
            done = super().write(iterator)
            die(self, "task")
            return done

        def commit(self, messages: Sequence[Any]) -> None:
            die(self, "before")
            super().commit(messages)
            die(self, "after")

    class MortalSink(FlowSink):
        def streamWriter(self, schema: Any, overwrite: bool) -> FlowWriter:  # noqa: N802 - Spark's name
            return MortalWriter(super().streamWriter(schema, overwrite)._plan)

        def writer(self, schema: Any, overwrite: bool) -> UpsertWriter:
            made = super().writer(schema, overwrite)
            return MortalUpserts(made._plan, made._number)

    return MortalSink


def pipeline(state: Path) -> Pipeline:
    made = Pipeline("numbers", state=str(state / "state"))
    made.source("numbers", schema="id BIGINT")
    rule = {"odd": "id % 10 <> 0"}
    made.sql("table", "SELECT id FROM numbers", sink=delta(str(state / "table")), expect=rule)
    made.sql("copy", "SELECT id FROM numbers", sink=to_topic("copy"), expect=rule)
    tens = "SELECT id DIV 10 AS ten, count(*) AS many FROM numbers GROUP BY id DIV 10"
    made.sql("tens", tens, sink=delta(str(state / "tens"), mode="upsert", key="ten"))
    return made


def run(made: Pipeline, spark: SparkSession, bootstrap: str) -> list[str | None]:
    """Until every flow has ended; why each stopped, if it did."""
    ends_at = time.monotonic() + RUN_TIMEOUT_S
    with Run(made.definition(), spark, bootstrap) as running:
        running.start(trigger=AVAILABLE_NOW)
        running.wait(is_enough=lambda: time.monotonic() > ends_at)
        assert not running.look(), "the flows have not ended"
    return [tally.failure for tally in running.tallies.values()]


@pytest.mark.timeout(3 * RUN_TIMEOUT_S)
@pytest.mark.parametrize("step", ["task", "before", "after"])
def test_flow_whose_process_is_killed_writes_everything_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    made = pipeline(tmp_path)
    orders = tmp_path / "orders"
    orders.mkdir()
    for flow in ("table", "copy", "tens"):
        (orders / f"numbers.{flow}").touch()
    with Broker() as broker:
        broker.create_topic("numbers", 1)
        broker.produce("numbers", [json.dumps({"id": number}) for number in range(RECORDS)])
        with monkeypatch.context() as patch:
            patch.setattr("trivium.spark.sinks.writer.FlowSink", mortal_sink(orders, step))
            failures = run(made, spark, broker.bootstrap)
        assert None not in failures, "nobody died"
        assert list(orders.iterdir()) == []
        assert run(made, spark, broker.bootstrap) == [None, None, None]
        good = [number for number in range(RECORDS) if number % 10]
        bad = [number for number in range(RECORDS) if number % 10 == 0]
        table = open_store(delta(str(tmp_path / "table"))).read()
        aside = open_store(delta(str(tmp_path / "table__quarantine"))).read()
        assert sorted(table.column("id").to_pylist()) == good
        assert sorted(aside.column("offset").to_pylist()) == bad
        assert sorted(json.loads(each.value or b"")["id"] for each in broker.records("copy")) == good
        assert len(broker.records("copy__quarantine")) == len(bad)
        tens = open_store(delta(str(tmp_path / "tens"))).read()
        assert sorted(tens.column("many").to_pylist()) == [10] * (RECORDS // 10)
