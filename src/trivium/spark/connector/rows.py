"""The columns of a row, and which of them a query wants.

Spark prunes no columns of a source written in Python: whoever wants only some says so by a schema, and the
kernel does not copy the others. Columns and types are those of Spark's Kafka source, and what every record
has is NOT NULL (docs/adr/0019).
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from trivium.records.header import COMPRESSION_BITS, BatchHeader
from trivium.records.visibility import Visibility
from trivium.spark.connector.errors import BadOption
from trivium.spark.connector.origin import Piece, damaged
from trivium.spark.connector.ranges import OffsetRange
from trivium.wire.errors import DecodeError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

COLUMNS: Final = {
    "key": "BINARY",
    "value": "BINARY",
    "topic": "STRING",
    "partition": "INT",
    "offset": "BIGINT",
    "timestamp": "TIMESTAMP",
    "timestampType": "INT",
}

ALWAYS_THERE: Final = frozenset(COLUMNS) - {"key", "value"}
"""Spark asks of each row whether a column that may be null is: some 6 % of what the JVM needs for a read."""

ROWS_BYTES: Final = 8 * 1024 * 1024
"""Of batches that become one batch of rows, as they are stored, or unpacked if they are compressed. Each
costs the same in Python and in the JVM, so large ones are cheaper: of 2 MB a read needs a tenth more of the
processor, of 16 MB no less."""

HEADERS: Final = "ARRAY<STRUCT<key: STRING, value: BINARY>>"


class WantedColumn(NamedTuple):
    """Of a query, which knows whether it can be null from its schema, and wants batches that say the same."""

    name: str
    is_nullable: bool = True


def schema_text(*, include_headers: bool) -> str:
    """The schema of a read that asks for none, as Spark writes schemas."""
    columns = COLUMNS | ({"headers": HEADERS} if include_headers else {})
    never_null = ALWAYS_THERE if _state_forgets_not_null() else ()
    return ", ".join(
        f"{name} {kind}{' NOT NULL' if name in never_null else ''}" for name, kind in columns.items()
    )


def _state_forgets_not_null() -> bool:
    """Whether this Spark takes all columns for nullable in the state of a stream, as 4.3 is the first to do.
    Elsewhere a checkpoint would bind its query to NOT NULL, which is not what Spark's Kafka source says."""
    from pyspark import __version__

    return tuple(map(int, __version__.split(".")[:2])) >= (4, 3)


def check_schema(schema: "StructType") -> tuple[WantedColumn, ...]:
    """The columns of a schema that a person gave; each is one of ours, with its type."""
    known = {**COLUMNS, "headers": HEADERS}
    for field in schema.fields:
        if field.name not in known:
            raise BadOption(f"There is no column {field.name}; there are {', '.join(known)}.")
        given = field.dataType.simpleString().replace(":", ": ").replace(",", ", ")
        if given != known[field.name].lower():
            raise BadOption(
                f"Column {field.name} is {known[field.name]}, not {given.upper()}; cast it after reading."
            )
        if not field.nullable and field.name not in ALWAYS_THERE:
            raise BadOption(f"Column {field.name} may be null; leave NOT NULL out of the schema.")
    if not schema.fields:
        raise BadOption("A schema without columns reads nothing; name one, such as 'offset BIGINT'.")
    return tuple(WantedColumn(field.name, field.nullable) for field in schema.fields)


class _RowSize:
    """How large the rows of a range are, by those that have come. How far a compressed batch expands is not
    to be seen before, and may be a thousand times."""

    def __init__(self) -> None:
        self._bytes: float | None = None

    def learn(self, rows: "pa.RecordBatch") -> None:
        if rows.num_rows:
            self._bytes = rows.nbytes / rows.num_rows

    def weigh(self, header: BatchHeader) -> float:
        """A batch as rows; the first compressed one is taken for large, and comes alone."""
        if not header.attributes & COMPRESSION_BITS:
            return header.size_bytes
        return ROWS_BYTES if self._bytes is None else header.records_count * self._bytes


def rows_of(
    piece: Piece, wanted: OffsetRange, schema: "pa.Schema", row_size: _RowSize
) -> "Iterator[pa.RecordBatch]":
    """The records of a piece that lie in the range and may be seen."""
    from trivium.records.arrow import to_arrow

    offset_start = max(wanted.offset_start, piece.offset_start)
    try:
        visibility = Visibility(piece.aborted)
        seen = (
            (position, header)
            for position, header in piece.batches
            if visibility.sees(piece.data, position, header)
            and header.offset_end > offset_start
            and header.base_offset < wanted.offset_end
        )
        for positions in _parts(seen, row_size):
            rows = to_arrow(
                piece.data,
                positions,
                topic=wanted.topic,
                partition=wanted.partition,
                offset_start=offset_start,
                offset_end=wanted.offset_end,
                schema=schema,
            )
            row_size.learn(rows)
            yield rows
    except DecodeError as error:
        raise damaged(wanted, offset_start, error) from error


def _parts(batches: Iterable[tuple[int, BatchHeader]], row_size: _RowSize) -> Iterator[list[int]]:
    """Positions of batches that go to Spark together."""
    positions: list[int] = []
    weight = 0.0
    for position, header in batches:
        positions.append(position)
        weight += row_size.weigh(header)
        if weight >= ROWS_BYTES:
            yield positions
            positions, weight = [], 0.0
    if positions:
        yield positions


def read_rows(
    pieces: Iterator[Piece], wanted: OffsetRange, columns: tuple[WantedColumn, ...]
) -> "Iterator[pa.RecordBatch]":
    """Arrow batches of a range, as they come; none of them is empty."""
    import pyarrow as pa

    from trivium.records.arrow import SCHEMA

    schema = pa.schema([SCHEMA.field(each.name).with_nullable(each.is_nullable) for each in columns])
    row_size = _RowSize()
    for piece in pieces:
        yield from (rows for rows in rows_of(piece, wanted, schema, row_size) if rows.num_rows)
