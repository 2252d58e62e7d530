"""The columns of a source: from its schema, a file beside the definition, or what a run has pinned."""

import json
from pathlib import Path
from typing import Any, Final

from trivium.pipeline.checking.avro import avro_columns, check_library
from trivium.pipeline.checking.protobuf import protobuf_columns
from trivium.pipeline.checking.relation import Relation
from trivium.pipeline.ddl import parse_schema
from trivium.pipeline.definition import Definition
from trivium.pipeline.finding import Finding, error, from_mistake, warning
from trivium.pipeline.mistake import Mistake, did_you_mean
from trivium.pipeline.nested import grown
from trivium.pipeline.record_format import FormatKind
from trivium.pipeline.schema import METADATA, Scalar, Schema
from trivium.pipeline.source import NewColumns, Source, TableSource, TopicSource

SCHEMA_FILE_BYTES_MAX: Final = 1 << 20
"""Schemas are written by people; whatever is larger is another file."""

_TIMES: Final = ("TIMESTAMP", "TIMESTAMP_NTZ")


def relation_of(definition: Definition, source: Source) -> tuple[Relation, list[Finding]]:
    where = f"source.{source.name}"
    if isinstance(source, TableSource):
        return Relation(source.name, is_stream=False), []
    held = frozenset([source.watermark.column.casefold()] if source.watermark else ())
    try:
        schema = _widened(definition, source, _schema(definition, source))
    except Mistake as mistake:
        return Relation(source.name, event_times=held), [from_mistake(mistake.inside(where))]
    if schema is None:
        remedy = "Give it a schema, or run it once; until then its columns are not checked."
        sentence = f"The columns of {source.name} are not known yet."
        return Relation(source.name, event_times=held), [warning(where, sentence, remedy)]
    columns = Schema((*schema.columns, *METADATA.columns))
    found = _watermark(where, source, schema)
    if found:
        # Which column was meant is open; that it was forgotten would be the wrong complaint.
        held = frozenset(name.casefold() for name in columns.names)
    found += _metadata_clashes(where, schema)
    return Relation(source.name, columns, event_times=held), found


def _widened(definition: Definition, source: TopicSource, schema: Schema | None) -> Schema | None:
    """With the columns that records have brought and runs have added."""
    added = Path(definition.added_columns_of(source))
    if schema is None or source.new_columns is not NewColumns.ADD or not added.is_file():
        return schema
    return grown(schema, parse_schema("schema", _read("schema", added)))


def _schema(definition: Definition, source: TopicSource) -> Schema | None:
    if source.format.schema is not None:
        return source.format.schema
    if source.format.schema_file is None:
        pinned = Path(definition.pinned_schema_of(source))
        return parse_schema("schema", _read("schema", pinned)) if pinned.is_file() else None
    path = definition.beside(source.format.schema_file)
    if source.format.kind is FormatKind.PROTOBUF:
        return protobuf_columns("schema_file", _read_bytes("schema_file", path), source.format.message or "")
    text = _read("schema_file", path)
    if source.format.kind is FormatKind.AVRO:
        check_library()
        return avro_columns("schema_file", _json("schema_file", text))
    return parse_schema("schema_file", text)


def _read(key: str, path: Path) -> str:
    try:
        return _read_bytes(key, path).decode()
    except UnicodeDecodeError:
        raise Mistake(key, f"{path} cannot be read: it is not text in UTF-8.") from None


def _read_bytes(key: str, path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(SCHEMA_FILE_BYTES_MAX + 1)
    except FileNotFoundError:
        raise Mistake(key, f"There is no file {path}.", "It is looked for beside the definition.") from None
    except OSError as problem:
        raise Mistake(key, f"{path} cannot be read: {problem.strerror}.") from None
    if len(data) > SCHEMA_FILE_BYTES_MAX:
        raise Mistake(
            key, f"{path} is too large for a schema.", f"{SCHEMA_FILE_BYTES_MAX:,} bytes are the most."
        )
    return data


def _json(key: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Mistake(key, "The schema is not JSON.", "Avro's schemas (.avsc) are.") from None


def _metadata_clashes(where: str, schema: Schema) -> list[Finding]:
    return [
        error(f"{where}.schema", f"{column.name} is a column that every record brings.", "Rename yours.")
        for column in schema.columns
        if METADATA.find(column.name) is not None
    ]


def _watermark(where: str, source: TopicSource, schema: Schema) -> list[Finding]:
    if source.watermark is None:
        return []
    name = source.watermark.column
    column = schema.find(name) or METADATA.find(name)
    if column is None:
        sentence = f"The watermark is on {name}, which is no column of {source.name}."
        return [error(f"{where}.watermark", sentence, did_you_mean(name, (*schema.names, "_timestamp")))]
    if not isinstance(column.type, Scalar) or column.type.name not in _TIMES:
        sentence = f"The watermark is on {name}, which is {column.type}."
        return [error(f"{where}.watermark", sentence, "It must be a TIMESTAMP.")]
    return []
