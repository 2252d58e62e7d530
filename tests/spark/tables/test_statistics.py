"""Bounds of a file's columns, from its footer: what is there, and what is better left out."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trivium.spark.tables.statistics import statistics_of

TIME = pa.timestamp("us", tz="UTC")


@pytest.mark.parametrize("odd", [-70_000_000_000_000_000, 2**63 - 1], ids=["before the year 1", "after 9999"])
def test_time_that_no_calendar_has_leaves_its_column_without_bounds(tmp_path: Path, odd: int) -> None:
    """Records have any time that fits 64 bits, and one of them must not stop a table."""
    columns = {"at": pa.array([odd, 0, None], TIME), "n": pa.array([3, 1, 2])}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    found = statistics_of(pq.read_metadata(tmp_path / "rows.parquet"))
    assert found == {
        "numRecords": 3,
        "minValues": {"n": 1},
        "maxValues": {"n": 3},
        "nullCount": {"at": 1, "n": 0},
    }
