"""v2 batches: mission 001.23, 001.24, 001.31, 003.15-003.17; promises S1, S2."""

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.arbitrary import BATCHES, COMPRESSIONS, RECORD_LISTS
from trivium.records.batch import (
    HEADER_BYTES,
    BatchHeader,
    TimestampType,
    build_batch,
    check_batch,
    check_batches,
    find_latest,
    find_timestamp,
    iter_batches,
    iter_records,
    read_header,
    scan_keys,
    seal,
    stamp,
    stamp_all,
    stamp_append_time,
    validate_records,
)
from trivium.records.compression import Compression
from trivium.records.crc import crc32c
from trivium.records.record import Record
from trivium.wire.errors import DecodeError, EncodeError
from trivium.wire.limits import BATCH_BYTES_MAX

pytestmark = pytest.mark.usefixtures("kernel")

NOW = 1_750_000_000_000
RECORDS = [
    Record(0, NOW, b"key", b"value", (("trace", b"\x01"), ("empty", None))),
    Record(1, NOW + 5, None, b""),
    Record(2, NOW - 5, b"", None),
]


def reseal(batch: bytearray, compression: int) -> bytes:
    """The batch with another codec in its attributes, around the same bytes, and a right checksum."""
    batch[22] |= compression
    batch[17:21] = crc32c(batch, 21).to_bytes(4, "big")
    return bytes(batch)


def with_field(batch: bytes, position: int, layout: str, value: int) -> bytes:
    """The batch with one header field changed and, so that only this counts, the checksum made to agree."""
    changed = bytearray(batch)
    struct.pack_into(layout, changed, position, value)
    header = BatchHeader._make(struct.unpack_from(">qiibIhiqqqhii", changed))
    return seal(header, bytes(changed[HEADER_BYTES:]), Compression.NONE)


def test_header_of_a_built_batch_has_every_field() -> None:
    batch = build_batch(
        RECORDS,
        base_offset=40,
        leader_epoch=3,
        producer_id=7,
        producer_epoch=2,
        base_sequence=100,
        transactional=True,
    )
    header = check_batch(batch)
    assert (header.base_offset, header.last_offset, header.offset_end) == (40, 42, 43)
    assert (header.leader_epoch, header.magic, header.records_count) == (3, 2, 3)
    assert (header.base_timestamp, header.max_timestamp) == (NOW, NOW + 5)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 2, 100)
    assert header.size_bytes == len(batch)
    assert header.compression is Compression.NONE
    assert header.timestamp_type is TimestampType.CREATE_TIME
    assert header.is_transactional
    assert not header.is_control
    assert not header.has_delete_horizon


def test_header_bytes_of_a_known_batch_are_as_the_format_says() -> None:
    """Mission 003.15: the order and width of the fields, spelled out once."""
    batch = build_batch([Record(0, 0, None, b"\xaa")])
    assert batch[:17].hex() == "0000000000000000" + "00000039" + "ffffffff" + "02"
    assert batch[21:61].hex() == (
        "0000" + "00000000" + "00" * 16 + "ff" * 8 + "ffff" + "ffffffff" + "00000001"
    )
    # length 7, attributes 0, timestamp delta 0, offset delta 0, key null, value 1 byte, no headers
    assert batch[61:].hex() == "0e" + "00" + "00" + "00" + "01" + "02aa" + "00"


@given(RECORD_LISTS, COMPRESSIONS, st.integers(0, 2**40))
def test_records_after_a_round_trip_are_the_same(
    records: list[Record], compression: Compression, base_offset: int
) -> None:
    batch = build_batch(records, base_offset=base_offset, compression=compression)
    expected = [record._replace(offset=base_offset + record.offset) for record in records]
    assert list(iter_records(batch)) == expected
    assert validate_records(batch) == max(record.timestamp for record in records)
    assert list(scan_keys(batch)) == [
        (record.offset, record.key, record.value is not None) for record in expected
    ]


def test_records_with_log_append_time_have_the_time_of_the_batch() -> None:
    batch = bytearray(b"??" + build_batch(RECORDS, compression=Compression.GZIP))
    stamp_append_time(batch, 2, NOW + 99)
    header = check_batch(batch, 2)
    assert header.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert header.max_timestamp == NOW + 99
    assert header.compression is Compression.GZIP
    assert {record.timestamp for record in iter_records(batch, 2)} == {NOW + 99}


