"""Loops over the records of one section: what reading, searching, checking and compacting a batch come to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trivium.records.kernel import cython
from trivium.records.kernel.cursor import Cursor
from trivium.records.kernel.integers import INT64_MAX
from trivium.records.kernel.named_tuples import field
from trivium.records.kernel.timestamps import difference
from trivium.records.kernel.writer import VARINT_BYTES_MAX, Writer, varint_bytes
from trivium.records.record import Header, Packed, Record, Section
from trivium.wire.errors import DecodeError

NO_HEADERS = bytearray()


def parse(section: Section) -> Iterator[Record]:
    """The records of a section, made one at a time: 100 MB of the smallest ones would fill gigabytes."""
    return Cursor(section)


def build(records: Sequence[Record], base_timestamp: int | None) -> Packed:
    """These records, numbered from offset delta 0 on; without a base timestamp the first one's is taken."""
    writer: Writer = Writer(64 * len(records))
    has_base: cython.bint = base_timestamp is not None
    base: cython.longlong = -1 if base_timestamp is None else base_timestamp
    latest: cython.longlong = -1
    offset_delta: cython.longlong = 0
    timestamp: cython.longlong
    for record in records:
        timestamp = field(record, 1)
        latest = max(latest, timestamp)
        if not has_base:
            base, has_base = timestamp, True
        key = field(record, 2)
        value = field(record, 3)
        headers: tuple[Header, ...] = field(record, 4)
        key_bytes: bytes = b"" if key is None else key
        value_bytes: bytes = b"" if value is None else value
        named: bytearray = encode_headers(headers) if headers else NO_HEADERS
        writer.record(
            difference(timestamp, base),
            offset_delta,
            key_bytes,
            0,
            -1 if key is None else len(key_bytes),
            value_bytes,
            0,
            -1 if value is None else len(value_bytes),
            len(headers),
            named,
            len(named),
        )
        offset_delta += 1
    return Packed(writer.taken(), offset_delta, base, latest)


@cython.cfunc
def encode_headers(headers: Iterable[Header]) -> bytearray:
    writer: Writer = Writer(64)
    for name, value in headers:
        name_bytes: bytes = name.encode("utf-8", "surrogateescape")
        value_bytes: bytes = b"" if value is None else value
        writer.header(
            name_bytes, 0, len(name_bytes), value_bytes, 0, -1 if value is None else len(value_bytes)
        )
    return writer.taken()


def scan_keys(section: Section) -> Iterator[tuple[int, bytes | None, bool]]:
    """Offset, key, and whether there is a value, of every record: what compaction decides by."""
    cursor: Cursor = Cursor(section)
    while cursor.advance():
        cursor.skip_headers()
        yield cursor.base_offset + cursor.offset_delta, cursor.key(), cursor.value_length >= 0


def find_timestamp(section: Section, timestamp: int) -> tuple[int, int] | None:
    """Offset and timestamp of the first record that is not older than ``timestamp``."""
    cursor: Cursor = Cursor(section)
    wanted: cython.longlong = timestamp
    while cursor.advance():
        if cursor.timestamp >= wanted:
            return cursor.base_offset + cursor.offset_delta, cursor.timestamp
        cursor.skip_headers()
    return None


def find_latest(section: Section) -> tuple[int, int] | None:
    """Offset and timestamp of the first of the youngest records."""
    cursor: Cursor = Cursor(section)
    offset_delta: cython.longlong = -1
    latest: cython.longlong = -INT64_MAX
    while cursor.advance():
        if offset_delta < 0 or cursor.timestamp > latest:
            offset_delta, latest = cursor.offset_delta, cursor.timestamp
        cursor.skip_headers()
    if offset_delta < 0:
        return None
    return cursor.base_offset + offset_delta, latest


def check(section: Section, keys_required: bool) -> int:
    """The youngest timestamp of a batch as a producer must send it: no offset left out, nothing left over."""
    cursor: Cursor = Cursor(section)
    latest: cython.longlong = -1
    keyed: cython.bint = keys_required
    # Deltas rise and stay within the last one: as many records as offsets can only be 0, 1, 2, ...
    if cursor.remaining != cursor.last_offset_delta + 1:
        raise DecodeError(f"{cursor.remaining} records for {cursor.last_offset_delta + 1} offsets")
    while cursor.advance():
        if keyed and cursor.key_length < 0:
            raise DecodeError(f"record {cursor.offset_delta} has no key, and the topic is compacted by key")
        cursor.skip_headers()
        latest = max(latest, cursor.timestamp)
    return latest


def retain(section: Section, keep: bytes, base_timestamp: int | None) -> Packed:
    """The records whose byte in ``keep`` is not zero, on another base timestamp; offset deltas stay.

    Without a base the first kept record's timestamp becomes the base, as in a batch made anew.
    """
    cursor: Cursor = Cursor(section)
    mask: cython.p_const_uchar = keep
    writer: Writer = Writer(len(section.data))
    has_base: cython.bint = base_timestamp is not None
    base: cython.longlong = -1 if base_timestamp is None else base_timestamp
    latest: cython.longlong = -1
    index: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    delta: cython.longlong
    tail_bytes: cython.Py_ssize_t
    if len(keep) != cursor.remaining:
        raise ValueError(f"{len(keep)} decisions for {cursor.remaining} records")
    while cursor.advance():
        cursor.skip_headers()
        index += 1
        if not mask[index - 1]:
            continue
        if not has_base:
            base, has_base = cursor.timestamp, True
        delta = difference(cursor.timestamp, base)
        tail_bytes = cursor.limit - cursor.after_timestamp_at
        writer.reserve(2 * VARINT_BYTES_MAX + 1 + tail_bytes)
        writer.varint(1 + varint_bytes(delta) + tail_bytes)
        writer.copy(cursor.p, cursor.body_at, 1)
        writer.varint(delta)
        writer.copy(cursor.p, cursor.after_timestamp_at, tail_bytes)
        latest = max(latest, cursor.timestamp)
        kept += 1
    return Packed(writer.taken(), kept, base, latest)
