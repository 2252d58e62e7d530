"""The value of a record as columns, and what is wrong where it cannot be.

Every format gives two columns: a STRUCT of the source's columns, and the reasons for which a record is
malformed, NULL where it is not. Spark never fails here, whatever the bytes.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from trivium.pipeline.record_format import FormatKind, RecordFormat
from trivium.pipeline.schema import Column, Schema
from trivium.spark.formats.batches import REASON, ColumnDecoder
from trivium.spark.running.errors import CannotRun

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression

CORRUPT: Final = "__corrupt"
_NO_VALUE: Final = "the record has no value"


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
        wrong = F.when(~F.is_valid_utf8(text), F.array(F.lit("not text in UTF-8")))
        return F.struct(text.alias("value")), wrong
    if format.kind is FormatKind.JSON:
        return _json(columns, text)
    if format.kind is FormatKind.CSV:
        return _csv(columns, text, format.delimiter)
    return _binary(format, columns, value)


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
        .when(parsed.isNull(), F.array(F.lit("not JSON")))
        .when(
            parsed.getField(CORRUPT).isNotNull(),
            F.when(F.try_parse_json(text).isNull(), F.array(F.lit("not JSON")))
            .when(F.size(unfit) > 0, unfit)
            .otherwise(F.array(F.lit("JSON that does not fit the schema"))),
        )
    )
    return parsed, wrong


def _csv(columns: Schema, text: "Expression", delimiter: str) -> "tuple[Expression, Expression]":
    from pyspark.sql import functions as F  # noqa: N812

    parsed = F.from_csv(
        text, str(_with_corrupt(columns)), {"sep": delimiter, "columnNameOfCorruptRecord": CORRUPT}
    )
    wrong = F.when(text.isNull(), F.array(F.lit(_NO_VALUE))).when(
        parsed.isNull() | parsed.getField(CORRUPT).isNotNull(),
        F.array(F.lit("CSV that does not fit the schema")),
    )
    return parsed, wrong


def _with_corrupt(columns: Schema) -> str:
    from trivium.pipeline.schema import STRING

    if columns.find(CORRUPT) is not None:
        raise CannotRun(f"A column cannot be called {CORRUPT}; rename it.")
    # A parser that is told NOT NULL would give zeros and empty texts where nothing is.
    own = tuple(Column(column.name, column.type) for column in columns.columns)
    return str(Schema((*own, Column(CORRUPT, STRING))))
