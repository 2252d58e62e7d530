"""What a sink is told of rows that are set aside: the record as it was, and every reason."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from trivium.pipeline.quarantine import RAW_COLUMNS
from trivium.pipeline.quarantine import RECORD as QUARANTINE
from trivium.spark.formats.arrow_types import arrow_type
from trivium.spark.sinks.judged import ASIDE, PLACE, aside, good_rows, place, set_aside

SCHEMA = (
    "n INT, record STRUCT<topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, key BINARY, "
    "value BINARY, headers ARRAY<STRUCT<key STRING, value BINARY>>>, reasons ARRAY<STRING>"
)
IGNORE_NULLS = "spark.sql.jsonGenerator.ignoreNullFields"
TIME = datetime(2026, 11, 16, 20, 24, 55, 123456, UTC)
WHOLE = ("töpic", 3, 2**40, TIME, b"\xff\x00", b'{"a": "\xc3\xa4"', [("h", b"\xfe"), ("h", None), ("", b"")])
ROWS = [
    (1, WHOLE, ["positive: not n > 0", 'quoted "reason"\n']),
    (2, WHOLE, None),
    (3, (None, None, None, None, None, None, None), ["bare: not true"]),
    (4, None, ["made of many: not true"]),
    (5, None, None),
]


@pytest.fixture(scope="module", params=["true", "false"], ids=["nulls left out", "nulls written"])
def judged(spark: SparkSession, request: pytest.FixtureRequest) -> pa.RecordBatch:
    """Whatever a session says about NULLs in JSON."""
    spark.conf.set(IGNORE_NULLS, request.param)
    try:
        frame = spark.createDataFrame(ROWS, SCHEMA).coalesce(1)
        shaped = frame.select("n", place(F.col("record")), aside(F.col("record"), F.col("reasons")))
        (batch,) = shaped.toArrow().combine_chunks().to_batches()
    finally:
        spark.conf.unset(IGNORE_NULLS)
    return batch


def test_good_rows_are_those_without_a_reason(judged: pa.RecordBatch) -> None:
    good = good_rows(judged)
    assert good.schema.names == ["n", PLACE]
    assert good.column("n").to_pylist() == [2, 5]
    assert good.column(PLACE).to_pylist() == [{"partition": 3, "offset": 2**40}, None]


def test_record_set_aside_is_the_one_that_was_read_to_the_byte_and_microsecond(
    judged: pa.RecordBatch,
) -> None:
    bad = set_aside(judged, "shop.clean", "q", 7)
    whole, bare, many = bad.to_pylist()
    expected: dict[str, Any] = dict(zip(RAW_COLUMNS, WHOLE, strict=True))
    expected["headers"] = [{"key": key, "value": value} for key, value in WHOLE[6]]
    own = {"flow": "shop.clean", "query": "q", "batch": 7}
    assert whole == expected | {"reasons": ["positive: not n > 0", 'quoted "reason"\n']} | own
    nothing = dict.fromkeys(RAW_COLUMNS)
    assert bare == nothing | {"reasons": ["bare: not true"]} | own
    assert many == nothing | {"reasons": ["made of many: not true"]} | own


@pytest.mark.parametrize("rows", [slice(0, 5), slice(1, 2)], ids=["some bad", "none bad"])
def test_quarantine_has_its_types_whatever_is_in_it(judged: pa.RecordBatch, rows: slice) -> None:
    part = judged.slice(rows.start, rows.stop - rows.start)
    bad = set_aside(part, "f", "q", 0)
    assert bad.num_rows == part.num_rows - part.column(ASIDE).null_count
    assert bad.schema.names == list(QUARANTINE.names)
    assert bad.schema.types == [arrow_type(column.type) for column in QUARANTINE.columns]


def test_judgement_is_no_array_that_is_null_nearly_everywhere(judged: pa.RecordBatch) -> None:
    """Spark weighs a batch after each row, and Arrow walks over all NULLs of an array each time."""
    assert judged.schema.field(ASIDE).type == pa.string()
    assert all(not pa.types.is_nested(field.type) for field in judged.schema.field(PLACE).type)
