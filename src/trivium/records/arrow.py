"""Batches as Arrow columns and back, with the columns of Spark's Kafka source.

The only module here that needs pyarrow (extra ``spark``); nothing imports it but who wants Arrow.
The kernel fills and reads Arrow's buffers; this module only gives them their types. Timestamps are
milliseconds in Kafka and microseconds in Spark.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa

from trivium.records import kernel
from trivium.records.batch import MAGIC, NO_LEADER_EPOCH, BatchHeader, seal
from trivium.records.compression import Compression
from trivium.records.record import Blobs, Columns, RowColumns
from trivium.wire.buffer import Buffer
from trivium.wire.errors import EncodeError

_HEADER = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
_HEADERS = pa.list_(pa.field("element", _HEADER))

SCHEMA = pa.schema(
    [
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("offset", pa.int64()),
        pa.field("timestamp", pa.timestamp("us", tz="UTC")),
        pa.field("timestampType", pa.int32()),
        pa.field("headers", _HEADERS),
    ]
)

_NO_BLOBS = Blobs(None, bytes(4), b"")


def to_arrow(
    data: Buffer,
    positions: Sequence[int],
    *,
    topic: str,
    partition: int,
    offset_start: int = 0,
    offset_end: int | None = None,
    schema: pa.Schema = SCHEMA,
) -> pa.RecordBatch:
    """The records of the batches at these positions, in order, that lie in the range of offsets.

    The batches are those of one partition, without control batches; each is checked. ``schema`` has some of
    the fields of ``SCHEMA``, in any order; what is not in it is not copied.
    """
    names = schema.names
    columns = kernel.to_columns(data, positions, "key" in names, "value" in names, "headers" in names)
    rows_count = columns.rows_count
    arrays = [_FILLS[name](columns, topic, partition) for name in names]
    offsets = memoryview(columns.offsets).cast("q")
    first = bisect_left(offsets, offset_start)
    end = rows_count if offset_end is None else bisect_left(offsets, offset_end)
    return pa.RecordBatch.from_arrays(arrays, schema=schema).slice(first, max(end - first, 0))


def from_arrow(
    rows: pa.RecordBatch,
    *,
    timestamp_ms: int,
    compression: Compression = Compression.NONE,
    size_bytes_max: int = 1_000_000,
) -> Iterator[bytes]:
    """The rows as v2 batches whose records have up to ``size_bytes_max`` bytes before compression.

    Read are the columns ``value``, and where they are there ``key``, ``headers`` and ``timestamp``;
    a row without a timestamp gets ``timestamp_ms``. Text counts as its UTF-8 bytes. One row is never
    divided: a batch may be larger by that row.
    """
    columns = _row_columns(rows, timestamp_ms)
    row = 0
    while row < rows.num_rows:
        packed = kernel.from_columns(columns, row, size_bytes_max)
        header = BatchHeader(
            base_offset=0,
            batch_length=0,
            leader_epoch=NO_LEADER_EPOCH,
            magic=MAGIC,
            crc=0,
            attributes=0,
            last_offset_delta=packed.records_count - 1,
            base_timestamp=packed.base_timestamp,
            max_timestamp=packed.max_timestamp,
            producer_id=-1,
            producer_epoch=-1,
            base_sequence=-1,
            records_count=packed.records_count,
        )
        yield seal(header, packed.data, compression)
        row += packed.records_count


def partitions_of_keys(keys: pa.Array, partitions_count: int) -> pa.Array:
    """The partition of each key, as Kafka's Java clients choose it; null where there is no key."""
    found = kernel.partitions_of(_blobs(keys.cast(pa.binary())), len(keys), partitions_count)
    numbers = pa.Array.from_buffers(pa.int32(), len(keys), [None, pa.py_buffer(found)])
    if not keys.null_count:
        return numbers
    import pyarrow.compute as pc

    return pc.if_else(keys.is_valid(), numbers, None)


_FILLS: Final[Mapping[str, Callable[[Columns, str, int], pa.Array]]] = {
    "key": lambda columns, _topic, _partition: _binary_array(columns.keys, columns.rows_count),
    "value": lambda columns, _topic, _partition: _binary_array(columns.values, columns.rows_count),
    "topic": lambda columns, topic, _partition: pa.repeat(pa.scalar(topic, pa.string()), columns.rows_count),
    "partition": lambda columns, _topic, partition: pa.repeat(
        pa.scalar(partition, pa.int32()), columns.rows_count
    ),
    "offset": lambda columns, _topic, _partition: _number_array(
        pa.int64(), columns.offsets, columns.rows_count
    ),
    "timestamp": lambda columns, _topic, _partition: _number_array(
        pa.timestamp("us", tz="UTC"), columns.timestamps_us, columns.rows_count
    ),
    "timestampType": lambda columns, _topic, _partition: _number_array(
        pa.int32(), columns.timestamp_types, columns.rows_count
    ),
    "headers": lambda columns, _topic, _partition: _headers_array(columns),
}
"""How each column comes to its array."""