def test_records_with_a_delete_horizon_keep_their_times() -> None:
    """The base timestamp gives way to the horizon; the deltas are counted from there."""
    batch = build_batch(RECORDS, delete_horizon_ms=NOW + 86_400_000)
    header = check_batch(batch)
    assert header.has_delete_horizon
    assert header.base_timestamp == NOW + 86_400_000
    assert list(iter_records(batch)) == RECORDS


def test_header_name_that_no_bytes_can_stand_for_is_refused() -> None:
    """Half of a surrogate pair is neither text nor an escaped byte."""
    with pytest.raises(EncodeError, match="header name"):
        build_batch([Record(0, 0, None, None, (("\ud800", b""),))])


def test_stamp_changes_offset_and_epoch_and_nothing_else() -> None:
    batch = build_batch(RECORDS)
    stamped = bytearray(b"?" + batch)
    stamp(memoryview(stamped), 1, 1_000, 9)
    header = check_batch(stamped, 1)
    assert (header.base_offset, header.leader_epoch) == (1_000, 9)
    assert stamped[:1] == b"?"
    assert stamped[1 + 8 : 1 + 12] == batch[8:12]
    assert stamped[1 + 16 :] == batch[16:]


def test_stamp_all_numbers_the_batches_from_the_offset_on() -> None:
    three = build_batch(RECORDS)
    data = bytearray(three + build_batch(RECORDS[:1]) + three)
    stamped, offset_end, latest = stamp_all(data, check_batches(data), 1 << 40, 9)
    assert stamped == check_batches(data)
    assert [header.base_offset for _, header in stamped] == [1 << 40, (1 << 40) + 3, (1 << 40) + 4]
    assert {header.leader_epoch for _, header in stamped} == {9}
    assert offset_end == (1 << 40) + 7
    assert latest == NOW + 5


def test_stamp_all_past_the_last_offset_is_refused() -> None:
    data = bytearray(build_batch(RECORDS))
    with pytest.raises(EncodeError, match="cannot begin at offset"):
        stamp_all(data, check_batches(data), 2**63 - 3, 0)
    assert data == build_batch(RECORDS)


def test_iter_batches_over_three_gives_each_with_its_position() -> None:
    batches = [build_batch(RECORDS[:count], base_offset=count) for count in (1, 2, 3)]
    found = list(iter_batches(b"".join(batches)))
    assert [position for position, _ in found] == [0, len(batches[0]), len(batches[0] + batches[1])]
    assert [header.records_count for _, header in found] == [1, 2, 3]


@pytest.mark.parametrize("extra", [b"\x00", b"\x00" * 60, b"\x00" * 100])
def test_iter_batches_with_a_tail_that_is_no_batch_is_refused(extra: bytes) -> None:
    with pytest.raises(DecodeError):
        list(iter_batches(build_batch(RECORDS) + extra))


def test_check_batch_with_any_bit_flipped_after_byte_17_is_refused() -> None:
    """The checksum's share of R6: all that it covers, and itself."""
    batch = build_batch(RECORDS, producer_id=5, producer_epoch=1, base_sequence=3)
    for bit in range(8 * 17, 8 * len(batch)):
        damaged = bytearray(batch)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(DecodeError):
            check_batch(damaged)


@pytest.mark.parametrize("value_bytes", [440, 460, 500, 60_000, 140_000])
@pytest.mark.parametrize("lead", [0, 7])
def test_check_batch_of_any_size_covers_its_last_byte_and_none_behind_it(value_bytes: int, lead: int) -> None:
    """The checksum is made in one piece or in several, of a copy or where the bytes lie: S1."""
    batch = build_batch([Record(0, NOW, None, b"v" * value_bytes)])
    around = bytearray(lead) + batch + b"behind"
    assert check_batch(around, lead) == check_batch(bytes(around), lead) == read_header(batch)
    around[lead + len(batch) - 1] ^= 1
    with pytest.raises(DecodeError, match="checksum"):
        check_batch(memoryview(around), lead)


def test_check_batch_with_a_bit_flipped_in_length_or_magic_is_refused() -> None:
    """The checksum leaves the first 17 bytes out; what structure can find there is found."""
    batch = build_batch(RECORDS)
    for bit in [*range(8 * 8, 8 * 12), *range(8 * 16, 8 * 17)]:
        damaged = bytearray(batch)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(DecodeError):
            check_batch(damaged)


def test_check_batch_cut_anywhere_is_refused() -> None:
    batch = build_batch(RECORDS)
    for size_bytes in range(len(batch)):
        with pytest.raises(DecodeError):
            check_batch(batch[:size_bytes])


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 48, BATCH_BYTES_MAX - 11, 2**31 - 1])
def test_read_header_with_an_impossible_length_is_refused(length: int) -> None:
    """S2: a length is compared, never reserved."""
    batch = bytearray(build_batch(RECORDS))
    struct.pack_into(">i", batch, 8, length)
    with pytest.raises(DecodeError, match="length"):
        read_header(batch)


