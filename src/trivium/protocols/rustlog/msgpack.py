"""MessagePack: as much of it as RustLog's objects need, in both directions. No floats, no extensions.

    nil c0 · false c2 · true c3 · integers 00-7f, e0-ff, cc-cf, d0-d3
    text a0-bf, d9-db · bytes c4-c6 · arrays 90-9f, dc, dd · maps 80-8f, de, df

Every length is held against the bytes that remain before anything is made of it, and the elements of all
arrays and maps together have a limit (promises S1, S2). Whatever the bytes, the only exception is
``DecodeError``.
"""

import struct
from functools import lru_cache
from typing import Any, Final

from trivium.wire.cursor import Cursor
from trivium.wire.errors import DecodeError, EncodeError
from trivium.wire.limits import MESSAGE_ELEMENTS_MAX

DEPTH_MAX: Final = 8
"""Arrays and maps in one another; a request needs four."""

_LENGTHS: Final = (struct.Struct(">B"), struct.Struct(">H"), struct.Struct(">I"))
_NUMBERS: Final = {
    0xCC: struct.Struct(">B"),
    0xCD: struct.Struct(">H"),
    0xCE: struct.Struct(">I"),
    0xCF: struct.Struct(">Q"),
    0xD0: struct.Struct(">b"),
    0xD1: struct.Struct(">h"),
    0xD2: struct.Struct(">i"),
    0xD3: struct.Struct(">q"),
}
_CONSTANTS: Final = {0xC0: None, 0xC2: False, 0xC3: True}


# -- reading -------------------------------------------------------------------------------------


def unpack(data: memoryview) -> Any:
    """The one value that ``data`` is."""
    reading = _Reading(data)
    value = reading.value(DEPTH_MAX)
    reading.cursor.expect_end()
    return value


class _Reading:
    def __init__(self, data: memoryview) -> None:
        self.cursor = Cursor(data)
        self._room = MESSAGE_ELEMENTS_MAX

    def value(self, depth: int) -> Any:
        cursor = self.cursor
        tag = cursor.uint8()
        if tag <= 0x7F:
            return tag
        if tag >= 0xE0:
            return tag - 0x100
        if tag in _CONSTANTS:
            return _CONSTANTS[tag]
        if tag in _NUMBERS:
            return cursor.unpack(_NUMBERS[tag])[0]
        if tag <= 0x8F:
            return self._map(tag & 0x0F, depth)
        if tag <= 0x9F:
            return self._array(tag & 0x0F, depth)
        if tag <= 0xBF:
            return self._text(tag & 0x1F)
        if 0xC4 <= tag <= 0xC6:
            return cursor.raw(self._length(tag - 0xC4))
        if 0xD9 <= tag <= 0xDB:
            return self._text(self._length(tag - 0xD9))
        if tag in (0xDC, 0xDD):
            return self._array(self._length(tag - 0xDC + 1), depth)
        if tag in (0xDE, 0xDF):
            return self._map(self._length(tag - 0xDE + 1), depth)
        raise DecodeError(f"type 0x{tag:02x} of MessagePack has no place in a request")

    def _length(self, size: int) -> int:
        length: int = self.cursor.unpack(_LENGTHS[size])[0]
        return length

    def _text(self, length: int) -> str:
        try:
            return str(self.cursor.take(length), "utf-8")
        except UnicodeDecodeError:
            raise DecodeError("text that is not UTF-8") from None

    def _array(self, length: int, depth: int) -> list[Any]:
        self._enter(length, depth)
        return [self.value(depth - 1) for _ in range(length)]

    def _map(self, length: int, depth: int) -> dict[Any, Any]:
        self._enter(2 * length, depth)
        things = {}
        for _ in range(length):
            key = self.value(depth - 1)
            if not isinstance(key, str):
                raise DecodeError("a map with a key that is no text")
            things[key] = self.value(depth - 1)
        return things

    def _enter(self, elements: int, depth: int) -> None:
        if not depth:
            raise DecodeError(f"more than {DEPTH_MAX} arrays and maps in one another")
        self._room -= elements
        if elements > self.cursor.remaining or self._room < 0:
            raise DecodeError(f"{elements} elements announced, {self.cursor.remaining} bytes remain")


# -- writing -------------------------------------------------------------------------------------


def pack(value: Any) -> bytes:
    """Of None, booleans, integers of 64 bits, text, bytes, and lists and dictionaries of them."""
    parts: list[bytes] = []
    _write(parts, value)
    return b"".join(parts)


def _write(parts: list[bytes], value: Any) -> None:
    if isinstance(value, bytes):
        parts += (_head(len(value), 0, -1, (0xC4, 0xC5, 0xC6)), value)
    elif isinstance(value, str):
        data = value.encode()
        parts += (_head(len(data), 0xA0, 0x1F, (0xD9, 0xDA, 0xDB)), data)
    elif isinstance(value, dict):
        parts.append(_head(len(value), 0x80, 0x0F, (None, 0xDE, 0xDF)))
        for key, each in value.items():
            _write(parts, key)
            _write(parts, each)
    elif isinstance(value, list):
        parts.append(_head(len(value), 0x90, 0x0F, (None, 0xDC, 0xDD)))
        for each in value:
            _write(parts, each)
    elif value is None:
        parts.append(b"\xc0")
    elif isinstance(value, bool):
        parts.append(b"\xc3" if value else b"\xc2")
    elif isinstance(value, int):
        parts.append(_number(value))
    else:
        raise EncodeError(f"MessagePack has no form here for {type(value).__name__}")


def _number(value: int) -> bytes:
    if -0x20 <= value <= 0x7F:
        return bytes((value & 0xFF,))
    tag = 0xCF if value >= 0 else 0xD3
    try:
        return bytes((tag,)) + _NUMBERS[tag].pack(value)
    except struct.error:
        raise EncodeError(f"MessagePack has no form for the number {value}") from None


@lru_cache(1_000)
def _head(length: int, short: int, short_max: int, tags: tuple[int | None, int, int]) -> bytes:
    """The length of something: within its tag if it is short, else behind the tag of its size."""
    if length <= short_max:
        return bytes((short | length,))
    for tag, layout in zip(tags, _LENGTHS, strict=True):
        if tag is not None and length < 1 << 8 * layout.size:
            return bytes((tag,)) + layout.pack(length)
    raise EncodeError(f"MessagePack has no length of {length}")
