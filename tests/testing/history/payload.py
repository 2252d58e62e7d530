"""A value of a history as bytes, and bytes as their value: whatever is not whole is another value.

The name stands in front; filler follows, its bytes and their number chosen by the name.
"""

import zlib

FILLER_BYTES_MAX = 300


def payload_of(value: str) -> bytes:
    name = value.encode()
    number = zlib.crc32(name)
    filler = bytes((number >> shift) & 0xFF for shift in (0, 8, 16, 24)) * (FILLER_BYTES_MAX // 4)
    return name + b"|" + filler[: number % FILLER_BYTES_MAX]


def value_of(payload: bytes) -> str:
    name, _, _ = payload.partition(b"|")
    try:
        value = name.decode()
    except UnicodeDecodeError:
        value = ""
    return value if payload == payload_of(value) else f"damaged: {payload[:40].hex()}"
