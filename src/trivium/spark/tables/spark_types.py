"""Types of Arrow in the words of Spark SQL, as people write them in schemas."""

from typing import TYPE_CHECKING

from trivium.pipeline.schema import quoted

if TYPE_CHECKING:
    import pyarrow as pa

_NAMES = {
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "STRING",
    "binary": "BINARY",
    "date32[day]": "DATE",
}


def spark_type(kind: "pa.DataType") -> str:
    from pyarrow import types

    if types.is_dictionary(kind):
        return spark_type(kind.value_type)
    if types.is_timestamp(kind):
        return "TIMESTAMP" if kind.tz else "TIMESTAMP_NTZ"
    if types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if types.is_list(kind) or types.is_large_list(kind) or types.is_list_view(kind):
        return f"ARRAY<{spark_type(kind.value_type)}>"
    if types.is_map(kind):
        return f"MAP<{spark_type(kind.key_type)}, {spark_type(kind.item_type)}>"
    if types.is_struct(kind):
        return f"STRUCT<{', '.join(f'{quoted(field.name)}: {spark_type(field.type)}' for field in kind)}>"
    plain = str(kind).removeprefix("large_").removesuffix("_view")
    return _NAMES.get(plain, plain.upper())
