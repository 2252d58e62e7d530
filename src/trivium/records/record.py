"""The values that go into the kernel and come out of it: records, sections of a batch, Arrow's buffers.

They live apart from the kernel so that its compiled and its interpreted form share them.
"""

from typing import NamedTuple

Header = tuple[str, bytes | None]

RECORD_BYTES_MIN = 7
"""The emptiest record of a v2 batch: seven fields of one byte each."""


class Record(NamedTuple):
    """One record. Header names that are not UTF-8 are kept by ``surrogateescape``; nothing is lost."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


class Section(NamedTuple):
    """The records of one batch, decompressed, with what the batch header says about all of them."""

    data: bytes
    records_count: int
    base_offset: int
    last_offset_delta: int
    base_timestamp: int
    append_timestamp: int | None
    """The timestamp of every record where the broker's clock counts, not the producer's."""


class Packed(NamedTuple):
    """Records as bytes, with what a batch header will say about them. -1 is "no timestamp"."""

    data: bytearray
    records_count: int
    base_timestamp: int
    max_timestamp: int


class ValuesWanted(NamedTuple):
    """What may be taken of the values of records, besides the first, which is taken in any case."""

    offset_first: int
    payload_bytes_max: int
    answer_bytes_max: int
    """Of an answer in which each record takes ``record_bytes`` and each byte of its value ``byte_bytes``."""
    record_bytes: int
    byte_bytes: int
    takes_gaps: bool
    """Whether offsets may be left out between two that are taken."""


class TakenValues(NamedTuple):
    records: list[tuple[int, bytes]]
    """Offset and value; for null that is nothing."""
    payload_bytes: int
    offset_next: int
    """Where to read on."""


class Blobs(NamedTuple):
    """Bytes that vary in length, as Arrow lays them out: entry ``i`` is ``data[offsets[i]:offsets[i + 1]]``.

    ``validity`` has a bit for every entry, ``None`` means that none is null. ``first`` is the entry that
    counts as number 0: Arrow cuts arrays without moving them.
    """

    validity: bytes | bytearray | None
    offsets: bytes | bytearray
    data: bytes | bytearray
    first: int = 0


class Columns(NamedTuple):
    """Records as Arrow buffers. Row ``i`` has the headers ``header_ends[i]`` up to ``header_ends[i + 1]``."""

    rows_count: int
    headers_count: int
    offsets: bytearray
    timestamps_us: bytearray
    timestamp_types: bytearray
    keys: Blobs
    values: Blobs
    header_ends: bytearray
    header_names: Blobs
    header_values: Blobs


class RowColumns(NamedTuple):
    """Rows on their way into batches. ``timestamps``: one int64 a row, in milliseconds."""

    keys: Blobs
    values: Blobs
    header_ends: Blobs
    header_names: Blobs
    header_values: Blobs
    timestamps: bytes
