"""Columns of a schema as types of Arrow, as Spark expects them back from Python."""

from typing import TYPE_CHECKING, Final

from trivium.pipeline.schema import Array, DataType, Decimal, Map, Struct

if TYPE_CHECKING:
    import pyarrow as pa

SCALARS: Final = {
    "BOOLEAN": ("bool_",),
    "TINYINT": ("int8",),
    "SMALLINT": ("int16",),
    "INT": ("int32",),
    "BIGINT": ("int64",),
    "FLOAT": ("float32",),
    "DOUBLE": ("float64",),
    "STRING": ("string",),
    "BINARY": ("binary",),
    "DATE": ("date32",),
    "TIMESTAMP": ("timestamp", "us", "UTC"),
    "TIMESTAMP_NTZ": ("timestamp", "us"),
}
"""What makes each of them: a function of pyarrow and its arguments."""


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
            return getattr(pa, SCALARS[kind.name][0])(*SCALARS[kind.name][1:])
