"""XXH32, seed 0: how Iggy chooses a partition by a key. Keys have 255 bytes at most: plain Python will do."""

from typing import Final

_MASK: Final = 0xFFFF_FFFF
_P1: Final = 2_654_435_761
_P2: Final = 2_246_822_519
_P3: Final = 3_266_489_917
_P4: Final = 668_265_263
_P5: Final = 374_761_393
_STRIPE_BYTES: Final = 16
_LANE_BYTES: Final = 4


def hash_key(key: bytes) -> int:
    at, size = 0, len(key)
    if size >= _STRIPE_BYTES:
        lanes = [_P1 + _P2 & _MASK, _P2, 0, -_P1 & _MASK]
        while size - at >= _STRIPE_BYTES:
            for lane in range(4):
                word = int.from_bytes(key[at : at + _LANE_BYTES], "little")
                lanes[lane] = _rotated(lanes[lane] + word * _P2, 13) * _P1 & _MASK
                at += _LANE_BYTES
        total = sum(_rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True))
    else:
        total = _P5
    total += size
    while size - at >= _LANE_BYTES:
        word = int.from_bytes(key[at : at + _LANE_BYTES], "little")
        total = _rotated(total + word * _P3, 17) * _P4
        at += _LANE_BYTES
    for byte in key[at:]:
        total = _rotated(total + byte * _P5, 11) * _P1
    total &= _MASK
    total = (total ^ total >> 15) * _P2 & _MASK
    total = (total ^ total >> 13) * _P3 & _MASK
    return total ^ total >> 16


def _rotated(value: int, bits: int) -> int:
    value &= _MASK
    return (value << bits | value >> (32 - bits)) & _MASK
