"""What may be wrong with a batch: each thing has its fault, and the log stays as it was."""

import struct
from typing import Any

import pytest

from tests.core.batches import batch, produce, writing_world
from tests.core.fakes import NOW_MS, World
from trivium.core.batch_checks import RECORD_ERRORS_MAX
from trivium.core.faults import Fault
from trivium.records.batch import (
    HEADER_BYTES,
    TimestampType,
    build_batch,
    check_batch,
    seal,
    stamp_max_timestamp,
)
from trivium.records.compression import Compression
from trivium.records.record import Record

HOUR_MS = 3_600_000


def refused(world: World, records: bytes | None, fault: Fault, topic: str = "t") -> str:
    """The message of the refusal; nothing was written."""
    before = world.log(topic).log_end_offset
    result = produce(world, records, topic=topic)
    assert result.fault is fault
    assert (result.base_offset, world.log(topic).log_end_offset) == (-1, before)
    return str(result.message)


@pytest.mark.parametrize("records", [None, b""])
def test_produce_of_nothing_is_refused(records: bytes | None) -> None:
    refused(writing_world(), records, Fault.INVALID_RECORD)


@pytest.mark.parametrize("at", [16, 17, 21, 30, 45, 60, HEADER_BYTES, HEADER_BYTES + 5])
def test_batch_with_a_flipped_bit_is_corrupt(at: int) -> None:
    """R6: a checksum before every append."""
    records = bytearray(batch(b"some value"))
    records[at] ^= 1
    refused(writing_world(), bytes(records), Fault.CORRUPT_MESSAGE)


@pytest.mark.parametrize("length", [1, 12, HEADER_BYTES - 1, HEADER_BYTES, HEADER_BYTES + 3])
def test_batch_that_is_cut_off_is_corrupt(length: int) -> None:
    refused(writing_world(), batch(b"some value")[:length], Fault.CORRUPT_MESSAGE)


def test_batch_with_bytes_behind_it_is_corrupt() -> None:
    refused(writing_world(), batch(b"a") + b"\x00", Fault.CORRUPT_MESSAGE)


@pytest.mark.parametrize("producer", [{}, {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}])
def test_batch_of_a_transaction_is_refused_if_the_request_names_none(producer: dict[str, Any]) -> None:
    """With a producer or without one: nobody could ever end such a transaction."""
    world = writing_world()
    records = batch(b"a", transactional=True, **producer)
    refused(world, records, Fault.NOT_AUTHORIZED_TRANSACTIONAL_ID)
    assert produce(world, records).log_start_offset == -1


def test_control_batch_of_a_client_is_refused() -> None:
    refused(writing_world(), batch(b"a", control=True), Fault.INVALID_RECORD)


def test_batch_that_claims_the_time_of_appending_is_refused() -> None:
    records = batch(b"a", timestamp_type=TimestampType.LOG_APPEND_TIME)
    refused(writing_world(), records, Fault.INVALID_TIMESTAMP)


def test_batch_that_is_numbered_is_refused() -> None:
    refused(writing_world(), batch(b"a", base_offset=5), Fault.INVALID_RECORD)


def test_batch_with_fewer_records_than_offsets_is_refused() -> None:
    """Only compaction may leave gaps."""
    whole = batch(b"a", b"b")
    header = check_batch(whole)
    gaps = seal(header._replace(last_offset_delta=7), whole[HEADER_BYTES:], Compression.NONE)
    assert "2 records spans 8" in refused(writing_world(), gaps, Fault.INVALID_RECORD)


def test_batch_with_a_producer_and_no_sequence_is_refused() -> None:
    refused(writing_world(), batch(b"a", producer_id=7, producer_epoch=0), Fault.INVALID_RECORD)


# -- single records ------------------------------------------------------------------------------


def test_records_without_a_key_are_named_on_a_compacted_topic() -> None:
    world = writing_world()
    world.create_topic("c", cleanup_policy="compact")
    records = build_batch([Record(n, NOW_MS, None if n in (1, 3) else b"k", b"v") for n in range(5)])
    result = produce(world, records, topic="c")
    assert result.fault is Fault.INVALID_RECORD
    assert [error.record_index for error in result.record_errors] == [1, 3]
    assert result.log_start_offset == 0
    assert world.log("c").log_end_offset == 0


def test_records_with_keys_and_tombstones_are_taken_on_a_compacted_topic() -> None:
    world = writing_world()
    world.create_topic("c", cleanup_policy="compact,delete")
    assert produce(world, batch(b"a", None), topic="c").fault is None


def test_records_without_a_key_are_taken_elsewhere() -> None:
    assert produce(writing_world(), batch(b"a", key=None)).fault is None


