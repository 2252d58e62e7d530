"""The columns that a write looks at, and their types: those of Spark's Kafka sink. Others stay behind."""

from typing import TYPE_CHECKING, Final

from trivium.spark.connector.errors import BadOption

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_TYPES: Final = {
    "topic": ("string",),
    "key": ("string", "binary"),
    "value": ("string", "binary"),
    "partition": ("int",),
    "headers": ("array<struct<key:string,value:binary>>",),
}


def check_columns(schema: "StructType", topic: str | None) -> None:
    """Refuse rows that are no records; ``topic`` is where all of them go, if the option says so."""
    given = {field.name: field.dataType.simpleString() for field in schema.fields}
    if "value" not in given:
        raise BadOption(
            "A record is made of a column value; name one so, such as to_json(struct(*)) AS value."
        )
    if topic is None and "topic" not in given:
        raise BadOption("Say where rows go: by the option topic, or by a column topic.")
    for name, kinds in _TYPES.items():
        if name in given and given[name] not in kinds:
            wanted = " or ".join(kind.upper() for kind in kinds)
            raise BadOption(f"Column {name} is {given[name].upper()}, but must be {wanted}; cast it.")
