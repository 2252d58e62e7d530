"""``trivium pipeline replay`` and ``backfill``: records go through a flow again, each once (R19, M7)."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.cli.commands import facts, output
from trivium.pipeline.sink import delta
from trivium.spark.tables.stores import open_store
from trivium.testing import Broker

pytestmark = pytest.mark.pipelines

PIPELINE = """
[pipeline]
name = "shop"
[source.orders]
topic = "TOPIC"
start = "START"
schema = "id BIGINT, n BIGINT"
[flow.kept]
sql = "SELECT * FROM orders"
expect.fits = "n < 10"
sink = SINK
"""
SINKS = {
    "delta": '{ format = "delta", path = "kept" }',
    "parquet": '{ format = "parquet", path = "kept" }',
    "topic": '{ topic = "kept" }',
}


def write(sink: str, *, start: str = "earliest", topic: str = "orders") -> str:
    file = Path("shop.toml")
    file.write_text(PIPELINE.replace("SINK", SINKS[sink]).replace("START", start).replace("TOPIC", topic))
    return str(file)


def orders(*pairs: tuple[int, Any]) -> list[str]:
    return [json.dumps({"id": number, "n": value}) for number, value in pairs]


def once(command: str, file: str, broker: Broker, *more: str) -> tuple[int, int, int]:
    """Rows in, out and set aside."""
    flows = facts("pipeline", command, file, *more, "--broker", broker.bootstrap)["flows"]
    (flow,) = flows or [{"rows_in": 0, "rows_out": 0, "quarantined": 0}]
    return flow["rows_in"], flow["rows_out"], flow["quarantined"]


@pytest.mark.parametrize("sink", sorted(SINKS))
def test_replay_sends_each_record_through_once_after_a_fix(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sink: str
) -> None:
    monkeypatch.chdir(tmp_path)
    file = write(sink)
    with Broker() as broker:
        broker.create_topic("orders", 1)
        broker.produce("orders", [*orders((1, 1), (2, 20), (3, 300)), b"?"])
        assert once("run", file, broker, "--trigger", "available-now") == (4, 1, 3)
        Path(file).write_text(Path(file).read_text().replace("n < 10", "n < 100"))
        # 2 passes now; 3 and the nonsense are set aside again, for the next fix.
        assert once("replay", file, broker, "kept") == (3, 1, 2)
        assert ids(sink, broker) == [1, 2]
        said = output("pipeline", "replay", file, "kept", "--broker", broker.bootstrap)
        assert "kept: 1 set aside by fits." in said
        assert "kept: 1 set aside by malformed." in said
        assert ids(sink, broker) == [1, 2]


@pytest.mark.parametrize("sink", sorted(SINKS))
@pytest.mark.parametrize("timestamp_ms", [-1_001, -70_000_000_000_000], ids=["1969", "before the year 1"])
def test_record_keeps_its_headers_and_any_time_through_quarantine_and_replay(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sink: str, timestamp_ms: int
) -> None:
    """Also headers that look like those of a quarantine: it may be one that is read."""
    monkeypatch.chdir(tmp_path)
    file = write(sink)
    headers = [("h", None), ("trivium.topic", b"another"), ("trivium.x", b"1"), ("h", b"")]
    with Broker() as broker:
        broker.create_topic("orders", 1)
        broker.produce("orders", orders((1, 50)), headers=headers, timestamp_ms=timestamp_ms)
        assert once("run", file, broker, "--trigger", "available-now") == (1, 0, 1)
        assert once("replay", file, broker, "kept") == (1, 0, 1)
        assert headers_set_aside(sink, broker) == [headers, headers]


def headers_set_aside(sink: str, broker: Broker) -> list[list[tuple[str, bytes | None]]]:
    """Of each record in the quarantine those that it had."""
    if sink == "topic":
        added = 5 + any("timestamp" in key for key, _ in broker.records("kept__quarantine")[0].headers)
        return [list(record.headers[:-added]) for record in broker.records("kept__quarantine")]
    from trivium.pipeline.sink import parquet

    store = open_store((delta if sink == "delta" else parquet)("kept__quarantine"))
    found = store.read().column("headers").to_pylist()
    return [[(header["key"], header["value"]) for header in headers] for headers in found]


def test_backfill_fills_what_lies_before_the_live_flow_and_nothing_twice(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = write("delta", start="latest")
    with Broker() as broker:
        broker.create_topic("orders", 1)
        broker.produce("orders", orders(*((number, 1) for number in range(10))))
        assert once("run", file, broker, "--trigger", "available-now") == (0, 0, 0)
        broker.produce("orders", orders((10, 1), (11, 1)))
        assert once("backfill", file, broker, "kept", "--from", '{"0": 6}') == (4, 4, 0)
        assert once("run", file, broker, "--trigger", "available-now") == (2, 2, 0)
        assert ids("delta", broker) == list(range(6, 12))
        said = output(
            "pipeline", "backfill", file, "kept", "--from", '{"0": 6}', "--broker", broker.bootstrap
        )
        assert said == "Nothing is left to fill: kept has all of it.\n"


def ids(sink: str, broker: Broker) -> list[int]:
    if sink == "topic":
        return sorted(json.loads(record.value or b"{}")["id"] for record in broker.records("kept"))
    from trivium.pipeline.sink import parquet

    store = open_store(delta("kept") if sink == "delta" else parquet("kept"))
    return sorted(store.read().column("id").to_pylist())
