"""Control batches: what a transaction marker says, and what is no marker."""

import struct

import pytest

from trivium.records.batch import build_batch, check_batch, iter_records, retain
from trivium.records.control import (
    ControlType,
    EndTxnMarker,
    build_end_txn,
    control_key,
    read_control_type,
    read_end_txn,
)
from trivium.records.record import Record
from trivium.wire.errors import DecodeError

pytestmark = pytest.mark.usefixtures("kernel")

NOW = 1_750_000_000_000


def control_batch(key: bytes | None, value: bytes | None) -> bytes:
    return build_batch([Record(0, NOW, key, value)], control=True, transactional=True)


@pytest.mark.parametrize("committed", [True, False])
def test_marker_after_a_round_trip_is_the_same(committed: bool) -> None:
    marker = EndTxnMarker(committed, coordinator_epoch=12)
    batch = build_end_txn(marker, producer_id=8, producer_epoch=3, timestamp=NOW, base_offset=77)
    header = check_batch(batch)
    assert header.is_control
    assert header.is_transactional
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (8, 3, -1)
    assert read_end_txn(b"?" + batch, 1) == marker
    assert marker.aborted is not committed


def test_marker_bytes_are_as_the_format_says() -> None:
    batch = build_end_txn(EndTxnMarker(True, 5), producer_id=1, producer_epoch=0, timestamp=NOW)
    (record,) = iter_records(batch)
    assert (record.key, record.value) == (b"\x00\x00\x00\x01", b"\x00\x00\x00\x00\x00\x05")


def test_control_batch_of_another_kind_is_no_marker() -> None:
    assert read_end_txn(control_batch(control_key(ControlType.LEADER_CHANGE), b"...")) is None
    assert read_end_txn(control_batch(struct.pack(">hh", 0, 99), None)) is None


def test_control_batch_without_its_record_is_no_marker() -> None:
    batch = build_end_txn(EndTxnMarker(True, 5), producer_id=1, producer_epoch=0, timestamp=NOW)
    assert read_end_txn(retain(batch, b"\x00")) is None


def test_marker_of_a_later_version_is_read_by_its_beginning() -> None:
    batch = control_batch(struct.pack(">hhi", 1, 0, 7), struct.pack(">hiq", 1, 4, 0))
    assert read_end_txn(batch) == EndTxnMarker(committed=False, coordinator_epoch=4)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, bytes(6)),
        (b"\x00\x00\x00", bytes(6)),
        (struct.pack(">hh", -1, 0), bytes(6)),
        (control_key(ControlType.ABORT), None),
        (control_key(ControlType.COMMIT), bytes(5)),
        (control_key(ControlType.COMMIT), struct.pack(">hi", -1, 0)),
    ],
)
def test_damaged_marker_is_refused(key: bytes | None, value: bytes | None) -> None:
    with pytest.raises(DecodeError):
        read_end_txn(control_batch(key, value))


def test_data_batch_read_as_a_marker_is_refused() -> None:
    with pytest.raises(DecodeError, match="control batch"):
        read_end_txn(build_batch([Record(0, NOW, b"k", b"v")]))


@pytest.mark.parametrize("control_type", [kind for kind in ControlType if kind is not ControlType.UNKNOWN])
def test_control_type_after_a_round_trip_is_the_same(control_type: ControlType) -> None:
    assert read_control_type(control_key(control_type)) is control_type
