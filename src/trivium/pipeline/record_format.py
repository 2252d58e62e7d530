"""How the value of a record is read into columns, and where their names and types come from.

json, csv        a schema, a file with one, or neither: then the first run infers it and pins it
avro             the writer's schema, a file in Avro's own JSON
protobuf         a descriptor set (``protoc --descriptor_set_out``) and the name of the message in it
text, raw        one column, ``value``, as text or as bytes

Values of avro and protobuf may begin with the prefix that a schema registry's serializers write; nobody is
asked for the schema behind its number, the pipeline brings it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from trivium.pipeline.ddl import parse_schema
from trivium.pipeline.mistake import Mistake
from trivium.pipeline.schema import BINARY, STRING, Column, Schema
from trivium.pipeline.value import choice, optional_text


class FormatKind(StrEnum):
    JSON = "json"
    AVRO = "avro"
    PROTOBUF = "protobuf"
    CSV = "csv"
    TEXT = "text"
    RAW = "raw"


WHOLE_VALUE: Final = {
    FormatKind.TEXT: Schema((Column("value", STRING),)),
    FormatKind.RAW: Schema((Column("value", BINARY),)),
}
"""Formats that have nothing to be told."""

_WITH_FILE_ONLY: Final = (FormatKind.AVRO, FormatKind.PROTOBUF)

ANY_ID: Final = "any"
SCHEMA_ID_MAX: Final = (1 << 31) - 1
"""A registry's number is an int of Java."""


@dataclass(frozen=True, slots=True)
class RecordFormat:
    kind: FormatKind = FormatKind.JSON
    schema: Schema | None = None
    schema_file: str | None = None
    """Beside the definition unless absolute."""

    message: str | None = None
    """The name of a message, with its package, for protobuf."""

    delimiter: str = ","
    """Between columns, for csv."""

    schema_ids: tuple[int, ...] | None = None
    """Values begin with a registry's prefix and one of these numbers; with any where there are none. None: no
    prefix."""

    @property
    def is_inferred(self) -> bool:
        """Whether nobody says what columns there are, until the first run has seen records."""
        return self.schema is None and self.schema_file is None


def record_format(
    kind: object = "json",
    *,
    schema: object = None,
    schema_file: object = None,
    message: object = None,
    delimiter: object = None,
    schema_id: object = None,
) -> RecordFormat:
    """From what an author has written; every combination that means nothing is a mistake."""
    chosen = choice("format", kind, FormatKind)
    ddl = optional_text("schema", schema)
    file = optional_text("schema_file", schema_file)
    if ddl is not None and file is not None:
        raise Mistake("schema_file", "There is a schema and a schema_file.", "Keep one of them.")
    _check_schema(chosen, ddl, file)
    if message is not None and chosen is not FormatKind.PROTOBUF:
        raise Mistake("message", f"{chosen} has no messages to choose from.", "Remove 'message'.")
    if message is None and chosen is FormatKind.PROTOBUF:
        raise Mistake("format", "protobuf needs the name of the message.", 'Add message = "package.Name".')
    if delimiter is not None and chosen is not FormatKind.CSV:
        raise Mistake("delimiter", f"{chosen} has no delimiter.", "Remove it.")
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
        raise Mistake("delimiter", "'delimiter' must be one character.", 'Such as ";".')
    if schema_id is not None and chosen not in _WITH_FILE_ONLY:
        raise Mistake("schema_id", f"{chosen} is read without a registry's prefix.", "Remove 'schema_id'.")
    fixed = WHOLE_VALUE.get(chosen)
    return RecordFormat(
        chosen,
        fixed if ddl is None else parse_schema("schema", ddl),
        file,
        optional_text("message", message),
        delimiter if isinstance(delimiter, str) else ",",
        None if schema_id is None else _schema_ids(schema_id),
    )


def _schema_ids(value: object) -> tuple[int, ...]:
    if value == ANY_ID:
        return ()
    numbers: dict[int, None] = {}
    for number in value if isinstance(value, list | tuple) else [value]:
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= SCHEMA_ID_MAX:
            raise Mistake(
                "schema_id",
                "'schema_id' must be the number that a registry gave to the schema.",
                'Such as 17, or [17, 18], or "any".',
            )
        numbers[number] = None
    if not numbers:
        raise Mistake("schema_id", "'schema_id' is an empty list.", 'Name a number, or say "any".')
    return tuple(numbers)


def _check_schema(kind: FormatKind, ddl: str | None, file: str | None) -> None:
    if kind in WHOLE_VALUE and (ddl is not None or file is not None):
        key = "schema" if ddl is not None else "schema_file"
        raise Mistake(
            key, f"{kind} has one column, value, and takes no schema.", "Remove it, or choose a format."
        )
    if kind in _WITH_FILE_ONLY and file is None:
        what = "the schema (.avsc)" if kind is FormatKind.AVRO else "the descriptor set (.desc)"
        raise Mistake("format", f"{kind} cannot be read without {what}.", 'Add schema_file = "…".')
