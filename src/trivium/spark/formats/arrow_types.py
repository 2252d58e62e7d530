"""Columns of a schema as types of Arrow, as Spark expects them back from Python."""

from typing import TYPE_CHECKING, Any

from trivium.pipeline.schema import Array, DataType, Decimal, Map, Struct

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_type(kind: DataType) -> "pa.DataType":
    import pyarrow as pa

    match kind:
        case Decimal(precision, scale):
            return pa.decimal128(precision, scale)
        case Array(element):
            return pa.list_(pa.field("element", arrow_type(element)))
        case Map(key, value):
            return pa.map_(arrow_type(key), arrow_type(value))
        case Struct(fields):
            return pa.struct([pa.field(each.name, arrow_type(each.type)) for each in fields])
        case _:
            return _scalars()[kind.name]


def _scalars() -> dict[str, Any]:
    import pyarrow as pa

    return {
        "BOOLEAN": pa.bool_(),
        "INT": pa.int32(),
        "BIGINT": pa.int64(),
        "FLOAT": pa.float32(),
        "DOUBLE": pa.float64(),
        "STRING": pa.string(),
        "BINARY": pa.binary(),
        "DATE": pa.date32(),
        "TIMESTAMP": pa.timestamp("us", "UTC"),
        "TIMESTAMP_NTZ": pa.timestamp("us"),
    }
