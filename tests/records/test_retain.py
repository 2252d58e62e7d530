"""What compaction leaves of a batch. The last sequence of a producer must survive it (R13)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.arbitrary import COMPRESSIONS, RECORD_LISTS
from trivium.records.batch import (
    HEADER_BYTES,
    TimestampType,
    build_batch,
    check_batch,
    iter_records,
    retain,
    stamp_append_time,
)
from trivium.records.compression import Compression
from trivium.records.record import Record

pytestmark = pytest.mark.usefixtures("kernel")

NOW = 1_750_000_000_000
HORIZON = NOW + 86_400_000
RECORDS = [Record(offset, NOW + offset, b"key-%d" % offset, b"value", (("h", b"1"),)) for offset in range(5)]


@given(RECORD_LISTS, COMPRESSIONS, st.data())
def test_retain_with_any_choice_keeps_those_records_as_they_were(
    records: list[Record], compression: Compression, data: st.DataObject
) -> None:
    keep = bytes(data.draw(st.lists(st.booleans(), min_size=len(records), max_size=len(records))))
    horizon = data.draw(st.none() | st.just(HORIZON))
    batch = build_batch(
        records,
        base_offset=100,
        compression=compression,
        leader_epoch=4,
        producer_id=9,
        producer_epoch=2,
        base_sequence=50,
    )
    before, after = check_batch(batch), check_batch(kept := retain(batch, keep, delete_horizon_ms=horizon))
    expected = [
        record._replace(offset=100 + record.offset)
        for record, stays in zip(records, keep, strict=True)
        if stays
    ]
    assert list(iter_records(kept)) == expected
    unchanged = ("base_offset", "last_offset_delta", "leader_epoch", "producer_id", "producer_epoch")
    for field in (*unchanged, "base_sequence"):
        assert getattr(after, field) == getattr(before, field), field
    assert after.records_count == len(expected)
    assert after.has_delete_horizon == (horizon is not None and bool(expected))


def test_retain_with_all_kept_gives_the_very_bytes() -> None:
    batch = build_batch(RECORDS, compression=Compression.ZSTD)
    assert retain(b"?" + batch + b"?", b"\x01" * 5, position=1) == batch


def test_retain_with_none_kept_leaves_the_bare_header() -> None:
    batch = build_batch(RECORDS, base_offset=7, compression=Compression.GZIP, producer_id=3, base_sequence=1)
    bare = retain(batch, bytes(5))
    header = check_batch(bare)
    assert len(bare) == HEADER_BYTES
    assert (header.records_count, header.base_offset, header.last_offset) == (0, 7, 11)
    assert (header.base_timestamp, header.max_timestamp) == (-1, NOW + 4)
    assert header.compression is Compression.NONE
    assert list(iter_records(bare)) == []


def test_retain_with_a_horizon_sets_it_once() -> None:
    batch = build_batch(RECORDS)
    first = retain(batch, b"\x01" * 5, delete_horizon_ms=HORIZON)
    assert check_batch(first).base_timestamp == HORIZON
    second = retain(first, b"\x01\x00\x01\x01\x01", delete_horizon_ms=HORIZON + 1)
    assert check_batch(second).base_timestamp == HORIZON
    assert list(iter_records(second)) == [RECORDS[0], *RECORDS[2:]]


def test_retain_of_log_append_time_keeps_the_time() -> None:
    batch = bytearray(build_batch(RECORDS, compression=Compression.LZ4))
    stamp_append_time(batch, 0, NOW + 1_000)
    kept = retain(batch, b"\x00\x01\x00\x00\x00")
    assert check_batch(kept).timestamp_type is TimestampType.LOG_APPEND_TIME
    assert [record.timestamp for record in iter_records(kept)] == [NOW + 1_000]


def test_retain_takes_times_of_what_is_kept() -> None:
    header = check_batch(retain(build_batch(RECORDS), b"\x00\x01\x01\x00\x00"))
    assert (header.base_timestamp, header.max_timestamp) == (NOW + 1, NOW + 2)


@pytest.mark.parametrize("keep", [b"", b"\x01" * 4, b"\x01" * 6])
def test_retain_with_a_wrong_number_of_decisions_is_a_value_error(keep: bytes) -> None:
    with pytest.raises(ValueError, match="decisions"):
        retain(build_batch(RECORDS), keep)
