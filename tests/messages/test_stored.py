"""Records of internal logs: their frames and prefixes, tombstones, and what is refused."""

import pytest

from trivium.messages.stored.control_records import (
    ControlRecordType,
    EndTxnMarker,
    KRaftVersionRecord,
    decode_control_key,
    decode_control_value,
    encode_control_key,
    encode_control_value,
)
from trivium.messages.stored.group_log import GROUP_LOG
from trivium.messages.stored.keyed_log import KeyedLog
from trivium.messages.stored.metadata_brokers import FeatureLevelRecord
from trivium.messages.stored.metadata_log import (
    METADATA_RECORDS,
    decode_metadata_record,
    encode_metadata_record,
)
from trivium.messages.stored.offsets import OffsetCommitKey, OffsetCommitValue
from trivium.messages.stored.share_state import SHARE_STATE
from trivium.messages.stored.transaction_log import TRANSACTION_LOG
from trivium.wire.errors import DecodeError, EncodeError


def test_metadata_record_is_framed_by_version_type_and_version() -> None:
    record = FeatureLevelRecord(name="metadata.version", feature_level=25)
    value = encode_metadata_record(record, 0)
    assert value == bytes.fromhex("01 0c 00 11") + b"metadata.version" + bytes.fromhex("0019 00")
    assert decode_metadata_record(value) == (12, 0, record)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        bytes.fromhex("01"),
        bytes.fromhex("02 0c 00 02 61 0001 00"),
        bytes.fromhex("01 7f 00 02 61 0001 00"),
        bytes.fromhex("01 0c 09 02 61 0001 00"),
        bytes.fromhex("01 0c 00 02 61 0001 00 00"),
    ],
    ids=["empty", "cut", "frame version 2", "unknown type", "unknown version", "bytes left over"],
)
def test_metadata_record_that_is_not_known_whole_is_refused(value: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_metadata_record(value)


def test_metadata_records_are_all_that_kafka_has() -> None:
    """001.25, 001.26. Kafka 4.3 has no records of type 6, 13 and 16."""
    assert sorted(METADATA_RECORDS) == [*range(6), *range(7, 13), 14, 15, *range(17, 29)]


def test_offset_commit_has_a_type_in_its_key_and_a_version_in_its_value() -> None:
    key = OffsetCommitKey(group="g", topic="t", partition=1)
    value = OffsetCommitValue(offset=5, metadata="", commit_timestamp=9)
    assert GROUP_LOG.encode_key(key) == bytes.fromhex("0001 0001 67 0001 74 00000001")
    for version in OffsetCommitValue.VERSIONS:
        data = GROUP_LOG.encode_value(value, version)
        assert data[:2] == version.to_bytes(2, "big")
        assert GROUP_LOG.decode_value(GROUP_LOG.decode_key(GROUP_LOG.encode_key(key)), data) == value


def test_value_that_is_not_there_is_a_tombstone() -> None:
    assert GROUP_LOG.decode_value(OffsetCommitKey(group="g", topic="t", partition=1), None) is None


@pytest.mark.parametrize(
    "log", [GROUP_LOG, TRANSACTION_LOG, SHARE_STATE], ids=["group", "transaction", "share"]
)
def test_key_of_an_unknown_type_is_refused(log: KeyedLog) -> None:
    for data in (b"", b"\x00", b"\x7f\xff", b"\xff\xff\x00\x00"):
        with pytest.raises(DecodeError):
            log.decode_key(data)


def test_value_of_an_unknown_version_is_refused() -> None:
    key = OffsetCommitKey(group="g", topic="t", partition=1)
    for data in (b"", b"\x00", b"\x00\x63" + bytes(50), b"\xff\xff"):
        with pytest.raises(DecodeError):
            GROUP_LOG.decode_value(key, data)


def test_group_log_key_and_value_of_a_kind_share_their_type() -> None:
    assert sorted(GROUP_LOG.key_types) == [*range(9), *range(10, 18), *range(19, 24)]
    for log in (GROUP_LOG, TRANSACTION_LOG, SHARE_STATE):
        for key, value in log.value_types.items():
            assert key.API_KEY == value.API_KEY
            assert key.__name__.removesuffix("Key") == value.__name__.removesuffix("Value")


def test_end_of_transaction_has_kafkas_bytes() -> None:
    assert encode_control_key(ControlRecordType.COMMIT) == bytes.fromhex("0000 0001")
    value = encode_control_value(EndTxnMarker(coordinator_epoch=3), 0)
    assert value == bytes.fromhex("0000 00000003")
    assert decode_control_value(ControlRecordType.COMMIT, value) == (0, EndTxnMarker(coordinator_epoch=3))


def test_control_record_whose_version_is_a_field_has_it_once() -> None:
    record = KRaftVersionRecord(version=0, kraft_version=1)
    value = encode_control_value(record, 0)
    assert value == bytes.fromhex("0000 0001 00")
    assert decode_control_value(ControlRecordType.KRAFT_VERSION, value) == (0, record)
    with pytest.raises(EncodeError, match="another version"):
        encode_control_value(KRaftVersionRecord(version=9, kraft_version=1), 0)


@pytest.mark.parametrize("key", ["", "0000", "00000063", "ffff0001"])
def test_control_key_that_is_not_known_is_refused(key: str) -> None:
    with pytest.raises(DecodeError):
        decode_control_key(bytes.fromhex(key))


def test_control_value_that_is_cut_is_refused() -> None:
    for value in (b"", b"\x00", b"\x00\x00\x00"):
        with pytest.raises(DecodeError):
            decode_control_value(ControlRecordType.ABORT, value)
