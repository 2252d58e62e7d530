"""Whoever reads a lake reads our tables: deltalake, pyiceberg, pyarrow, duckdb, each by its own means (M7).

What they see is compared with the rows that were written, in two partitions, with a table that has grown and
was compacted in between. Nothing of ours reads here.
"""

import sqlite3
from datetime import date
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyarrow import dataset
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import StaticTable

from tests.spark.tables.test_stores import append, rows
from trivium.pipeline.sink import TableSink, delta, iceberg, parquet
from trivium.spark.tables.care import open_care
from trivium.spark.tables.stores import open_store

EXPECTED = [(1, date(2025, 6, 1), None), (2, date(2025, 6, 2), None), (3, date(2025, 6, 3), "red")]


def written(sink: TableSink) -> str:
    store = open_store(sink)
    append(store, 0, rows(1))
    append(store, 1, rows(2))
    open_care(sink.table).compact()
    wider = rows(3, colour=pa.array(["red"]))
    store.widen(wider.schema)
    append(store, 2, wider)
    return sink.table.path or ""


def seen(table: pa.Table) -> list[tuple[int, date, str | None]]:
    """Partitions of a folder of Parquet have their values in names of folders, as text."""
    found = table.select(["id", "day", "colour"]).to_pylist()
    return sorted((row["id"], date.fromisoformat(str(row["day"])), row["colour"]) for row in found)


@pytest.fixture
def delta_path(tmp_path: Path) -> str:
    return written(delta(str(tmp_path / "orders"), partition_by=["day"]))


@pytest.fixture
def iceberg_path(tmp_path: Path) -> str:
    return written(iceberg(str(tmp_path / "orders"), partition_by=["day"]))


@pytest.fixture
def parquet_path(tmp_path: Path) -> str:
    return written(parquet(str(tmp_path / "orders"), partition_by=["day"]))


def test_deltalake_reads_a_delta_table(delta_path: str) -> None:
    table = DeltaTable(delta_path)
    assert seen(table.to_pyarrow_table()) == EXPECTED
    assert table.metadata().partition_columns == ["day"]
    # Statistics are there: a file without the row that is asked for is not opened.
    third = table.to_pyarrow_dataset().to_table(filter=dataset.field("id") == 3)
    assert third.column("colour").to_pylist() == ["red"]


def test_pyiceberg_reads_an_iceberg_table(iceberg_path: str) -> None:
    catalog = SqlCatalog("trivium", uri=f"sqlite:///{iceberg_path}/catalog.db", warehouse=iceberg_path)
    table = catalog.load_table("trivium.rows")
    assert seen(table.scan().to_arrow()) == EXPECTED
    assert table.scan(row_filter="id = 3").to_arrow().column("colour").to_pylist() == ["red"]


def test_iceberg_table_is_read_by_its_metadata_alone(iceberg_path: str) -> None:
    """As engines do that know no catalog."""
    with sqlite3.connect(f"{iceberg_path}/catalog.db") as database:
        ((metadata,),) = database.execute("SELECT metadata_location FROM iceberg_tables").fetchall()
    assert seen(StaticTable.from_metadata(metadata).scan().to_arrow()) == EXPECTED


def test_pyarrow_reads_a_folder_of_parquet(parquet_path: str) -> None:
    schema = pa.schema({"id": pa.int64(), "day": pa.string(), "colour": pa.string()})
    found = dataset.dataset(parquet_path, format="parquet", partitioning="hive", schema=schema)
    assert seen(found.to_table()) == EXPECTED


def test_duckdb_reads_all_three(delta_path: str, tmp_path: Path) -> None:
    """Parquet from the folder; Delta and Iceberg as Arrow, which needs no extension of duckdb."""
    folder = written(parquet(str(tmp_path / "files"), partition_by=["day"]))
    files = f"read_parquet('{folder}/*/*.parquet', hive_partitioning = true, union_by_name = true)"
    delta_rows = DeltaTable(delta_path).to_pyarrow_dataset()
    lake = written(iceberg(str(tmp_path / "ice"), partition_by=["day"]))
    catalog = SqlCatalog("trivium", uri=f"sqlite:///{lake}/catalog.db", warehouse=lake)
    iceberg_rows = catalog.load_table("trivium.rows").scan().to_arrow()
    with duckdb.connect() as connection:
        connection.register("delta_rows", delta_rows)
        connection.register("iceberg_rows", iceberg_rows)
        for source in (files, "delta_rows", "iceberg_rows"):
            found = connection.execute(f"SELECT id, CAST(day AS DATE), colour FROM {source} ORDER BY id")
            assert found.fetchall() == EXPECTED, source
