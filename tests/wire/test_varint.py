"""Varints: mission 000.3, 000.8, 000.9, 001.27, 003.3."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.wire import varint
from trivium.wire.errors import DecodeError, EncodeError


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        (0, "00"),
        (1, "01"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (16_383, "ff7f"),
        (16_384, "808001"),
        (0x7FFF_FFFF, "ffffffff07"),
        (0xFFFF_FFFF, "ffffffff0f"),
    ],
)
def test_uvarint_known_values_have_their_bytes(value: int, spelled: str) -> None:
    assert varint.encode_uvarint(value).hex() == spelled
    assert varint.read_uvarint(bytes.fromhex(spelled), 0) == (value, len(spelled) // 2)
    assert varint.uvarint_size(value) == len(spelled) // 2


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        (0, "00"),
        (-1, "01"),
        (1, "02"),
        (-2, "03"),
        (63, "7e"),
        (-64, "7f"),
        (64, "8001"),
        (varint.INT32_MAX, "feffffff0f"),
        (varint.INT32_MIN, "ffffffff0f"),
    ],
)
def test_varint_known_values_are_zigzag(value: int, spelled: str) -> None:
    assert varint.encode_varint(value).hex() == spelled
    assert varint.read_varint(bytes.fromhex(spelled), 0) == (value, len(spelled) // 2)


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        (varint.INT64_MAX, "feffffffffffffffff01"),
        (varint.INT64_MIN, "ffffffffffffffffff01"),
    ],
)
def test_varlong_extremes_take_ten_bytes(value: int, spelled: str) -> None:
    assert varint.encode_varlong(value).hex() == spelled
    assert varint.read_varlong(bytes.fromhex(spelled), 0) == (value, 10)


@given(st.integers(0, varint.UINT32_MAX), st.binary(max_size=3))
def test_uvarint_round_trip_keeps_value_and_position(value: int, before: bytes) -> None:
    buf = before + varint.encode_uvarint(value) + b"\xff"
    assert varint.read_uvarint(buf, len(before)) == (value, len(buf) - 1)


@given(st.integers(0, varint.UINT64_MAX))
def test_uvarlong_round_trip_keeps_value(value: int) -> None:
    spelled = varint.encode_uvarlong(value)
    assert varint.read_uvarlong(spelled, 0) == (value, varint.uvarint_size(value))


@given(st.integers(varint.INT32_MIN, varint.INT32_MAX))
def test_varint_round_trip_keeps_value(value: int) -> None:
    spelled = varint.encode_varint(value)
    assert varint.read_varint(memoryview(spelled), 0) == (value, len(spelled))


@given(st.integers(varint.INT64_MIN, varint.INT64_MAX))
def test_varlong_round_trip_keeps_value(value: int) -> None:
    spelled = varint.encode_varlong(value)
    assert varint.read_varlong(bytearray(spelled), 0) == (value, len(spelled))


def test_uvarint_longer_than_needed_is_read_as_kafka_reads_it() -> None:
    assert varint.read_uvarint(b"\x80\x00", 0) == (0, 2)


@pytest.mark.parametrize("spelled", ["", "80", "ffff", "ffffffff"])
def test_uvarint_cut_off_is_refused(spelled: str) -> None:
    with pytest.raises(DecodeError, match="cut off"):
        varint.read_uvarint(bytes.fromhex(spelled), 0)


@pytest.mark.parametrize("spelled", ["ffffffff10", "ffffffff7f", "808080808001", "ffffffffffffffffff01"])
def test_uvarint_above_32_bits_is_refused(spelled: str) -> None:
    with pytest.raises(DecodeError):
        varint.read_uvarint(bytes.fromhex(spelled), 0)


@pytest.mark.parametrize("spelled", ["ffffffffffffffffff02", "8080808080808080808001"])
def test_uvarlong_above_64_bits_is_refused(spelled: str) -> None:
    with pytest.raises(DecodeError):
        varint.read_uvarlong(bytes.fromhex(spelled), 0)


def test_encoders_value_outside_their_width_is_refused() -> None:
    for encode, value in (
        (varint.encode_uvarint, -1),
        (varint.encode_uvarint, varint.UINT32_MAX + 1),
        (varint.encode_uvarlong, varint.UINT64_MAX + 1),
        (varint.encode_varint, varint.INT32_MAX + 1),
        (varint.encode_varint, varint.INT32_MIN - 1),
        (varint.encode_varlong, varint.INT64_MAX + 1),
    ):
        with pytest.raises(EncodeError):
            encode(value)
