"""The columns of an Avro record schema, in Spark's types. What has no counterpart is of unknown type."""

from typing import Any, Final

from trivium.pipeline.checking.relation import UNKNOWN
from trivium.pipeline.mistake import Mistake
from trivium.pipeline.schema import STRING, Array, Column, DataType, Decimal, Map, Scalar, Schema, Struct

NESTING_LEVELS_MAX: Final = 64
"""Types inside types, as for schemas in DDL."""

_PRIMITIVES: Final = {
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "bytes": "BINARY",
    "fixed": "BINARY",
    "string": "STRING",
    "enum": "STRING",
}
_LOGICAL: Final = {
    "date": "DATE",
    "timestamp-millis": "TIMESTAMP",
    "timestamp-micros": "TIMESTAMP",
    "local-timestamp-millis": "TIMESTAMP_NTZ",
    "local-timestamp-micros": "TIMESTAMP_NTZ",
}


def avro_columns(key: str, schema: Any) -> Schema:
    """``schema``: what JSON says."""
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise Mistake(key, "The Avro schema is no record.", 'It must say "type": "record" and have fields.')
    return Schema(_fields(key, schema, 0))


def _fields(key: str, schema: dict[str, Any], level: int) -> tuple[Column, ...]:
    if level > NESTING_LEVELS_MAX:
        raise Mistake(
            key, "The Avro schema has too many types inside types.", f"{NESTING_LEVELS_MAX} are the most."
        )
    fields = schema.get("fields")
    if not isinstance(fields, list):
        raise Mistake(key, f"The Avro record {schema.get('name', '')} has no fields.".replace("  ", " "))
    columns = []
    for field in fields:
        if not isinstance(field, dict) or not isinstance(field.get("name"), str) or "type" not in field:
            raise Mistake(key, "A field of the Avro schema has no name or no type.")
        columns.append(Column(field["name"], _type(key, field["type"], level), _is_nullable(field["type"])))
    return tuple(columns)


def _is_nullable(schema: Any) -> bool:
    return schema == "null" or (isinstance(schema, list) and "null" in schema)


def _type(key: str, schema: Any, level: int) -> DataType:
    if isinstance(schema, list):
        branches = [branch for branch in schema if branch != "null"]
        return _type(key, branches[0], level) if len(branches) == 1 else UNKNOWN
    if isinstance(schema, str):
        return Scalar(_PRIMITIVES[schema]) if schema in _PRIMITIVES else UNKNOWN
    if not isinstance(schema, dict):
        return UNKNOWN
    match schema.get("logicalType"):
        case "decimal":
            return Decimal(schema.get("precision", 10), schema.get("scale", 0))
        case str(logical) if logical in _LOGICAL:
            return Scalar(_LOGICAL[logical])
    match schema.get("type"):
        case "record":
            return Struct(_fields(key, schema, level + 1))
        case "array":
            return Array(_type(key, schema.get("items"), level + 1))
        case "map":
            return Map(STRING, _type(key, schema.get("values"), level + 1))
        case inner:
            return _type(key, inner, level + 1) if level < NESTING_LEVELS_MAX else UNKNOWN