def test_record_errors_are_bounded() -> None:
    world = writing_world()
    world.create_topic("c", cleanup_policy="compact")
    result = produce(world, batch(*[b"v"] * (RECORD_ERRORS_MAX + 50), key=None), topic="c")
    assert len(result.record_errors) == RECORD_ERRORS_MAX
    assert str(RECORD_ERRORS_MAX + 50) in str(result.message)


def test_record_too_far_ahead_is_named() -> None:
    """message.timestamp.after.max.ms is an hour unless somebody says otherwise."""
    world = writing_world()
    assert produce(world, batch(b"a", timestamp=NOW_MS + HOUR_MS)).fault is None
    result = produce(world, batch(b"a", b"b", timestamp=NOW_MS + HOUR_MS))
    assert result.fault is Fault.INVALID_TIMESTAMP
    assert [error.record_index for error in result.record_errors] == [1]


def test_record_too_old_is_named_though_the_first_is_young() -> None:
    world = writing_world()
    world.create_topic("fresh", message_timestamp_before_max_ms="1000")
    records = build_batch([Record(0, NOW_MS, b"k", b"v"), Record(1, NOW_MS - 1_001, b"k", b"v")])
    result = produce(world, records, topic="fresh")
    assert result.fault is Fault.INVALID_TIMESTAMP
    assert [error.record_index for error in result.record_errors] == [1]
    assert produce(world, batch(b"v", timestamp=NOW_MS - 1_000), topic="fresh").fault is None


def test_record_without_a_time_is_never_too_old() -> None:
    world = writing_world()
    world.create_topic("fresh", message_timestamp_before_max_ms="1000")
    records = build_batch([Record(0, -1, b"k", b"v")])
    assert produce(world, records, topic="fresh").fault is None


@pytest.mark.parametrize("compression", [Compression.NONE, Compression.GZIP])
@pytest.mark.parametrize("claimed_ms", [NOW_MS + HOUR_MS + 1, 2**63 - 1, 1])
def test_latest_time_that_no_record_has_is_put_right(claimed_ms: int, compression: Compression) -> None:
    """A time that never comes would keep its segment for ever and hide all later records from lookups."""
    world = writing_world()
    records = bytearray(
        build_batch(
            [Record(0, NOW_MS, b"k", b"v"), Record(1, NOW_MS + 7, b"k", b"w"), Record(2, NOW_MS, b"k", b"x")],
            compression=compression,
        )
    )
    stamp_max_timestamp(records, 0, claimed_ms)
    assert produce(world, bytes(records)).fault is None
    [stored] = world.log("t").read(0, 1 << 20, committed=False).runs
    assert check_batch(stored).max_timestamp == NOW_MS + 7


def test_batch_that_begins_at_a_time_that_cannot_be_is_refused() -> None:
    records = batch(b"a", b"b")
    header = check_batch(records)._replace(base_timestamp=2**63 - 1)
    refused(writing_world(), seal(header, records[HEADER_BYTES:], Compression.NONE), Fault.INVALID_RECORD)


def test_batch_of_times_before_all_times_has_no_latest_one() -> None:
    world = writing_world()
    records = batch(b"a", b"b", timestamp=NOW_MS)
    header = check_batch(records)._replace(base_timestamp=-5)
    assert produce(world, seal(header, records[HEADER_BYTES:], Compression.NONE)).fault is None
    [stored] = world.log("t").read(0, 1 << 20, committed=False).runs
    assert check_batch(stored).max_timestamp == -1


def test_times_do_not_matter_where_the_broker_stamps_them() -> None:
    world = writing_world()
    world.create_topic("stamped", message_timestamp_type="LogAppendTime")
    assert produce(world, batch(b"v", timestamp=NOW_MS * 2), topic="stamped").fault is None


def test_records_that_are_not_what_the_header_says_are_refused_where_they_are_looked_at() -> None:
    world = writing_world()
    world.create_topic("c", cleanup_policy="compact")
    header = check_batch(batch(b"a", b"b"))
    garbage = seal(header, struct.pack(">20B", *range(200, 220)), Compression.NONE)
    refused(world, garbage, Fault.INVALID_RECORD, topic="c")


def test_bomb_is_refused_where_it_would_be_unpacked() -> None:
    """S4: decompression is bounded."""
    world = writing_world()
    world.create_topic("c", cleanup_policy="compact")
    header = check_batch(batch(b"a"))
    bomb = seal(header, bytes(101 << 20), Compression.ZSTD)
    assert len(bomb) < 100_000
    refused(world, bomb, Fault.INVALID_RECORD, topic="c")


def test_idempotent_producer_may_not_send_two_batches_at_once() -> None:
    """The second could not be judged before the first lies in the log."""
    sent = b"".join(
        batch(b"v", producer_id=1, producer_epoch=0, base_sequence=sequence) for sequence in (0, 1)
    )
    refused(writing_world(), sent, Fault.INVALID_RECORD)
