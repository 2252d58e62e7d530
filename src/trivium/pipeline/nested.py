"""Fields inside columns: where they are, and schemas that have grown inside.

A place is written as people would: ``address.city`` is a field of a STRUCT, ``lines[].sku`` one of the
STRUCTs in an ARRAY. Names with dots, brackets or backticks are in backticks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from trivium.pipeline.schema import Array, Column, DataType, Schema, Struct

ELEMENT: Final = "[]"
"""Behind a name in a place: each element of the array that it is."""

ODD: Final = r"[.`\[\]]"
"""What a name cannot have in a place without backticks."""

_STEP: Final = re.compile(r"(?:`((?:[^`]|``)+)`|([^.`\[\]]+))((?:\[\])*)(?:\.|$)")


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    arrays: int = 0
    """How many arrays are between the name and what is inside."""

    def __str__(self) -> str:
        name = "`" + self.name.replace("`", "``") + "`" if re.search(ODD, self.name) else self.name
        return name + ELEMENT * self.arrays


Place = tuple[Step, ...]


def written(place: Place) -> str:
    return ".".join(map(str, place))


def parse_place(text: str) -> Place:
    """What ``written`` gave; names of one column are themselves."""
    steps, at = [], 0
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None:
            return (Step(text),)
        name = found[1].replace("``", "`") if found[1] is not None else found[2]
        steps.append(Step(name, len(found[3]) // len(ELEMENT)))
        at = found.end()
    return tuple(steps)


def structs_in(schema: Schema) -> Iterator[tuple[Place, Struct]]:
    """Every STRUCT that a record may have fields in, however deep, and where it is."""
    for column in schema.columns:
        yield from _structs((), column)


def _structs(around: Place, column: Column) -> Iterator[tuple[Place, Struct]]:
    inner, arrays = column.type, 0
    while isinstance(inner, Array):
        inner, arrays = inner.element, arrays + 1
    if isinstance(inner, Struct):
        place = (*around, Step(column.name, arrays))
        yield place, inner
        for field in inner.fields:
            yield from _structs(place, field)


def type_at(schema: Schema, place: Place) -> DataType | None:
    """The type of a field; None where the schema has no such place."""
    columns, kind = schema, None
    for at, step in enumerate(place):
        column = columns.find(step.name)
        if column is None:
            return None
        kind = column.type
        if at + 1 < len(place):
            for _ in range(step.arrays):
                kind = kind.element if isinstance(kind, Array) else kind
            if not isinstance(kind, Struct):
                return None
            columns = Schema(kind.fields)
    return kind


def column_at(place: Place, kind: DataType) -> Column:
    """A column that has nothing inside but the field at a place."""
    *around, last = place
    column = Column(last.name, kind)
    for step in reversed(around):
        inner: DataType = Struct((column,))
        for _ in range(step.arrays):
            inner = Array(inner)
        column = Column(step.name, inner)
    return column


def grown(schema: Schema, more: Schema) -> Schema:
    """The schema with what ``more`` has beyond it, behind what was there; types that are there stay."""
    known = {column.name.casefold() for column in schema.columns}
    own = (_grown_column(column, more.find(column.name)) for column in schema.columns)
    return Schema((*own, *(column for column in more.columns if column.name.casefold() not in known)))


def _grown_column(column: Column, more: Column | None) -> Column:
    return column if more is None else replace(column, type=_grown_type(column.type, more.type))


def _grown_type(kind: DataType, more: DataType) -> DataType:
    match kind, more:
        case Array(element), Array(other):
            return Array(_grown_type(element, other))
        case Struct(fields), Struct(others):
            return Struct(grown(Schema(fields), Schema(others)).columns)
        case _:
            return kind
