"""Arrow columns, as Spark's Kafka source has them, and back to batches."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.arbitrary import COMPRESSIONS, RECORD_LISTS
from tests.records.golden import PARTITIONS, expected_records, read_partition
from trivium.records.arrow import SCHEMA, from_arrow, to_arrow
from trivium.records.batch import (
    build_batch,
    check_batch,
    iter_batches,
    iter_records,
    read_section,
    seal,
    stamp_append_time,
    validate_records,
)
from trivium.records.compression import Compression
from trivium.records.record import Record
from trivium.wire.errors import DecodeError, EncodeError

pytestmark = pytest.mark.usefixtures("kernel")

NOW = 1_750_000_000_000

COMPRESSED = pytest.mark.parametrize("compression", Compression, ids=lambda compression: compression.name)


def as_records(rows: pa.RecordBatch) -> list[Record]:
    times = rows.column("timestamp").cast(pa.int64()).to_pylist()
    return [
        Record(
            row["offset"],
            time // 1000,
            row["key"],
            row["value"],
            tuple((header["key"], header["value"]) for header in row["headers"] or ()),
        )
        for row, time in zip(rows.drop_columns("timestamp").to_pylist(), times, strict=True)
    ]


def readable(record: Record) -> Record:
    """Header names as Arrow can hold them; times before any year that Arrow's microseconds reach."""
    headers = tuple(
        (name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), value)
        for name, value in record.headers
    )
    return record._replace(headers=headers, timestamp=min(record.timestamp, (2**63 - 1) // 1000))


def test_schema_is_that_of_spark_s_kafka_source() -> None:
    headers = "list<element: struct<key: string, value: binary>>"
    assert [(field.name, str(field.type)) for field in SCHEMA] == [
        ("key", "binary"),
        ("value", "binary"),
        ("topic", "string"),
        ("partition", "int32"),
        ("offset", "int64"),
        ("timestamp", "timestamp[us, tz=UTC]"),
        ("timestampType", "int32"),
        ("headers", headers),
    ]
    assert all(field.nullable for field in SCHEMA)


@pytest.mark.parametrize("name", PARTITIONS)
def test_kafka_partition_in_columns_is_what_its_clients_read(name: str) -> None:
    data = read_partition(name)
    positions = [position for position, header in iter_batches(data) if not header.is_control]
    rows = to_arrow(data, positions, topic=name, partition=3)
    rows.validate(full=True)
    assert rows.schema == SCHEMA
    assert as_records(rows) == expected_records(name)
    assert set(rows.column("topic").to_pylist()) == {name}
    assert set(rows.column("partition").to_pylist()) == {3}


@given(st.lists(st.tuples(RECORD_LISTS, COMPRESSIONS), max_size=3))
def test_records_in_columns_are_the_same(batches: list[tuple[list[Record], Compression]]) -> None:
    data, positions = b"", []
    expected: list[Record] = []
    for records, compression in batches:
        base_offset = len(expected)
        positions.append(len(data))
        data += build_batch(records, base_offset=base_offset, compression=compression)
        expected += [readable(record)._replace(offset=base_offset + record.offset) for record in records]
    rows = to_arrow(data, positions, topic="t", partition=0)
    rows.validate(full=True)
    assert as_records(rows) == expected


@given(RECORD_LISTS, COMPRESSIONS, st.integers(1, 300), st.data())
def test_rows_through_batches_and_back_are_the_same(
    records: list[Record], compression: Compression, size_bytes_max: int, data: st.DataObject
) -> None:
    """Also of a slice: Arrow cuts arrays without moving them."""
    records = [readable(record) for record in records]
    rows = to_arrow(build_batch(records), [0], topic="t", partition=0)
    first = data.draw(st.integers(0, len(records)))
    batches = list(
        from_arrow(rows.slice(first), timestamp_ms=5, compression=compression, size_bytes_max=size_bytes_max)
    )
    for batch in batches:
        validate_records(batch)
        assert check_batch(batch).compression is compression
    found = [record for batch in batches for record in iter_records(batch)]
    assert [record[1:] for record in found] == [record[1:] for record in records[first:]]


def test_rows_of_log_append_time_say_so() -> None:
    batch = bytearray(build_batch([Record(0, 1, None, b"v")]))
    stamp_append_time(batch, 0, NOW)
    (row,) = to_arrow(batch, [0], topic="t", partition=0).to_pylist()
    assert row["timestampType"] == 1
    assert row["timestamp"].timestamp() * 1000 == NOW


def test_rows_are_cut_to_the_range_of_offsets() -> None:
    records = [Record(offset, NOW, None, b"v") for offset in range(6)]
    first, second = (build_batch(records, base_offset=base) for base in (10, 16))
    data, positions = first + second, [0, len(first)]
    rows = to_arrow(data, positions, topic="t", partition=0, offset_start=12, offset_end=17)
    assert rows.column("offset").to_pylist() == [12, 13, 14, 15, 16]
    assert to_arrow(data, positions, topic="t", partition=0, offset_start=22).num_rows == 0
    assert to_arrow(b"", [], topic="t", partition=0).num_rows == 0


def test_rows_of_some_columns_have_those_and_the_others_are_not_copied() -> None:
    batch = build_batch([Record(0, NOW, b"k", b"v", (("h", b"1"),)), Record(1, NOW, None, b"w")])
    whole = to_arrow(batch, [0], topic="t", partition=0)
    for names in (
        ["value", "offset"],
        ["headers"],
        ["topic", "key"],
        ["timestamp"],
        ["partition", "timestampType"],
    ):
        wanted = pa.schema([SCHEMA.field(name) for name in names])
        rows = to_arrow(batch, [0], topic="t", partition=0, offset_start=1, schema=wanted)
        rows.validate(full=True)
        assert rows.schema == wanted
        assert rows.to_pylist() == whole.slice(1).select(names).to_pylist()


def test_row_of_a_record_without_headers_has_none() -> None:
    """As Spark's Kafka source has it, so that a query means the same with either."""
    batch = build_batch([Record(0, NOW, None, b"v"), Record(1, NOW, None, b"w", (("h", None),))])
    rows = to_arrow(batch, [0], topic="t", partition=0)
    assert rows.column("headers").to_pylist() == [None, [{"key": "h", "value": None}]]


def test_header_name_that_is_not_utf8_is_shown_with_a_replacement() -> None:
    batch = build_batch([Record(0, NOW, None, None, (("\udcff", b"1"), ("fine", None)))])
    (row,) = to_arrow(batch, [0], topic="t", partition=0).to_pylist()
    assert row["headers"] == [{"key": "\ufffd", "value": b"1"}, {"key": "fine", "value": None}]


def test_rows_with_values_only_get_the_time_they_are_given() -> None:
    rows = pa.record_batch({"value": ["text", None]})
    (batch,) = from_arrow(rows, timestamp_ms=NOW)
    assert list(iter_records(batch)) == [Record(0, NOW, None, b"text"), Record(1, NOW, None, None)]


def test_rows_with_some_times_missing_get_the_time_they_are_given() -> None:
    times = pa.array([1_000, None], pa.timestamp("us", tz="UTC"))
    (batch,) = from_arrow(pa.record_batch({"value": [b"a", b"b"], "timestamp": times}), timestamp_ms=NOW)
    assert [record.timestamp for record in iter_records(batch)] == [1, NOW]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_any_unit_and_of_a_slice_become_milliseconds(unit: str) -> None:
    times = pa.array([1_000_000_000_000, 2_000_000_000_000], pa.timestamp("ns")).cast(pa.timestamp(unit))
    rows = pa.record_batch({"value": [b"a", b"b"], "timestamp": times}).slice(1)
    (batch,) = from_arrow(rows, timestamp_ms=NOW)
    assert [record.timestamp for record in iter_records(batch)] == [2_000_000]


def test_row_larger_than_a_batch_may_be_is_alone_in_one() -> None:
    rows = pa.record_batch({"value": [b"a", b"b" * 1_000, b"c"]})
    batches = list(from_arrow(rows, timestamp_ms=NOW, size_bytes_max=100))
    assert [[record.value for record in iter_records(batch)] for batch in batches] == [
        [b"a"],
        [b"b" * 1_000],
        [b"c"],
    ]


@pytest.mark.parametrize(
    "rows",
    [
        {"value": [1.5]},
        {"value": [b"v"], "headers": [[{"key": None, "value": b"x"}]]},
        {"value": [b"v"], "headers": [[None]]},
        {"value": [b"v"], "timestamp": ["yesterday"]},
    ],
)
def test_rows_that_no_record_can_hold_are_an_encode_error(rows: dict[str, Any]) -> None:
    if "headers" in rows:
        rows["headers"] = pa.array(rows["headers"], SCHEMA.field("headers").type)
    with pytest.raises(EncodeError):
        list(from_arrow(pa.record_batch(rows), timestamp_ms=NOW))


def test_batch_that_compaction_has_emptied_has_no_rows() -> None:
    header = check_batch(build_batch([Record(0, NOW, b"k", b"v")]))
    emptied = seal(header._replace(records_count=0), b"", Compression.NONE)
    assert to_arrow(emptied, [0], topic="t", partition=0).num_rows == 0


@COMPRESSED
def test_damaged_batch_in_columns_is_refused(compression: Compression) -> None:
    batch = build_batch([Record(0, NOW, b"k", b"v")], compression=compression)
    header = check_batch(batch)
    lying = seal(header._replace(records_count=2, last_offset_delta=1), read_section(batch).data, compression)
    flipped = bytearray(batch)
    flipped[-1] ^= 1
    for damaged in (lying, flipped, batch[:-1]):
        with pytest.raises(DecodeError):
            to_arrow(batch + damaged, [0, len(batch)], topic="t", partition=0)
