"""A schema that a person gives is some of our columns, as they are."""

import pytest
from pyspark.sql.types import StringType, StructField, StructType

from tests.spark.connector.reads import HEADERS, TYPES, lower, schema
from trivium.records.batch import build_batch
from trivium.records.compression import Compression
from trivium.records.record import Record
from trivium.spark.connector.errors import BadOption, ConnectorError
from trivium.spark.connector.origin import make_piece
from trivium.spark.connector.ranges import OffsetRange
from trivium.spark.connector.rows import ROWS_BYTES, WantedColumn, check_schema, read_rows
from trivium.spark.connector.source import TriviumDataSource

VALUE_AND_OFFSET = (WantedColumn("value"), WantedColumn("offset", is_nullable=False))


@pytest.mark.parametrize(
    ("version", "never_null"), [("4.2.1", ""), ("4.3.0", " NOT NULL"), ("4.10.0.dev1", " NOT NULL")]
)
def test_schema_is_the_kafka_sources_with_headers_on_request(
    monkeypatch: pytest.MonkeyPatch, version: str, never_null: str
) -> None:
    """NOT NULL only where Spark does not write it into the state of a stream."""
    monkeypatch.setattr("pyspark.__version__", version)
    plain = TriviumDataSource(lower({"subscribe": "t"})).schema()
    assert plain == (
        f"key BINARY, value BINARY, topic STRING{never_null}, partition INT{never_null}, "
        f"offset BIGINT{never_null}, timestamp TIMESTAMP{never_null}, timestampType INT{never_null}"
    )
    with_headers = TriviumDataSource(lower({"subscribe": "t", "includeHeaders": True})).schema()
    assert with_headers == f"{plain}, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"


def test_every_column_may_be_asked_for_in_any_order() -> None:
    names = tuple(reversed(TYPES))
    assert check_schema(schema(*names)) == tuple(map(WantedColumn, names))


def test_what_every_record_has_may_be_asked_for_as_not_null_and_is_given_as_such() -> None:
    asked = StructType(
        [StructField(name, TYPES[name], name in ("key", "value", "headers")) for name in TYPES]
    )
    columns = check_schema(asked)
    assert columns == tuple(WantedColumn(field.name, field.nullable) for field in asked)
    batch = build_batch([Record(0, 0, b"key", None, (("h", b"1"),))])
    wanted = OffsetRange("t", 3, 0, 1)
    (rows,) = read_rows(iter([make_piece(wanted, batch, 0, ())]), wanted, columns)
    assert [(field.name, field.nullable) for field in rows.schema] == [*columns]
    rows.validate(full=True)


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        (StructField("valeu", StringType()), "There is no column valeu; there are key, value, topic"),
        (StructField("value", StringType()), "Column value is BINARY, not STRING; cast it after reading."),
        (
            StructField("value", TYPES["value"], nullable=False),
            "Column value may be null; leave NOT NULL out",
        ),
        (StructField("key", TYPES["key"], nullable=False), "Column key may be null; leave NOT NULL out"),
        (StructField("headers", HEADERS, nullable=False), "Column headers may be null; leave NOT NULL out"),
        (StructField("key", HEADERS), "Column key is BINARY, not ARRAY<STRUCT<KEY: STRING, VALUE: BINARY>>"),
    ],
)
def test_schema_that_does_not_fit_is_refused_with_a_sentence(field: StructField, sentence: str) -> None:
    with pytest.raises(BadOption) as refused:
        check_schema(StructType([field]))
    assert sentence in str(refused.value)


def test_schema_without_columns_is_refused_with_a_sentence() -> None:
    with pytest.raises(BadOption, match="A schema without columns reads nothing"):
        check_schema(StructType([]))


def test_bytes_that_are_no_batch_are_a_sentence() -> None:
    wanted = OffsetRange("t", 3, 5, 9)
    with pytest.raises(ConnectorError, match="Topic t, partition 3 is damaged between offsets 5 and 9"):
        make_piece(wanted, bytes(100), 5, ())


def test_records_that_contradict_their_checksum_are_a_sentence() -> None:
    wanted = OffsetRange("t", 3, 5, 9)
    batch = bytearray(build_batch([Record(0, 0, None, b"value")], base_offset=5))
    batch[-2] ^= 1
    with pytest.raises(ConnectorError, match="Topic t, partition 3 is damaged between offsets 5 and 9"):
        list(read_rows(iter([make_piece(wanted, bytes(batch), 5, ())]), wanted, (WantedColumn("value"),)))


@pytest.mark.parametrize(
    ("compression", "counts"), [(Compression.NONE, [2, 2, 1]), (Compression.LZ4, [1, 3, 1])]
)
def test_piece_becomes_batches_of_rows_of_a_bounded_size(
    monkeypatch: pytest.MonkeyPatch, compression: Compression, counts: list[int]
) -> None:
    """Compressed ones are larger as rows than they look: one alone, three together, and the rest."""
    batches = [
        build_batch([Record(0, 0, None, bytes([at]) * 100)], base_offset=at, compression=compression)
        for at in range(5)
    ]
    monkeypatch.setattr("trivium.spark.connector.rows.ROWS_BYTES", 300)
    wanted = OffsetRange("t", 0, 0, 5)
    pieces = iter([make_piece(wanted, b"".join(batches), 0, ())])
    found = list(read_rows(pieces, wanted, VALUE_AND_OFFSET))
    assert [rows.num_rows for rows in found] == counts
    assert [offset for rows in found for offset in rows.column("offset").to_pylist()] == [0, 1, 2, 3, 4]
    values = [value for rows in found for value in rows.column("value").to_pylist()]
    assert values == [bytes([at]) * 100 for at in range(5)]


def test_batches_that_expand_a_thousand_times_become_many_batches_of_rows() -> None:
    value = bytes(1_000_000)
    batches = [
        build_batch([Record(0, 0, None, value)], base_offset=at, compression=Compression.ZSTD)
        for at in range(40)
    ]
    assert sum(map(len, batches)) < ROWS_BYTES / 1000
    wanted = OffsetRange("t", 0, 0, 40)
    pieces = (make_piece(wanted, b"".join(batches[at : at + 20]), at, ()) for at in (0, 20))
    found = list(read_rows(pieces, wanted, VALUE_AND_OFFSET))
    assert [rows.num_rows for rows in found] == [1, 9, 9, 1, 9, 9, 2]
    assert max(rows.nbytes for rows in found) < ROWS_BYTES + 2 * len(value)
    assert [offset for rows in found for offset in rows.column("offset").to_pylist()] == list(range(40))
