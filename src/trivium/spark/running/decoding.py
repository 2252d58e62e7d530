"""The value of a record as columns, and what is wrong where it cannot be.

Every format gives two columns: a STRUCT of the source's columns, and the reasons for which a record is
malformed, NULL where it is not. Spark never fails here, whatever the bytes; and nothing of a record is passed
over in silence.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from trivium.pipeline.record_format import FormatKind, RecordFormat
from trivium.pipeline.schema import Column, Schema
from trivium.spark.formats.batches import REASON, ColumnDecoder
from trivium.spark.running.errors import CannotRun
from trivium.spark.running.whole_text import (
    BLANKS,
    NOT_UTF8,
    YEAR_MAX,
    YEAR_MIN,
    is_beyond_calendar,
    is_more_than_one_object,
)

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression

CORRUPT: Final = "__corrupt"
_NO_VALUE: Final = "the record has no value"

CSV_QUOTING: Final = {"escape": '"'}
"""Quotes within quotes are doubled, as RFC 4180 and everybody but Spark writes them."""


def decode(
    format: RecordFormat,  # noqa: A002 - the author's word
    columns: Schema,
    value: "Expression",
) -> "tuple[Expression, Expression]":
    """The columns of a value, and what is wrong with it."""
    from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

    if format.kind is FormatKind.RAW:
        return F.struct(value.alias("value")), F.lit(None).cast("array<string>")
    text = value.cast("string")
    if format.kind is FormatKind.TEXT:
        wrong = F.when(~F.is_valid_utf8(text), F.array(F.lit(NOT_UTF8)))
        return F.struct(text.alias("value")), wrong
    if format.kind is FormatKind.JSON:
        parsed, wrong = _json(columns, text)
    elif format.kind is FormatKind.CSV:
        parsed, wrong = _csv(columns, text, format.delimiter)
    else:
        parsed, wrong = _binary(format, columns, value)
    return parsed, F.coalesce(wrong, _unfit(columns, parsed))


def _binary(
    format: RecordFormat,  # noqa: A002 - the author's word
    columns: Schema,
    value: "Expression",
) -> "tuple[Expression, Expression]":
    """Avro and Protobuf: decoded in Python, a column of Arrow at a time."""
    import pyarrow as pa
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.pandas.functions import arrow_udf

    decoder = _decoder(format, columns)

    def decoded(values: pa.Array) -> pa.Array:
        return decoder(values)

    parsed = arrow_udf(decoded, str(decoder.type))(value)  # type: ignore[call-overload]
    reason = parsed.getField(REASON)
    wrong = F.when(value.isNull(), F.array(F.lit(_NO_VALUE))).when(reason.isNotNull(), F.array(reason))
    return parsed, wrong


def _decoder(format: RecordFormat, columns: Schema) -> ColumnDecoder:  # noqa: A002
    if columns.find(REASON) is not None:
        raise CannotRun(f"A column cannot be called {REASON}; rename it.")
    assert format.schema_file is not None, "both have a file"
    schema = Path(format.schema_file).read_bytes()
    if format.kind is FormatKind.AVRO:
        from trivium.spark.formats.avro import avro_decoder

        return ColumnDecoder(columns, avro_decoder, (schema.decode(), columns, format.schema_ids))
    from trivium.spark.formats.protobuf import protobuf_decoder

    return ColumnDecoder(columns, protobuf_decoder, (schema, format.message, columns, format.schema_ids))


def _json(columns: Schema, text: "Expression") -> "tuple[Expression, Expression]":
    from pyspark.sql import functions as F  # noqa: N812

    parsed = F.from_json(text, _with_corrupt(columns), {"columnNameOfCorruptRecord": CORRUPT})
    unfit = F.array_compact(
        F.array(
            *(
                F.when(
                    parsed.getField(column.name).isNull()
                    & F.get_json_object(text, f"$['{column.name}']").isNotNull(),
                    F.lit(f"{column.name} is not {column.type}"),
                )
                for column in columns.columns
                if "'" not in column.name
            )
        )
    )
    wrong = (
        F.when(text.isNull(), F.array(F.lit(_NO_VALUE)))
        .when(~F.is_valid_utf8(text), F.array(F.lit(NOT_UTF8)))
        .when(parsed.isNull(), F.array(F.lit("not JSON")))
        .when(
            parsed.getField(CORRUPT).isNotNull(),
            F.when(F.try_parse_json(text).isNull(), F.array(F.lit("not JSON")))
            .when(F.size(unfit) > 0, unfit)
            .otherwise(F.array(F.lit("JSON that does not fit the schema"))),
        )
        .when(is_more_than_one_object(text), F.array(F.lit("not one JSON object")))
    )
    return parsed, wrong


def _csv(columns: Schema, text: "Expression", delimiter: str) -> "tuple[Expression, Expression]":
    from pyspark.sql import functions as F  # noqa: N812

    parsed = F.from_csv(
        F.rtrim(text, F.lit("\r\n")),  # The end of a line is no part of its last column.
        str(_with_corrupt(columns)),
        {"sep": delimiter, "columnNameOfCorruptRecord": CORRUPT, **CSV_QUOTING},
    )
    # Spark takes nothing at all for a row of NULLs.
    is_empty = F.lit(len(columns.columns) > 1) & (F.trim(text, F.lit(BLANKS)) == "")
    wrong = (
        F.when(text.isNull(), F.array(F.lit(_NO_VALUE)))
        .when(~F.is_valid_utf8(text), F.array(F.lit(NOT_UTF8)))
        .when(
            parsed.isNull() | parsed.getField(CORRUPT).isNotNull() | is_empty,
            F.array(F.lit("CSV that does not fit the schema")),
        )
    )
    return parsed, wrong


def _unfit(columns: Schema, parsed: "Expression") -> "Expression":
    """What a parser lets pass, and the schema or readers of tables do not; NULL where there is nothing."""
    from pyspark.sql import functions as F  # noqa: N812

    found = []
    for column in columns.columns:
        value = parsed.getField(column.name)
        if not column.is_nullable:
            found.append(F.when(value.isNull(), F.lit(f"{column.name} is missing, and NOT NULL")))
        is_beyond = is_beyond_calendar(value, column.type)
        if is_beyond is not None:
            said = f"{column.name} has a time that is not between the years {YEAR_MIN} and {YEAR_MAX}"
            found.append(F.when(is_beyond, F.lit(said)))
    if not found:
        return F.lit(None).cast("array<string>")
    reasons = F.array_compact(F.array(*found))
    return F.when(F.size(reasons) > 0, reasons)


def _with_corrupt(columns: Schema) -> str:
    from trivium.pipeline.schema import STRING

    if columns.find(CORRUPT) is not None:
        raise CannotRun(f"A column cannot be called {CORRUPT}; rename it.")
    # A parser that is told NOT NULL would give zeros and empty texts where nothing is.
    own = tuple(Column(column.name, column.type) for column in columns.columns)
    return str(Schema((*own, Column(CORRUPT, STRING))))
