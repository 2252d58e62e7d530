"""The columns of an Avro record schema, in Spark's types.

What no column can be, a union of several types or a type inside itself, is text: its value as JSON.
"""

from importlib.util import find_spec
from typing import Any, Final

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


_WIDER: Final = ((frozenset({"int", "long"}), "BIGINT"), (frozenset({"float", "double"}), "DOUBLE"))
"""Unions of numbers have a type that holds them all."""


def avro_columns(key: str, schema: Any) -> Schema:
    """``schema``: what JSON says."""
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise Mistake(key, "The Avro schema is no record.", 'It must say "type": "record" and have fields.')
    return _Reader(key).record(schema, "", 0)


def check_library() -> None:
    if find_spec("fastavro") is None:
        raise Mistake("format", "Avro cannot be read without fastavro.", "pip install 'trivium[avro]'.")


def without_foreign_logic(schema: Any) -> Any:
    """The schema with only those logical types that become columns of their own; the others are what is
    below them, a number or a text."""
    if isinstance(schema, list):
        return [without_foreign_logic(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    known = schema.get("logicalType") in (*_LOGICAL, "decimal")
    kept = {name: part for name, part in schema.items() if name != "logicalType" or known}
    for name in ("type", "items", "values"):
        if name in kept:
            kept[name] = without_foreign_logic(kept[name])
    if isinstance(kept.get("fields"), list):
        kept["fields"] = [
            {**field, "type": without_foreign_logic(field.get("type"))} if isinstance(field, dict) else field
            for field in kept["fields"]
        ]
    return kept


class _Reader:
    """Reads one schema. Types that have a name may be used again by it."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._named: dict[str, DataType | None] = {}
        """None while a type is being read: inside itself it has no end."""

    def record(self, schema: dict[str, Any], namespace: str, level: int) -> Schema:
        if level > NESTING_LEVELS_MAX:
            raise Mistake(
                self._key,
                "The Avro schema has too many types inside types.",
                f"{NESTING_LEVELS_MAX} are the most.",
            )
        fields = schema.get("fields")
        if not isinstance(fields, list):
            raise Mistake(
                self._key, f"The Avro record {schema.get('name', '')} has no fields.".replace("  ", " ")
            )
        name, inside = _full_name(schema, namespace)
        self._named[name] = None
        columns = []
        for field in fields:
            if not isinstance(field, dict) or not isinstance(field.get("name"), str) or "type" not in field:
                raise Mistake(self._key, "A field of the Avro schema has no name or no type.")
            kind = self._type(field["type"], inside, level)
            columns.append(Column(field["name"], kind, _is_nullable(field["type"])))
        self._named[name] = Struct(tuple(columns))
        return Schema(tuple(columns))

    def _type(self, schema: Any, namespace: str, level: int) -> DataType:
        if isinstance(schema, list):
            return self._union([branch for branch in schema if branch != "null"], namespace, level)
        if isinstance(schema, str):
            if schema in _PRIMITIVES:
                return Scalar(_PRIMITIVES[schema])
            known = self._named.get(schema, self._named.get(f"{namespace}.{schema}"))
            return known if known is not None else STRING
        if not isinstance(schema, dict):
            return STRING
        match schema.get("logicalType"):
            case "decimal":
                return Decimal(schema.get("precision", 10), schema.get("scale", 0))
            case str(logical) if logical in _LOGICAL:
                return Scalar(_LOGICAL[logical])
        return self._complex(schema, namespace, level)

    def _complex(self, schema: dict[str, Any], namespace: str, level: int) -> DataType:
        match schema.get("type"):
            case "record":
                return Struct(self.record(schema, namespace, level + 1).columns)
            case "array":
                return Array(self._type(schema.get("items"), namespace, level + 1))
            case "map":
                return Map(STRING, self._type(schema.get("values"), namespace, level + 1))
            case "enum" | "fixed" as kind:
                self._named[_full_name(schema, namespace)[0]] = Scalar(_PRIMITIVES[kind])
                return Scalar(_PRIMITIVES[kind])
            case inner:
                return self._type(inner, namespace, level + 1) if level < NESTING_LEVELS_MAX else STRING

    def _union(self, branches: list[Any], namespace: str, level: int) -> DataType:
        if len(branches) == 1:
            return self._type(branches[0], namespace, level)
        for branch in branches:
            self._type(branch, namespace, level)  # Types that are named here may be used elsewhere.
        plain = {branch for branch in branches if isinstance(branch, str)}
        wider = next((name for kinds, name in _WIDER if len(plain) == len(branches) and plain <= kinds), None)
        return STRING if wider is None else Scalar(wider)


def _full_name(schema: dict[str, Any], namespace: str) -> tuple[str, str]:
    """The name by which a type is used again, and the namespace of what is inside it."""
    name = str(schema.get("name", ""))
    inside = str(schema.get("namespace") or (name.rpartition(".")[0] if "." in name else namespace))
    return (name if "." in name or not inside else f"{inside}.{name}"), inside


def _is_nullable(schema: Any) -> bool:
    return schema == "null" or (isinstance(schema, list) and "null" in schema)
