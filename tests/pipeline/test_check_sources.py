"""The columns of sources: schemas, files, what a run has pinned; watermarks on them."""

import json
from pathlib import Path

import pytest

from trivium.pipeline import load
from trivium.pipeline.checking import check
from trivium.pipeline.checking.avro import NESTING_LEVELS_MAX, avro_columns
from trivium.pipeline.checking.source_columns import SCHEMA_FILE_BYTES_MAX, relation_of
from trivium.pipeline.mistake import Mistake
from trivium.pipeline.schema import METADATA, Schema

AVRO = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "customer", "type": ["null", "string"], "default": None},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "counts", "type": {"type": "map", "values": "int"}},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["A"]}},
        {
            "name": "to",
            "type": {"type": "record", "name": "To", "fields": [{"name": "city", "type": "string"}]},
        },
        {"name": "odd", "type": ["int", "string"]},
    ],
}


def written(folder: Path, source: str) -> Path:
    file = folder / "shop.toml"
    file.write_text(
        f"[pipeline]\nname = 'shop'\nstate = '{folder}/state'\n[source.orders]\n{source}\n"
        "[flow.f]\nsql = 'SELECT id FROM orders'\nsink = { topic = 'out' }"
    )
    return file


def complaints(folder: Path, source: str) -> list[str]:
    return [f"{each.where}: {each.sentence}" for each in check(load(written(folder, source)))]


def columns(folder: Path, source: str) -> str:
    definition = load(written(folder, source))
    relation, findings = relation_of(definition, definition.sources[0])
    assert findings == []
    assert relation.columns is not None
    return str(Schema(relation.columns.columns[: -len(METADATA.columns)]))


def test_columns_come_from_a_file_beside_the_definition(tmp_path: Path) -> None:
    (tmp_path / "orders.ddl").write_text("id BIGINT,\n  customer STRING\n")
    assert columns(tmp_path, "schema_file = 'orders.ddl'") == "id BIGINT, customer STRING"


def test_columns_come_from_what_a_run_has_pinned(tmp_path: Path) -> None:
    (warning,) = complaints(tmp_path, "")
    assert warning == "source.orders: The columns of orders are not known yet."
    pinned = tmp_path / "state" / "schemas" / "orders.ddl"
    pinned.parent.mkdir(parents=True)
    pinned.write_text("idd BIGINT")
    assert complaints(tmp_path, "") == ["flow.f.sql: There is no column id in orders."]


def test_columns_come_from_avro(tmp_path: Path) -> None:
    (tmp_path / "orders.avsc").write_text(json.dumps(AVRO))
    assert columns(tmp_path, "format = 'avro'\nschema_file = 'orders.avsc'") == (
        "id BIGINT NOT NULL, customer STRING, amount DECIMAL(12,2) NOT NULL, at TIMESTAMP NOT NULL, "
        "day DATE NOT NULL, tags ARRAY<STRING> NOT NULL, counts MAP<STRING, INT> NOT NULL, "
        "state STRING NOT NULL, "
        "to STRUCT<city: STRING NOT NULL> NOT NULL, odd STRING NOT NULL"
    )


@pytest.mark.parametrize("source", ["format = 'text'", "format = 'raw'"])
def test_text_and_raw_have_one_column(tmp_path: Path, source: str) -> None:
    assert complaints(tmp_path, source) == ["flow.f.sql: There is no column id in orders."]


@pytest.mark.parametrize(
    ("source", "content", "complaint"),
    [
        ("schema_file = 'x'", None, "source.orders.schema_file: There is no file"),
        ("schema_file = 'x'", b"id BIGINTT", "source.orders.schema_file: id has the type BIGINTT"),
        ("schema_file = 'x'", b"\xff", "source.orders.schema_file: "),
        ("schema_file = 'x'", b" " * (SCHEMA_FILE_BYTES_MAX + 1), "source.orders.schema_file: "),
        ("format = 'avro'\nschema_file = 'x'", b"{", "source.orders.schema_file: The schema is not JSON."),
        (
            "format = 'avro'\nschema_file = 'x'",
            b"{}",
            "source.orders.schema_file: The Avro schema is no record.",
        ),
        (
            "format = 'protobuf'\nmessage = 'a.B'\nschema_file = 'x'",
            None,
            "source.orders.schema_file: There is no",
        ),
        (
            "format = 'protobuf'\nmessage = 'a.B'\nschema_file = 'x'",
            b"",
            "source.orders.schema_file: The file is no descriptor set.",
        ),
        (
            "schema = 'id INT, _offset INT'",
            None,
            "source.orders.schema: _offset is a column that every record brings.",
        ),
        (
            "schema = 'id INT'\nwatermark = 'at 1 hour'",
            None,
            "source.orders.watermark: The watermark is on at, which",
        ),
        (
            "schema = 'id INT'\nwatermark = 'id 1 hour'",
            None,
            "source.orders.watermark: The watermark is on id, which",
        ),
    ],
)
def test_wrong_source_is_a_sentence(
    tmp_path: Path, source: str, content: bytes | None, complaint: str
) -> None:
    if content is not None:
        (tmp_path / "x").write_bytes(content)
    assert complaints(tmp_path, source)[0].startswith(complaint)


def test_time_of_a_record_may_have_a_watermark(tmp_path: Path) -> None:
    assert complaints(tmp_path, "schema = 'id INT'\nwatermark = '_timestamp 1 hour'") == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "record"},
        {"type": "record", "fields": [3]},
        {"type": "record", "fields": [{"name": "a"}]},
        [],
        "x",
    ],
)
def test_wrong_avro_is_a_mistake(schema: object) -> None:
    with pytest.raises(Mistake):
        avro_columns("schema_file", schema)


def test_avro_types_inside_types_have_a_limit() -> None:
    schema: dict[str, object] = {"type": "record", "fields": []}
    for _ in range(NESTING_LEVELS_MAX + 1):
        schema = {"type": "record", "fields": [{"name": "a", "type": schema}]}
    with pytest.raises(Mistake, match="too many types inside types"):
        avro_columns("schema_file", schema)
