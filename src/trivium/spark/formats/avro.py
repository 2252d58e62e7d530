"""Avro's binary form, one datum in each value or behind a registry's prefix, by ``fastavro``."""

import io
import json
from functools import lru_cache
from typing import Any

from trivium.pipeline.checking.avro import without_foreign_logic
from trivium.pipeline.schema import Array, DataType, Map, Schema, Struct
from trivium.spark.formats.batches import Unreadable, ValueDecoder
from trivium.spark.formats.registry_prefix import after_prefix


@lru_cache(maxsize=16)
def avro_decoder(
    schema_text: str, columns: Schema, schema_ids: tuple[int, ...] | None = None
) -> ValueDecoder:
    """``schema_ids``: numbers that a registry's prefix may have; None where values have no prefix."""
    from fastavro import parse_schema, schemaless_reader

    schema = parse_schema(without_foreign_logic(json.loads(schema_text)))

    def decode(value: bytes) -> dict[str, Any]:
        stream = io.BytesIO(value)
        if schema_ids is not None:
            stream.seek(after_prefix(value, schema_ids))
        try:
            datum = schemaless_reader(stream, schema, None)
        except (EOFError, IndexError, StopIteration):
            raise Unreadable("Avro that ends too early") from None
        except Exception as error:
            # fastavro has no one error for bytes that mean nothing: whatever it raises, the value did it.
            raise Unreadable(f"not Avro of the schema: {' '.join(str(error).split())}") from error
        if stream.tell() != len(value):
            raise Unreadable("Avro with more bytes than the schema has")
        assert isinstance(datum, dict), "the schema is a record"
        return {column.name: _converted(datum[column.name], column.type) for column in columns.columns}

    return decode


def _converted(value: Any, kind: DataType) -> Any:
    """As Arrow takes it. What has no type of its own, a union of several, is text: JSON where it is none."""
    if value is None:
        return None
    match kind:
        case Array(element):
            return [_converted(each, element) for each in value]
        case Map(_, of):
            return [(key, _converted(each, of)) for key, each in value.items()]
        case Struct(fields):
            return {each.name: _converted(value[each.name], each.type) for each in fields}
        case _ if str(kind) == "STRING" and not isinstance(value, str):
            return json.dumps(value, default=str)
        case _:
            return value