def _number_array(kind: pa.DataType, data: bytearray, rows_count: int) -> pa.Array:
    return pa.Array.from_buffers(kind, rows_count, [None, pa.py_buffer(data)])


def _binary_array(blobs: Blobs, rows_count: int, kind: pa.DataType | None = None) -> pa.Array:
    validity = None if blobs.validity is None else pa.py_buffer(blobs.validity)
    buffers = [validity, pa.py_buffer(blobs.offsets), pa.py_buffer(blobs.data)]
    return pa.Array.from_buffers(kind or pa.binary(), rows_count, buffers)


def _headers_array(columns: Columns) -> pa.Array:
    """A list for each record; null where it has no headers, as Spark's Kafka source has it."""
    headers_count = columns.headers_count
    if not headers_count:
        return pa.nulls(columns.rows_count, _HEADERS)
    import pyarrow.compute as pc  # It takes as long to load as all the rest: only who needs it waits.

    entries = pa.StructArray.from_arrays(
        [
            _names_array(columns.header_names, headers_count),
            _binary_array(columns.header_values, headers_count),
        ],
        fields=list(_HEADER),
    )
    ends = _number_array(pa.int32(), columns.header_ends, columns.rows_count + 1)
    is_empty = pc.equal(ends[1:], ends[:-1])
    return pa.ListArray.from_arrays(ends, entries, type=_HEADERS, mask=is_empty)


def _names_array(names: Blobs, headers_count: int) -> pa.Array:
    array = _binary_array(names, headers_count, pa.string())
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        # Kafka allows any bytes, Arrow's strings do not: as in Java, what is not UTF-8 is shown as U+FFFD.
        raw = _binary_array(names, headers_count).to_pylist()
        return pa.array([name.decode("utf-8", "replace") for name in raw], pa.string())
    return array


def _row_columns(rows: pa.RecordBatch, timestamp_ms: int) -> RowColumns:
    names, values, header_ends = _NO_BLOBS, _NO_BLOBS, _empty_lists(rows.num_rows)
    if "headers" in rows.schema.names:
        headers = _cast(rows, "headers", _HEADERS)
        entries = headers.values
        if entries.null_count:
            raise EncodeError("a header that is null has no place in a record")
        names, values = _blobs(entries.field("key")), _blobs(entries.field("value"))
        header_ends = _blobs(headers)
    return RowColumns(
        keys=_blobs(_cast(rows, "key", pa.binary())),
        values=_blobs(_cast(rows, "value", pa.binary())),
        header_ends=header_ends,
        header_names=names,
        header_values=values,
        timestamps=_timestamps(rows, timestamp_ms),
    )


def _cast(rows: pa.RecordBatch, name: str, kind: pa.DataType) -> pa.Array:
    if name not in rows.schema.names:
        return pa.nulls(rows.num_rows, kind)
    try:
        return rows.column(name).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise EncodeError(f"column {name} is {rows.schema.field(name).type}, which is not {kind}") from error


def _empty_lists(rows_count: int) -> Blobs:
    return Blobs(None, bytes(4 * (rows_count + 1)), b"")


def _blobs(array: pa.Array) -> Blobs:
    """The buffers of a binary or list array; entries of a list are counted by the kernel, not copied here."""
    validity, offsets, *data = array.buffers()
    is_binary = pa.types.is_binary(array.type) or pa.types.is_string(array.type)
    return Blobs(
        validity=None if validity is None else validity.to_pybytes(),
        # Arrow leaves the offsets of an empty array out.
        offsets=bytes(4) if offsets is None or not offsets.size else offsets.to_pybytes(),
        data=data[0].to_pybytes() if is_binary and data[0] is not None else b"",
        first=array.offset,
    )


def _timestamps(rows: pa.RecordBatch, timestamp_ms: int) -> bytes:
    rows_count: int = rows.num_rows
    if "timestamp" not in rows.schema.names:
        return timestamp_ms.to_bytes(8, "little", signed=True) * rows_count
    import pyarrow.compute as pc

    column = rows.column("timestamp")
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms", tz=column.type.tz), safe=False)
    try:
        milliseconds = pc.fill_null(column.cast(pa.int64()), timestamp_ms)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise EncodeError(f"column timestamp is {column.type}, which is not a time") from error
    first = 8 * milliseconds.offset
    data: bytes = milliseconds.buffers()[1].to_pybytes()
    return data[first : first + 8 * rows_count]
