"""Avro into columns: every type, and whatever bytes come. No Spark."""

import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from fastavro import parse_schema, schemaless_writer
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.pipeline.checking.avro import avro_columns
from trivium.pipeline.schema import Schema
from trivium.spark.formats.avro import avro_decoder
from trivium.spark.formats.batches import REASON, ColumnDecoder

SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "shop.Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "customer", "type": ["null", "string"]},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "of_day", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "uuid", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "counts", "type": {"type": "map", "values": "int"}},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["A", "B"]}},
        {"name": "next_state", "type": ["null", "State"]},
        {"name": "number", "type": ["int", "long"]},
        {"name": "odd", "type": ["int", "string", "boolean"]},
        {
            "name": "to",
            "type": {
                "type": "record",
                "name": "Place",
                "fields": [{"name": "city", "type": "string"}, {"name": "near", "type": ["null", "Place"]}],
            },
        },
        {"name": "from", "type": "Place"},
    ],
}
ORDER = {
    "id": 7,
    "customer": None,
    "amount": Decimal("12.50"),
    "at": datetime(2025, 6, 15, 10, 30, 0, 123456, UTC),
    "day": date(2025, 6, 15),
    "of_day": 1000,
    "uuid": str(UUID(int=1)),
    "tags": ["a", "b"],
    "counts": {"x": 1},
    "state": "A",
    "next_state": "B",
    "number": 5_000_000_000,
    "odd": 3,
    "to": {"city": "Graz", "near": {"city": "Weiz", "near": None}},
    "from": {"city": "Linz", "near": None},
}


def decoder() -> ColumnDecoder:
    columns = avro_columns("schema_file", SCHEMA)
    return ColumnDecoder(columns, avro_decoder, (json.dumps(SCHEMA), columns))


def encoded(order: dict[str, Any]) -> bytes:
    stream = io.BytesIO()
    plain = json.loads(json.dumps(SCHEMA).replace('"logicalType": "uuid"', '"x": 0'))
    plain = json.loads(json.dumps(plain).replace('"logicalType": "time-millis"', '"x": 0'))
    schemaless_writer(stream, parse_schema(plain), order)
    return stream.getvalue()


def rows(*values: bytes | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = decoder()(pa.array(values, pa.binary())).to_pylist()
    return found


def test_every_type_becomes_a_column() -> None:
    assert str(avro_columns("schema_file", SCHEMA)) == (
        "id BIGINT NOT NULL, customer STRING, amount DECIMAL(12,2) NOT NULL, at TIMESTAMP NOT NULL, "
        "day DATE NOT NULL, of_day INT NOT NULL, uuid STRING NOT NULL, tags ARRAY<STRING> NOT NULL, "
        "counts MAP<STRING, INT> NOT NULL, state STRING NOT NULL, next_state STRING, number BIGINT NOT NULL, "
        "odd STRING NOT NULL, to STRUCT<city: STRING NOT NULL, near: STRING> NOT NULL, "
        "from STRUCT<city: STRING NOT NULL, near: STRING> NOT NULL"
    )
    (row,) = rows(encoded(ORDER))
    assert row == ORDER | {
        "counts": [("x", 1)],
        "odd": "3",
        "to": {"city": "Graz", "near": '{"city": "Weiz", "near": null}'},
        REASON: None,
    }


def test_what_cannot_be_read_is_a_reason_beside_what_can() -> None:
    good = encoded(ORDER)
    found = rows(good, good[:5], good + b"x", b"", None, good)
    assert [row and row["id"] for row in found] == [7, None, None, None, None, 7]
    assert [row and row[REASON] for row in found][:3] == [
        None,
        "Avro that ends too early",
        "Avro with more bytes than the schema has",
    ]


def test_number_with_too_many_digits_spoils_only_its_own_record() -> None:
    columns = avro_columns("schema_file", SCHEMA)

    def make(*_: Any) -> Any:
        return lambda value: {"amount": Decimal(value.decode())}

    decode = ColumnDecoder(Schema(columns.columns), make, ())
    found = decode(pa.array([b"1", b"1" + b"0" * 30]))
    assert found[0].as_py()["amount"] == 1
    assert "does not fit its column" in found[1].as_py()[REASON]


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_columns_or_a_reason(value: bytes) -> None:
    (row,) = rows(value)
    assert (row[REASON] is None) == (row["tags"] is not None)


@pytest.mark.parametrize("wrong", [{"type": "record"}, [], {"type": "record", "fields": [{"name": "a"}]}])
def test_schema_that_is_none_is_a_mistake(wrong: Any) -> None:
    from trivium.pipeline.mistake import Mistake

    with pytest.raises(Mistake):
        avro_columns("schema_file", wrong)
