"""Variable-length integers: seven bits a byte, least significant first, the high bit says "more follows".

Unsigned varints carry lengths and tags; signed ones (zigzag: 0, -1, 1, -2 ... become 0, 1, 2, 3 ...)
carry deltas inside records. A value is at most 5 bytes (32 bits) or 10 bytes (64 bits) long, and one
that spills over its width is refused rather than cut. Longer-than-needed spellings of a value are
accepted, as Kafka accepts them.

Readers take a buffer and a position and return the value and the position behind it.
"""

from typing import Final

from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError, EncodeError

UINT32_MAX: Final = 0xFFFF_FFFF
UINT64_MAX: Final = 0xFFFF_FFFF_FFFF_FFFF
INT32_MIN: Final = -0x8000_0000
INT32_MAX: Final = 0x7FFF_FFFF
INT64_MIN: Final = -0x8000_0000_0000_0000
INT64_MAX: Final = 0x7FFF_FFFF_FFFF_FFFF

SINGLE_BYTES: Final = tuple(bytes((value,)) for value in range(128))
"""The varints of one byte, ready made: almost every length and tag on the wire is one of them."""


def encode_uvarint(value: int) -> bytes:
    """An unsigned varint of at most 32 bits."""
    if 0 <= value < 128:
        return SINGLE_BYTES[value]
    if not 0 <= value <= UINT32_MAX:
        raise EncodeError(f"{value} does not fit an unsigned varint of 32 bits")
    return _spell(value)


def encode_uvarlong(value: int) -> bytes:
    """An unsigned varint of at most 64 bits."""
    if not 0 <= value <= UINT64_MAX:
        raise EncodeError(f"{value} does not fit an unsigned varint of 64 bits")
    return _spell(value)


def encode_varint(value: int) -> bytes:
    """A zigzag varint of at most 32 bits."""
    if not INT32_MIN <= value <= INT32_MAX:
        raise EncodeError(f"{value} does not fit a varint of 32 bits")
    return _spell(zigzag(value))


def encode_varlong(value: int) -> bytes:
    """A zigzag varint of at most 64 bits."""
    if not INT64_MIN <= value <= INT64_MAX:
        raise EncodeError(f"{value} does not fit a varint of 64 bits")
    return _spell(zigzag(value))


def read_uvarint(buf: Buffer, pos: int) -> tuple[int, int]:
    """An unsigned varint of at most 32 bits, and the position behind it."""
    return _read(buf, pos, UINT32_MAX)


def read_uvarlong(buf: Buffer, pos: int) -> tuple[int, int]:
    """An unsigned varint of at most 64 bits, and the position behind it."""
    return _read(buf, pos, UINT64_MAX)


def read_varint(buf: Buffer, pos: int) -> tuple[int, int]:
    """A zigzag varint of at most 32 bits, and the position behind it."""
    value, pos = _read(buf, pos, UINT32_MAX)
    return unzigzag(value), pos


def read_varlong(buf: Buffer, pos: int) -> tuple[int, int]:
    """A zigzag varint of at most 64 bits, and the position behind it."""
    value, pos = _read(buf, pos, UINT64_MAX)
    return unzigzag(value), pos


def zigzag(value: int) -> int:
    """Fold the sign into the lowest bit, so that small negative numbers stay short."""
    return value << 1 if value >= 0 else (-value << 1) - 1


def unzigzag(value: int) -> int:
    return (value >> 1) ^ -(value & 1)


def uvarint_size(value: int) -> int:
    """How many bytes ``encode_uvarint(value)`` or ``encode_uvarlong(value)`` has."""
    return max(1, (value.bit_length() + 6) // 7)


def _spell(value: int) -> bytes:
    spelled = bytearray()
    while value > 127:
        spelled.append(value & 0x7F | 0x80)
        value >>= 7
    spelled.append(value)
    return bytes(spelled)


def _read(buf: Buffer, pos: int, value_max: int) -> tuple[int, int]:
    value = shift = 0
    start = pos
    end = len(buf)
    while pos < end:
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if value > value_max:
            raise DecodeError(f"the varint at byte {start} is above {value_max}")
        if byte < 128:
            return value, pos
        shift += 7
        if shift > value_max.bit_length():
            raise DecodeError(f"the varint at byte {start} does not end")
    raise DecodeError(f"the varint at byte {start} is cut off")
