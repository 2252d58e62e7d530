"""Records that Spark's parsers would take in part, and what a schema does not allow: set aside, with the
reason (mission: malformed records never stop a pipeline, and nothing is lost in silence)."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from trivium.pipeline.ddl import parse_schema
from trivium.pipeline.record_format import FormatKind, RecordFormat
from trivium.spark.running.decoding import parsed_value, problem_of

JSON = RecordFormat(FormatKind.JSON)
CSV = RecordFormat(FormatKind.CSV)
ORDERS = "id BIGINT, name STRING, at TIMESTAMP, of STRUCT<a: INT>, lines ARRAY<STRUCT<day: DATE>>"


def read(
    spark: SparkSession, kind: RecordFormat, schema: str, values: list[str | bytes]
) -> tuple[list[list[object]], list[str | None]]:
    """What a good record says in its first two columns, and what is wrong with each of the others."""
    records = [(value.encode() if isinstance(value, str) else value,) for value in values]
    columns = parse_schema("schema", schema)
    frame = spark.createDataFrame(records, "value BINARY").select(
        "value", parsed_value(kind, columns, F.col("value")).alias("c")
    )
    frame = frame.select("c.id", "c.name", problem_of(kind, columns, F.col("value"), F.col("c")).alias("w"))
    rows = frame.collect()
    return [list(row)[:2] for row in rows if row.w is None], ["; ".join(row.w) for row in rows if row.w]


@pytest.mark.parametrize(
    "text",
    [
        '{"id":1} {"id":2}',
        '{"id":1}\n{"id":2}',
        '{"id":1},{"id":2}',
        '{"id":1} x',
        '{"id":1}}',
        '{"id":1}]',
        '{"id":1,"of":{"a":1}} {"id":2}',
        '{"id":1}\0',
    ],
)
def test_value_with_more_than_one_object_is_no_record(spark: SparkSession, text: str) -> None:
    assert read(spark, JSON, ORDERS, [text]) == ([], ["not one JSON object"])


def test_one_object_is_a_record_whatever_is_inside(spark: SparkSession) -> None:
    texts: list[str | bytes] = ['{"id":1,"name":"}{"}', ' {"id":2,"name":"ü}"}\r\n']
    texts += ['{"id":3,"of":{"a":1},"lines":[{},{}]}', '{"id":4,"of":{"a":1},"more":NaN}']
    assert read(spark, JSON, ORDERS, texts) == ([[1, "}{"], [2, "ü}"], [3, None], [4, None]], [])


@pytest.mark.parametrize(("kind", "value"), [(JSON, b'{"id":1,"name":"\xff"}'), (CSV, b"1,\xff")])
def test_bytes_that_are_no_text_are_not_replaced(
    spark: SparkSession, kind: RecordFormat, value: bytes
) -> None:
    assert read(spark, kind, "id BIGINT, name STRING", [value]) == ([], ["not text in UTF-8"])


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ('{"at":1700000000000}', "at"),
        ('{"at":"-0001-01-01T00:00:00Z"}', "at"),
        ('{"lines":[{"day":"2025-01-01"},{"day":"+12345-01-01"}]}', "lines"),
    ],
)
def test_time_that_no_reader_of_a_table_knows_is_not_written(
    spark: SparkSession, text: str, column: str
) -> None:
    wrong = f"{column} has a time that is not between the years 1 and 9999"
    assert read(spark, JSON, ORDERS, [text]) == ([], [wrong])


def test_times_of_the_calendar_are_taken(spark: SparkSession) -> None:
    texts: list[str | bytes] = ['{"id":1,"at":"0001-01-01T00:00:00Z"}']
    texts += ['{"id":2,"at":"9999-12-31T23:59:59.999999Z","lines":[null,{}]}']
    assert read(spark, JSON, ORDERS, texts) == ([[1, None], [2, None]], [])


@pytest.mark.parametrize(("kind", "value"), [(JSON, '{"name":"x"}'), (CSV, ",x")])
def test_column_that_must_be_there_is_missed(spark: SparkSession, kind: RecordFormat, value: str) -> None:
    schema = "id BIGINT NOT NULL, name STRING"
    assert read(spark, kind, schema, [value]) == ([], ["id is missing, and NOT NULL"])


def test_quotes_of_csv_are_doubled_and_lines_end_within_them(spark: SparkSession) -> None:
    values: list[str | bytes] = ['1,"a ""b"", c"', '2,"a\nb"', '3,"a"",\nb"""\r\n', '4,"a\\"', "5,x\n"]
    good, wrong = read(spark, CSV, "id BIGINT, name STRING", values)
    assert good == [[1, 'a "b", c'], [2, "a\nb"], [3, 'a",\nb"'], [4, "a\\"], [5, "x"]]
    assert wrong == []


@pytest.mark.parametrize("value", ["1,a\n2,b", '1,"a\nb"\r2,c', "", "\n", "1,a,more"])
def test_value_that_is_not_one_line_of_csv_is_no_record(spark: SparkSession, value: str) -> None:
    wrong = ["CSV that does not fit the schema"]
    assert read(spark, CSV, "id BIGINT, name STRING", [value]) == ([], wrong)
