"""Avro, Protobuf and columns that records bring, through whole pipelines."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from fastavro import parse_schema, schemaless_writer
from pyspark.sql import SparkSession

from tests.spark.formats.test_protobuf import NAME, descriptors, order
from trivium.pipeline import Pipeline, delta
from trivium.testing import run_pipeline

pytestmark = pytest.mark.pipelines

AVRO = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
        {"name": "tags", "type": {"type": "map", "values": {"type": "array", "items": "string"}}},
    ],
}
REGISTERED = b"\0\0\0\0\x07\x02\x02"
"""The prefix of a schema registry: schema 7, the second message of its file."""


def avro(**fields: Any) -> bytes:
    stream = io.BytesIO()
    schemaless_writer(stream, parse_schema(AVRO), {"at": None, "tags": {}, **fields})
    return stream.getvalue()


def test_avro_and_protobuf_become_rows_and_nonsense_is_set_aside(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "order.avsc").write_text(json.dumps(AVRO))
    (tmp_path / "order.desc").write_bytes(descriptors())
    p = Pipeline("formats")
    p.source("written", format="avro", schema_file=str(tmp_path / "order.avsc"))
    file = str(tmp_path / "order.desc")
    p.source("sent", format="protobuf", schema_file=file, message=NAME, schema_id=7)
    p.sql("a", "SELECT id, size(tags['x']) AS n FROM written WHERE id < 9", sink=delta("a"))
    query = "SELECT id, state, get(lines, 0).sku AS sku FROM sent"
    p.sql("b", query, sink=delta("b"), expect={"known": "id > 0"})
    out = run_pipeline(
        p,
        spark=spark,
        written=[avro(id=1, tags={"x": ["p", "q"]}), avro(id=9), b"\x01"],
        sent=[
            REGISTERED + order(id=7, state=1, lines=[{"sku": "tea"}]).SerializeToString(),
            REGISTERED,
            REGISTERED + b"\xff",
            order(id=8).SerializeToString(),
        ],
    )
    assert out["a"].rows == [{"id": 1, "n": 2}]
    assert [(each.offset, each.reasons) for each in out["a"].quarantined] == [
        (2, ["Avro that ends too early"])
    ]
    assert out["b"].rows == [{"id": 7, "state": "PAID", "sku": "tea"}]
    assert sorted((each.offset, each.reasons) for each in out["b"].quarantined) == [
        (1, ["known: not id > 0"]),
        (2, ["not a message shop.Order of Protobuf"]),
        (3, ["no prefix of a schema registry"]),
    ]


def test_columns_that_records_bring_are_added_without_losing_any(spark: SparkSession) -> None:
    """Inside columns, too; what a record brings is added together."""
    p = Pipeline("growing")
    p.source("events", schema="a BIGINT, s STRUCT<x: BIGINT>, l ARRAY<STRUCT<p: BIGINT>>", new_columns="add")
    p.sql("kept", "SELECT * FROM events", sink=delta("kept"))
    records: list[Any] = [
        {"a": 1, "s": {"x": 1}, "l": [{"p": 1}]},
        {"a": 2, "b": 2.5},
        {"a": 3, "b": 1.5, "c.d": "x", "s": {"x": 3, "y": {"z": True}}, "l": [{"p": 1}, {"q": "r"}]},
    ]
    out = run_pipeline(p, spark=spark, events=records)["kept"]
    found = sorted((row["a"], row["b"], row["c.d"], row["s"], row["l"]) for row in out.rows)
    assert found == [
        (1, None, None, {"x": 1, "y": None}, [{"p": 1, "q": None}]),
        (2, 2.5, None, None, None),
        (3, 1.5, "x", {"x": 3, "y": {"z": True}}, [{"p": 1, "q": None}, {"p": None, "q": "r"}]),
    ]
    assert out.summary.rows_out == 3