def test_read_header_without_the_records_is_enough() -> None:
    batch = build_batch(RECORDS)
    assert read_header(batch[:HEADER_BYTES]) == check_batch(batch)


@pytest.mark.parametrize(
    ("position", "layout", "value"),
    [
        (0, ">q", -1),
        (0, ">q", 2**63 - 2),
        (23, ">i", -1),
        (23, ">i", 1),
        (57, ">i", -1),
        (57, ">i", 0),
        (57, ">i", 4),
        (57, ">i", 2**31 - 1),
    ],
)
def test_check_batch_with_counts_that_cannot_be_is_refused(position: int, layout: str, value: int) -> None:
    batch = with_field(build_batch(RECORDS), position, layout, value)
    with pytest.raises(DecodeError):
        check_batch(batch)


def test_check_batch_with_an_unknown_codec_is_refused() -> None:
    header = check_batch(build_batch(RECORDS))
    for code in (5, 6, 7):
        batch = reseal(bytearray(seal(header, b"x" * 100, Compression.NONE)), code)
        with pytest.raises(DecodeError, match="not known"):
            check_batch(batch)


def test_build_batch_without_records_is_an_encode_error() -> None:
    with pytest.raises(EncodeError):
        build_batch([])


@pytest.mark.parametrize("field", ["base_offset", "producer_id", "producer_epoch", "base_sequence"])
def test_build_batch_with_a_number_too_large_is_an_encode_error(field: str) -> None:
    fields: dict[str, Any] = {field: 2**63}
    with pytest.raises(EncodeError):
        build_batch(RECORDS, **fields)


def test_build_batch_with_timestamps_too_far_apart_is_an_encode_error() -> None:
    records = [Record(0, -(2**62) * 2 + 1, None, None), Record(1, 2**63 - 1, None, None)]
    with pytest.raises(EncodeError, match="apart"):
        build_batch(records)


@given(BATCHES, st.data())
def test_records_of_a_resealed_damaged_batch_are_read_or_refused(batch: bytes, data: st.DataObject) -> None:
    """S1: with a right checksum around wrong bytes the kernel itself must hold."""
    header = check_batch(batch)
    records = bytearray(batch[HEADER_BYTES:])
    for _ in range(data.draw(st.integers(1, 3))):
        records[data.draw(st.integers(0, len(records) - 1))] = data.draw(st.integers(0, 255))
    resealed = reseal(bytearray(seal(header, bytes(records), Compression.NONE)), header.compression)
    try:
        found = list(iter_records(resealed, decompressed_max=1_000_000))
    except DecodeError:
        return
    assert len(found) == header.records_count


@given(st.binary(max_size=200))
def test_check_batch_of_any_bytes_raises_decode_error_only(garbage: bytes) -> None:
    for data in (garbage, garbage[:16] + b"\x02" + garbage[17:]):
        try:
            check_batch(data)
        except DecodeError:
            continue


def test_validate_records_without_a_key_is_refused_where_keys_are_required() -> None:
    keyed = [Record(0, NOW, b"a", b"1"), Record(1, NOW, b"", b"2")]
    assert validate_records(build_batch(keyed), keys_required=True) == NOW
    with pytest.raises(DecodeError, match="no key"):
        validate_records(build_batch(RECORDS), keys_required=True)


def test_validate_records_with_an_offset_left_out_is_refused() -> None:
    """A producer numbers its records without gaps; gaps come from compaction only."""
    batch = build_batch(RECORDS)
    widened = with_field(batch, 23, ">i", 5)
    assert len(list(iter_records(widened))) == 3
    with pytest.raises(DecodeError):
        validate_records(widened)


def test_find_timestamp_gives_the_first_record_not_older() -> None:
    batch = build_batch(RECORDS, base_offset=10, compression=Compression.LZ4)
    assert find_timestamp(batch, timestamp=NOW - 100) == (10, NOW)
    assert find_timestamp(batch, timestamp=NOW + 1) == (11, NOW + 5)
    assert find_timestamp(batch, timestamp=NOW + 5) == (11, NOW + 5)
    assert find_timestamp(batch, timestamp=NOW + 6) is None


def test_find_latest_among_equals_gives_the_first() -> None:
    records = [*RECORDS, Record(3, NOW + 5, None, None)]
    assert find_latest(build_batch(records, base_offset=10)) == (11, NOW + 5)
