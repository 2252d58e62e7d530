"""Columns and their types, as Spark SQL knows them. How they are written is in ``ddl``.

A type prints itself in Spark's spelling: ``str(schema)`` is DDL that Spark takes.
"""

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

DECIMAL_PRECISION_MAX: Final = 38
"""Digits; Spark's own limit."""

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Scalar:
    name: str
    """Spark's first name for it: ``BIGINT`` and never ``LONG``."""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Decimal:
    precision: int = 10
    scale: int = 0

    def __str__(self) -> str:
        return f"DECIMAL({self.precision},{self.scale})"


@dataclass(frozen=True, slots=True)
class Array:
    element: "DataType"

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True, slots=True)
class Map:
    key: "DataType"
    value: "DataType"

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True)
class Struct:
    fields: tuple["Column", ...]

    def __str__(self) -> str:
        return f"STRUCT<{', '.join(field.written(': ') for field in self.fields)}>"


DataType: TypeAlias = Scalar | Decimal | Array | Map | Struct


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: DataType
    is_nullable: bool = True
    comment: str | None = None

    def written(self, separator: str) -> str:
        parts = [f"{quoted(self.name)}{separator}{self.type}"]
        if not self.is_nullable:
            parts.append("NOT NULL")
        if self.comment is not None:
            escaped = self.comment.replace("\\", "\\\\").replace("'", "\\'")
            parts.append(f"COMMENT '{escaped}'")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Schema:
    columns: tuple[Column, ...]

    def __str__(self) -> str:
        return ", ".join(column.written(" ") for column in self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def find(self, name: str) -> Column | None:
        """Names are the same to Spark whatever their case."""
        folded = name.casefold()
        return next((column for column in self.columns if column.name.casefold() == folded), None)


def bare(data_type: DataType) -> DataType:
    """A type without what only concerns whoever writes it: NOT NULL and comments of fields."""
    match data_type:
        case Array(element):
            return Array(bare(element))
        case Map(key, value):
            return Map(bare(key), bare(value))
        case Struct(fields):
            return Struct(tuple(Column(each.name, bare(each.type)) for each in fields))
        case _:
            return data_type


def quoted(name: str) -> str:
    """A name as SQL takes it."""
    return name if _PLAIN.fullmatch(name) else "`" + name.replace("`", "``") + "`"


STRING: Final = Scalar("STRING")
BINARY: Final = Scalar("BINARY")
BOOLEAN: Final = Scalar("BOOLEAN")
INT: Final = Scalar("INT")
BIGINT: Final = Scalar("BIGINT")
TIMESTAMP: Final = Scalar("TIMESTAMP")
HEADERS: Final = Array(Struct((Column("key", STRING), Column("value", BINARY))))
"""Of a record, in their order; a name may come twice."""

METADATA: Final = Schema(
    (
        Column("_topic", STRING),
        Column("_partition", INT),
        Column("_offset", BIGINT),
        Column("_timestamp", TIMESTAMP),
        Column("_key", BINARY),
        Column("_headers", HEADERS),
    )
)
"""What every row of a topic brings beside its own columns; dropped before a sink unless selected by name."""
