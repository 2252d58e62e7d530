"""How the value of a record is read into columns, and where their names and types come from.

json, csv        a schema, a file with one, or neither: then the first run infers it and pins it
avro             the writer's schema, a file in Avro's own JSON
protobuf         a descriptor set (``protoc --descriptor_set_out``) and the name of the message in it
text, raw        one column, ``value``, as text or as bytes
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
    fixed = WHOLE_VALUE.get(chosen)
    return RecordFormat(
        chosen,
        fixed if ddl is None else parse_schema("schema", ddl),
        file,
        optional_text("message", message),
        delimiter if isinstance(delimiter, str) else ",",
    )


def _check_schema(kind: FormatKind, ddl: str | None, file: str | None) -> None:
    if kind in WHOLE_VALUE and (ddl is not None or file is not None):
        key = "schema" if ddl is not None else "schema_file"
        raise Mistake(
            key, f"{kind} has one column, value, and takes no schema.", "Remove it, or choose a format."
        )
    if kind in _WITH_FILE_ONLY and file is None:
        what = "the schema (.avsc)" if kind is FormatKind.AVRO else "the descriptor set (.desc)"
        raise Mistake("format", f"{kind} cannot be read without {what}.", 'Add schema_file = "…".')
