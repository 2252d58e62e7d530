"""The rows of a quarantine as a stream: each batch once, in whatever files it lies. No Spark (R19)."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from trivium.pipeline import delta, iceberg, parquet
from trivium.pipeline.quarantine import RECORD
from trivium.pipeline.sink import TableSink
from trivium.spark.running.quarantine_stream import QuarantineReader
from trivium.spark.sinks.outlets import TableOutlet, TaskPlace
from trivium.spark.tables.batch import Batch
from trivium.spark.tables.data_files import DataFileWriter
from trivium.spark.tables.stores import open_store

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
TYPES = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", HEADERS),
        ("flow", pa.string()),
        ("reasons", pa.list_(pa.string())),
        ("query", pa.string()),
        ("batch", pa.int64()),
    ]
)


def rows(query: str, batch: int, *offsets: int) -> pa.RecordBatch:
    assert tuple(TYPES.names) == RECORD.names
    made = [
        {"topic": "t", "partition": 0, "offset": offset, "flow": "p.f", "query": query, "batch": batch}
        | {"headers": [{"key": "h", "value": b"x"}], "reasons": ["no"]}
        for offset in offsets
    ]
    return pa.RecordBatch.from_pylist(made, TYPES)


def set_aside(sink: TableSink, query: str, batch: int, *offsets: int) -> None:
    outlet = TableOutlet(sink)
    task = outlet.open(TaskPlace(query, 0, batch))
    task.write(rows(query, batch, *offsets))
    outlet.commit(Batch("p.f", query, batch), [task.close()])


def read(reader: QuarantineReader, start: Any, end: Any) -> list[int]:
    partitions = reader.partitions(start, end)
    return sorted(
        offset
        for partition in partitions
        for batch in reader.read(partition)
        for offset in batch.column("offset").to_pylist()
    )


@pytest.fixture(params=[delta, iceberg, parquet], ids=lambda make: make.__name__)
def sink(request: pytest.FixtureRequest, tmp_path: Path) -> TableSink:
    made: TableSink = request.param(str(tmp_path / "q"))
    return made


def test_each_batch_is_read_once_whoever_set_it_aside(sink: TableSink) -> None:
    reader = QuarantineReader(sink.table)
    start = reader.initialOffset()
    assert reader.latestOffset(start, ReadAllAvailable()) == start
    assert reader.partitions(start, start) == []
    set_aside(sink, "q1", 0, 1, 2)
    set_aside(sink, "q1", 3, 7)
    first = reader.latestOffset(start, ReadAllAvailable())
    assert first == {"quarantine": {"q1": 4}}
    assert read(reader, start, first) == [1, 2, 7]
    # A replay sets some aside again, and the flow goes on.
    set_aside(sink, "replay", 0, 7)
    set_aside(sink, "q1", 4, 9)
    second = reader.latestOffset(first, ReadAllAvailable())
    assert read(reader, first, second) == [7, 9]
    assert read(reader, start, first) == [1, 2, 7]


def test_run_that_ends_leaves_what_it_sets_aside_itself_to_the_next(sink: TableSink) -> None:
    set_aside(sink, "q1", 0, 1)
    reader = QuarantineReader(sink.table)
    reader.prepareForTriggerAvailableNow()
    end = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    set_aside(sink, "replay", 0, 1)
    assert reader.latestOffset(end, ReadAllAvailable()) == end


def test_half_of_a_batch_is_not_read_as_if_it_were_all(tmp_path: Path) -> None:
    sink = parquet(str(tmp_path / "q"))
    set_aside(sink, "q1", 0, 1)
    store = open_store(sink)
    writer = DataFileWriter(store.layout)
    writer.write(rows("q1", 1, 2))
    here = writer.close()
    writer = DataFileWriter(store.layout)
    writer.write(rows("q1", 1, 3))
    there = writer.close()
    batch = Batch("p.f", "q1", 1)
    book = tmp_path / "q" / "_trivium" / f"{batch.writer}.json"
    book.write_text(json.dumps({"number": 1, "files": [file.path for file in (*here, *there)]}))
    staged = tmp_path / "q" / "_trivium" / "staged" / here[0].path
    staged.rename(tmp_path / "q" / here[0].path)
    # One file of two is moved: whoever reads now would never come back for the other.
    reader = QuarantineReader(sink.table)
    assert reader.latestOffset(reader.initialOffset(), ReadAllAvailable()) == {"quarantine": {"q1": 1}}
    store.append(batch, TYPES, [])
    assert reader.latestOffset(reader.initialOffset(), ReadAllAvailable()) == {"quarantine": {"q1": 2}}
