"""Message sets v0 and v1, held against kafka-python; promises S1, S2, S4."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record import MemoryRecords
from kafka.record.default_records import DefaultRecordBatchBuilder
from kafka.record.legacy_records import LegacyRecordBatchBuilder

from tests.records.arbitrary import RECORD_LISTS
from trivium.records.batch import (
    TimestampType,
    build_batch,
    check_batch,
    iter_records,
    stamp_append_time,
    validate_records,
)
from trivium.records.compression import Compression, break_lz4_descriptor, compress, decompress
from trivium.records.control import EndTxnMarker, build_end_txn
from trivium.records.legacy import (
    Message,
    build_message,
    convert_down,
    convert_up,
    iter_legacy_records,
    iter_messages,
    read_magic,
)
from trivium.records.record import Record
from trivium.wire.errors import DecodeError, EncodeError

NOW = 1_750_000_000_000
BLOBS = st.none() | st.binary(max_size=30)
PAIRS = st.lists(st.tuples(st.integers(0, 2**41), BLOBS, BLOBS), min_size=1, max_size=6)

# The library has no snappy codec of its own; Java's is covered by the golden batches.
ORACLE_CODECS = st.sampled_from([Compression.NONE, Compression.GZIP, Compression.LZ4])


def wrap(
    messages: bytes, *, offset: int, magic: int = 1, codec: Compression = Compression.GZIP, bits: int = 0
) -> bytes:
    return build_message(Message(offset, magic, codec | bits, NOW, None, compress(codec, messages)))


@given(PAIRS, ORACLE_CODECS)
def test_v1_set_of_kafka_python_is_read_as_it_was_built(
    pairs: list[tuple[int, bytes | None, bytes | None]], codec: Compression
) -> None:
    builder = LegacyRecordBatchBuilder(magic=1, compression_type=codec, batch_size=1_000_000)
    for offset, (timestamp, key, value) in enumerate(pairs):
        builder.append(offset, timestamp=timestamp, key=key, value=value)
    expected = [Record(offset, *pair) for offset, pair in enumerate(pairs)]
    assert list(iter_legacy_records(bytes(builder.build()))) == expected


@given(PAIRS, st.sampled_from([Compression.NONE, Compression.GZIP]))
def test_v0_set_of_kafka_python_is_read_as_it_was_built(
    pairs: list[tuple[int, bytes | None, bytes | None]], codec: Compression
) -> None:
    builder = LegacyRecordBatchBuilder(magic=0, compression_type=codec, batch_size=1_000_000)
    for offset, (_, key, value) in enumerate(pairs):
        builder.append(offset, timestamp=None, key=key, value=value)
    expected = [Record(offset, -1, key, value) for offset, (_, key, value) in enumerate(pairs)]
    assert list(iter_legacy_records(bytes(builder.build()))) == expected


@given(RECORD_LISTS, ORACLE_CODECS)
def test_v2_batch_of_ours_is_read_by_kafka_python(records: list[Record], codec: Compression) -> None:
    # The library refuses header names that are not UTF-8.
    named = [
        record._replace(headers=(("näme", b"1"), ("", None))[: len(record.headers)]) for record in records
    ]
    batch = build_batch(named, base_offset=5, compression=codec)
    (found,) = list(MemoryRecords(batch))
    assert found.validate_crc()
    seen = [Record(r.offset - 5, r.timestamp, r.key, r.value, tuple(r.headers)) for r in found]
    assert seen == named


@given(PAIRS, ORACLE_CODECS)
def test_v2_batch_of_kafka_python_passes_every_check(
    pairs: list[tuple[int, bytes | None, bytes | None]], codec: Compression
) -> None:
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=codec,
        is_transactional=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=1_000_000,
    )
    for offset, (timestamp, key, value) in enumerate(pairs):
        builder.append(offset, timestamp=timestamp, key=key, value=value, headers=[("h", b"1")])
    batch = bytes(builder.build())
    validate_records(batch)
    assert list(iter_records(batch)) == [
        Record(offset, *pair, (("h", b"1"),)) for offset, pair in enumerate(pairs)
    ]


@given(RECORD_LISTS, ORACLE_CODECS, st.sampled_from([0, 1]))
def test_batch_converted_down_is_read_by_kafka_python(
    records: list[Record], codec: Compression, magic: int
) -> None:
    if magic == 0 and codec is Compression.LZ4:
        codec = Compression.GZIP  # The library needs one more package for the broken hash.
    down = convert_down(build_batch(records, base_offset=40, compression=codec), magic)
    found = [record for batch in MemoryRecords(down) for record in batch]
    assert [(record.offset, record.key, record.value) for record in found] == [
        (40 + record.offset, record.key, record.value) for record in records
    ]
    if magic == 1:
        assert [record.timestamp for record in found] == [record.timestamp for record in records]


@given(
    RECORD_LISTS, st.sampled_from([Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4])
)
def test_batch_down_and_up_again_has_all_but_headers(records: list[Record], codec: Compression) -> None:
    batch = build_batch(records, base_offset=9, compression=codec)
    bare = [record._replace(headers=()) for record in records]
    for magic in (0, 1):
        expected = bare if magic == 1 else [record._replace(timestamp=-1) for record in bare]
        down = convert_down(batch, magic)
        assert read_magic(down) == magic
        up = convert_up(down)
        assert list(iter_records(up)) == expected
        assert check_batch(up).compression is codec
        validate_records(up)


def test_convert_down_of_log_append_time_keeps_time_and_type() -> None:
    for codec in (Compression.NONE, Compression.GZIP):
        batch = bytearray(
            build_batch([Record(0, 1, b"a", None), Record(1, 2, b"b", None)], compression=codec)
        )
        stamp_append_time(batch, 0, NOW)
        down = convert_down(batch, 1)
        assert {message.timestamp_type for message in iter_messages(down)} == {TimestampType.LOG_APPEND_TIME}
        assert [record.timestamp for record in iter_legacy_records(down)] == [NOW, NOW]
        assert check_batch(convert_up(down)).timestamp_type is TimestampType.LOG_APPEND_TIME


def test_convert_down_leaves_out_control_batches() -> None:
    marker = build_end_txn(EndTxnMarker(True, 0), producer_id=1, producer_epoch=0, timestamp=NOW)
    data = build_batch([Record(0, NOW, None, b"seen")])
    assert [record.value for record in iter_legacy_records(convert_down(marker + data + marker, 1))] == [
        b"seen"
    ]


def test_convert_down_starts_at_the_first_offset_where_it_can() -> None:
    """Messages stand alone when uncompressed; a wrapper is one piece."""
    records = [Record(offset, NOW, None, b"%d" % offset) for offset in range(4)]
    plain = convert_down(build_batch(records), 1, first_offset=2)
    folded = convert_down(build_batch(records, compression=Compression.GZIP), 1, first_offset=2)
    assert [record.offset for record in iter_legacy_records(plain)] == [2, 3]
    assert [record.offset for record in iter_legacy_records(folded)] == [0, 1, 2, 3]


def test_convert_down_of_zstd_is_an_encode_error() -> None:
    with pytest.raises(EncodeError, match="zstd"):
        convert_down(build_batch([Record(0, NOW, None, b"v")], compression=Compression.ZSTD), 1)


def test_lz4_wrapper_of_v0_has_the_broken_hash_and_of_v1_the_right_one() -> None:
    batch = build_batch([Record(0, NOW, None, b"v")], compression=Compression.LZ4)
    (old,), (newer,) = (list(iter_messages(convert_down(batch, magic))) for magic in (0, 1))
    assert old.value is not None
    assert newer.value is not None
    assert break_lz4_descriptor(old.value) == old.value
    assert break_lz4_descriptor(newer.value) != newer.value


def test_wrapper_offsets_of_v1_are_relative_to_the_last() -> None:
    inner = b"".join(build_message(Message(index, 1, 0, NOW, None, b"%d" % index)) for index in range(3))
    assert [record.offset for record in iter_legacy_records(wrap(inner, offset=102))] == [100, 101, 102]


def test_convert_down_to_v1_writes_relative_offsets_and_to_v0_absolute_ones() -> None:
    records = [Record(offset, NOW, None, b"%d" % offset) for offset in range(3)]
    batch = build_batch(records, base_offset=100, compression=Compression.GZIP)
    for magic, expected in ((0, [100, 101, 102]), (1, [0, 1, 2])):
        (wrapper,) = iter_messages(convert_down(batch, magic))
        assert wrapper.offset == 102
        assert wrapper.value is not None
        inner = iter_messages(decompress(Compression.GZIP, wrapper.value, 1_000))
        assert [message.offset for message in inner] == expected


def test_wrapper_offset_zero_of_librdkafka_counts_from_zero() -> None:
    inner = b"".join(build_message(Message(index, 1, 0, NOW, None, b"%d" % index)) for index in range(3))
    assert [record.offset for record in iter_legacy_records(wrap(inner, offset=0))] == [0, 1, 2]


def test_wrapper_offsets_of_v0_are_absolute() -> None:
    inner = b"".join(build_message(Message(index, 0, 0, -1, None, b"%d" % index)) for index in (100, 102))
    assert [record.offset for record in iter_legacy_records(wrap(inner, offset=102, magic=0))] == [100, 102]


def test_wrapper_with_log_append_time_gives_it_to_all() -> None:
    inner = b"".join(build_message(Message(index, 1, 0, 5, None, None)) for index in range(2))
    assert {record.timestamp for record in iter_legacy_records(wrap(inner, offset=1, bits=8))} == {NOW}
    assert {record.timestamp for record in iter_legacy_records(wrap(inner, offset=1))} == {5}


PLAIN_V1 = build_message(Message(3, 1, 0, NOW, b"k", b"v"))
REFUSED = {
    "a wrapper in a wrapper": wrap(wrap(PLAIN_V1, offset=3), offset=3),
    "v0 in v1": wrap(build_message(Message(0, 0, 0, -1, None, b"v")), offset=0),
    "an empty wrapper": wrap(b"", offset=3),
    "a wrapper without value": build_message(Message(0, 1, Compression.GZIP, NOW, None, None)),
    "a wrapper before its messages": wrap(PLAIN_V1, offset=2),
    "zstd": wrap(PLAIN_V1, offset=3, codec=Compression.ZSTD),
    "an unknown codec": build_message(Message(0, 1, 7, NOW, None, b"v")),
    "format 2": build_batch([Record(0, NOW, None, b"v")]),
    "a negative offset inside": wrap(build_message(Message(-1, 1, 0, NOW, None, b"v")), offset=3),
    "one byte too many": PLAIN_V1 + b"\x00",
}


@pytest.mark.parametrize("name", REFUSED)
def test_set_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(DecodeError):
        list(iter_legacy_records(REFUSED[name]))


def test_convert_up_of_nothing_is_refused() -> None:
    with pytest.raises(DecodeError):
        convert_up(b"")


def test_message_with_any_bit_flipped_after_its_size_is_refused() -> None:
    for bit in range(8 * 12, 8 * len(PLAIN_V1)):
        damaged = bytearray(PLAIN_V1)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(DecodeError):
            list(iter_legacy_records(damaged))


@pytest.mark.parametrize("length", [-(2**31), -2, 5, 2**31 - 1])
@pytest.mark.parametrize("position", [12 + 14, 12 + 14 + 5])
def test_message_with_a_lying_length_is_refused(position: int, length: int) -> None:
    """S2: key and value lengths that the message cannot hold, under a right checksum."""
    lying = bytearray(PLAIN_V1)
    struct.pack_into(">i", lying, position, length)
    struct.pack_into(">I", lying, 12, zlib.crc32(lying[16:]))
    with pytest.raises(DecodeError):
        list(iter_legacy_records(lying))


def test_wrapper_that_unfolds_too_far_is_refused() -> None:
    """S4"""
    inner = build_message(Message(0, 1, 0, NOW, None, bytes(100_000)))
    with pytest.raises(DecodeError, match="unfold"):
        list(iter_legacy_records(wrap(inner, offset=0), decompressed_max=50_000))


@given(st.binary(max_size=80), st.sampled_from([0, 1]))
def test_garbage_raises_decode_error_only(garbage: bytes, magic: int) -> None:
    body = bytes([magic]) + garbage
    message = struct.pack(">qiI", 0, len(body) + 4, zlib.crc32(body)) + body
    for data in (garbage, message):
        try:
            list(iter_legacy_records(data, decompressed_max=10_000))
        except DecodeError:
            continue
