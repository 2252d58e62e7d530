"""``trivium table``: what people and scripts see of tables, and what they may do to them."""

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.cli.commands import complaint, facts, misuse, output, run

from trivium.pipeline.sink import TableSink, delta, iceberg, parquet
from trivium.spark.tables.batch import Batch
from trivium.spark.tables.data_files import DataFileWriter
from trivium.spark.tables.stores import open_store

PIPELINE = """
[pipeline]
name = "shop"
state = "state"
[source.orders]
schema = "id BIGINT, name STRING, note STRING"
[flow.kept]
sql = "SELECT * FROM orders"
sink = { format = "delta", path = "lake/kept" }
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fill(sink: TableSink, batches: int = 3) -> None:
    store = open_store(sink)
    rows = pa.RecordBatch.from_pydict({"id": pa.array([1, 2], pa.int64()), "name": ["a", "b"]})
    for number in range(batches):
        writer = DataFileWriter(store.layout)
        writer.write(rows)
        offsets = json.dumps([{"orders": {"0": 10 * number + 10}}])
        store.append(Batch("shop.kept", "q1", number, offsets), rows.schema, writer.close())


@pytest.mark.parametrize("make", [delta, iceberg, parquet])
def test_show_tells_columns_files_offsets_and_last_commit(make: Any) -> None:
    fill(make("lake/kept"))
    shown = facts("table", "show", "lake/kept")
    assert shown["columns"] == [
        {"column": "id", "type": "BIGINT", "is_partition": False},
        {"column": "name", "type": "STRING", "is_partition": False},
    ]
    table = shown["table"]
    assert (table["format"], table["files"], table["small_files"], table["rows"]) == (make.__name__, 3, 3, 6)
    assert table["last_commit"]
    assert shown["writers"] == [{"flow": "shop.kept", "query": "q1", "batch": 2, "offsets": {"orders-0": 30}}]
    text = output("table", "show", "lake/kept")
    assert "orders-0=30" in text
    assert "BIGINT" in text


def test_compact_and_expire_say_what_they_do_and_what_they_would() -> None:
    fill(delta("lake/kept"))
    assert output("table", "compact", "lake/kept", "--dry-run") == "3 files become 1.\n"
    assert output("table", "compact", "lake/kept") == "3 files become 1.\n"
    assert "1 files, none of them worth rewriting" in output("table", "compact", "lake/kept")
    left = Path("lake/kept/part-left.parquet")
    left.touch()
    os.utime(left, (0, 0))
    assert "0 older states and 1 files would go." in output("table", "expire", "lake/kept", "--dry-run")
    assert left.exists()
    assert facts("table", "expire", "lake/kept")["files"] == 1
    assert not left.exists()
    assert facts("table", "show", "lake/kept")["table"]["rows"] == 6


def test_drift_between_records_flow_and_table_is_shown() -> None:
    fill(delta("lake/kept"))
    Path("shop.toml").write_text(PIPELINE)
    Path("state/drift").mkdir(parents=True)
    Path("state/drift/orders.json").write_text('["colour"]')
    shown = facts("table", "show", "lake/kept", "--pipeline", "shop.toml")
    assert shown["drift"] == [
        {"column": "note", "what": "the flow gives it (STRING), the table has not got it"},
        {"column": "colour", "what": "records of orders have it, its schema has not"},
    ]
    Path("shop.toml").write_text(PIPELINE.replace("name STRING, note STRING", "name INT"))
    (changed, _) = facts("table", "show", "lake/kept", "--pipeline", "shop.toml")["drift"]
    assert changed == {"column": "name", "what": "the table has STRING, the flow gives INT"}
    fill(delta("lake/other"))
    said = misuse("table", "show", "lake/other", "--pipeline", "shop.toml")
    assert "No flow of shop.toml writes to lake/other." in said


def test_what_is_no_table_is_one_sentence() -> None:
    assert "There is no folder lake/kept" in complaint("table", "show", "lake/kept")
    Path("lake/kept").mkdir(parents=True)
    assert "lake/kept is no table" in complaint("table", "compact", "lake/kept")
    assert "At least '1 hour'" in misuse("table", "expire", "lake/kept", "--older-than", "5 seconds")
    assert "is no unit of time" in misuse("table", "expire", "lake/kept", "--older-than", "5 moons")


@pytest.mark.parametrize("make", [delta, iceberg, parquet])
def test_folder_of_tables_is_taken_for_none(make: Any) -> None:
    """Whoever compacts files of a table that nobody sees there would take them away from it."""
    fill(make("lake/kept"))
    said = "lake is no table but has some below it, such as lake/kept; name one."
    for command in ("show", "compact", "expire"):
        assert complaint("table", command, "lake") == said
    assert facts("table", "show", "lake/kept")["table"]["rows"] == 6


def test_files_that_are_no_parquet_are_one_sentence() -> None:
    Path("lake").mkdir()
    Path("lake/a.parquet").write_bytes(b"nonsense")
    assert "Files of the table are damaged, or belong to several: " in complaint("table", "show", "lake")


@pytest.mark.parametrize("make", [delta, iceberg, parquet])
def test_check_finds_that_a_flow_does_not_fit_its_table_before_spark_starts(make: Any) -> None:
    fill(make("lake/kept"))
    file = Path("shop.toml")
    file.write_text(PIPELINE.replace('"delta"', f'"{make.__name__}"'))
    result = run("pipeline", "check", "shop.toml", "--offline", "--json")
    assert result.exit_code == 1
    (finding,) = json.loads(result.stdout)["findings"]
    assert (finding["where"], finding["line"]) == ("flow.kept.sink", 9)
    assert "has no column note, which the flow gives" in finding["what"]
    file.write_text(file.read_text().replace("[flow.kept]", 'new_columns = "add"\n[flow.kept]'))
    assert facts("pipeline", "check", "shop.toml", "--offline")["errors"] == 0
    file.write_text(file.read_text().replace("name STRING", "name INT"))
    result = run("pipeline", "check", "shop.toml", "--offline", "--json")
    assert "has name as" in json.loads(result.stdout)["findings"][0]["what"]
