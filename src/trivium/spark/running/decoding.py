"""The value of a record as columns, and what is wrong where it cannot be.

Every format gives two columns: a STRUCT of the source's columns, and the reasons for which a record is
malformed, NULL where it is not. Spark never fails here, whatever the bytes; and nothing of a record is passed
over in silence. They are asked for in turn, the second with the column that the first has become: an
expression that is named in several places is computed in each of them.
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


def parsed_value(
    format: RecordFormat,  # noqa: A002 - the author's word
    columns: Schema,
    value: "Expression",
) -> "Expression":
    """The columns of a value."""
    from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

    text = value.cast("string")
    match format.kind:
        case FormatKind.RAW:
            return F.struct(value.alias("value"))
        case FormatKind.TEXT:
            return F.struct(text.alias("value"))
        case FormatKind.JSON:
            return F.from_json(text, _with_corrupt(columns), {"columnNameOfCorruptRecord": CORRUPT})
        case FormatKind.CSV:
            return F.from_csv(
                F.rtrim(text, F.lit("\r\n")),  # The end of a line is no part of its last column.
                _with_corrupt(columns),
                {"sep": format.delimiter, "columnNameOfCorruptRecord": CORRUPT, **CSV_QUOTING},
            )
        case _:
            return _binary(format, columns, value)


def problem_of(
    format: RecordFormat,  # noqa: A002 - the author's word
    columns: Schema,
    value: "Expression",
    parsed: "Expression",
) -> "Expression":
    """What is wrong with a value; ``parsed`` is a column with what was made of it."""
    from pyspark.sql import functions as F  # noqa: N812

    text = value.cast("string")
    match format.kind:
        case FormatKind.RAW:
            return F.lit(None).cast("array<string>")
        case FormatKind.TEXT:
            return F.when(~F.is_valid_utf8(text), F.array(F.lit(NOT_UTF8)))
        case FormatKind.JSON:
            wrong = _wrong_json(columns, text, parsed)
        case FormatKind.CSV:
            wrong = _wrong_csv(columns, text, parsed)
        case _:
            reason = parsed.getField(REASON)
            wrong = F.when(value.isNull(), F.array(F.lit(_NO_VALUE)))
            wrong = wrong.when(reason.isNotNull(), F.array(reason))
    return F.coalesce(wrong, _unfit(columns, parsed))


def _binary(
    format: RecordFormat,  # noqa: A002 - the author's word
    columns: Schema,
    value: "Expression",
) -> "Expression":
    """Avro and Protobuf: decoded in Python, a column of Arrow at a time."""
    import pyarrow as pa
    from pyspark.sql.pandas.functions import arrow_udf

    decoder = _decoder(format, columns)

    def decoded(values: pa.Array) -> pa.Array:
        return decoder(values)

    parsed: Expression = arrow_udf(decoded, str(decoder.type))(value)  # type: ignore[call-overload]
    return parsed


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


def _wrong_json(columns: Schema, text: "Expression", parsed: "Expression") -> "Expression":
    from pyspark.sql import functions as F  # noqa: N812

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
    return (
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


def _wrong_csv(columns: Schema, text: "Expression", parsed: "Expression") -> "Expression":
    from pyspark.sql import functions as F  # noqa: N812

    # Spark takes nothing at all for a row of NULLs.
    is_empty = F.lit(len(columns.columns) > 1) & (F.trim(text, F.lit(BLANKS)) == "")
    return (
        F.when(text.isNull(), F.array(F.lit(_NO_VALUE)))
        .when(~F.is_valid_utf8(text), F.array(F.lit(NOT_UTF8)))
        .when(
            parsed.isNull() | parsed.getField(CORRUPT).isNotNull() | is_empty,
            F.array(F.lit("CSV that does not fit the schema")),
        )
    )


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
