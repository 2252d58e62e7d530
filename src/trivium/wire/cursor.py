"""Reading: a position in a buffer that never leaves it.

A ``Cursor`` checks every length against what remains before it takes anything, so a declared length
is never an allocation. Integers are big-endian, as Kafka has them; other layouts go through
``unpack``. Whatever is wrong with the bytes, the only exception is ``DecodeError``.

Text and blobs are copied out (they are small and outlive the frame); ``take`` and ``records`` give
views into the buffer (they are large).
"""

import struct
from collections.abc import Callable
from typing import Any, Final

from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError
from trivium.wire.varint import INT32_MAX, read_uvarint, read_uvarlong, read_varint, read_varlong

UUID_BYTES: Final = 16

INT8: Final = struct.Struct(">b")
INT16: Final = struct.Struct(">h")
INT32: Final = struct.Struct(">i")
INT64: Final = struct.Struct(">q")
UINT8: Final = struct.Struct(">B")
UINT16: Final = struct.Struct(">H")
UINT32: Final = struct.Struct(">I")
FLOAT64: Final = struct.Struct(">d")


class Cursor:
    """Reads one value after the other from ``buf``, from ``pos`` up to ``end``."""

    __slots__ = ("_view", "end", "pos")

    def __init__(self, buf: Buffer, pos: int = 0, end: int | None = None) -> None:
        view = memoryview(buf)
        self._view = view if end is None else view[:end]
        self.end = len(self._view)
        self.pos = pos
        if not 0 <= pos <= self.end:
            raise DecodeError(f"position {pos} is outside the {self.end} bytes")

    @property
    def remaining(self) -> int:
        return self.end - self.pos

    # Plain bytes

    def take(self, count: int) -> memoryview:
        """The next ``count`` bytes, without copying them."""
        if not 0 <= count <= self.end - self.pos:
            raise DecodeError(f"{count} bytes announced at byte {self.pos}, {self.remaining} remain")
        start = self.pos
        self.pos = start + count
        return self._view[start : self.pos]

    def raw(self, count: int) -> bytes:
        """The next ``count`` bytes, as a copy."""
        return bytes(self.take(count))

    def unpack(self, layout: struct.Struct) -> tuple[Any, ...]:
        """The values of a fixed layout, in whatever byte order it has."""
        return layout.unpack(self.take(layout.size))

    def expect_end(self) -> None:
        """Nothing may follow: for formats in which bytes left over are damage."""
        if self.pos != self.end:
            raise DecodeError(f"{self.remaining} bytes left over at byte {self.pos}")

    # Fixed sizes

    def boolean(self) -> bool:
        return self.uint8() != 0

    def int8(self) -> int:
        return self._number(INT8)

    def int16(self) -> int:
        return self._number(INT16)

    def int32(self) -> int:
        return self._number(INT32)

    def int64(self) -> int:
        return self._number(INT64)

    def uint8(self) -> int:
        return self._number(UINT8)

    def uint16(self) -> int:
        return self._number(UINT16)

    def uint32(self) -> int:
        return self._number(UINT32)

    def float64(self) -> float:
        value: float = self.unpack(FLOAT64)[0]
        return value

    def uuid(self) -> bytes:
        """A UUID as its 16 raw bytes."""
        return self.raw(UUID_BYTES)

    # Variable sizes

    def uvarint(self) -> int:
        return self._varying(read_uvarint)

    def uvarlong(self) -> int:
        return self._varying(read_uvarlong)

    def varint(self) -> int:
        return self._varying(read_varint)

    def varlong(self) -> int:
        return self._varying(read_varlong)

    # Text and blobs: a length (int16 for text, int32 for bytes, length + 1 as uvarint when compact),
    # then that many bytes. Length -1 (compact: 0) is null, and null only where null is allowed.

    def string(self) -> str:
        return self._text(self._present(self.int16()))

    def nullable_string(self) -> str | None:
        length = self._absent_or_length(self.int16())
        return None if length is None else self._text(length)

    def compact_string(self) -> str:
        return self._text(self._present(self.uvarint() - 1))

    def compact_nullable_string(self) -> str | None:
        length = self._absent_or_length(self.uvarint() - 1)
        return None if length is None else self._text(length)

    def bytes_(self) -> bytes:
        return self.raw(self._present(self.int32()))

    def nullable_bytes(self) -> bytes | None:
        length = self._absent_or_length(self.int32())
        return None if length is None else self.raw(length)

    def compact_bytes(self) -> bytes:
        return self.raw(self._present(self.uvarint() - 1))

    def compact_nullable_bytes(self) -> bytes | None:
        length = self._absent_or_length(self.uvarint() - 1)
        return None if length is None else self.raw(length)

    def records(self) -> memoryview | None:
        """Record batches, not copied."""
        length = self._absent_or_length(self.int32())
        return None if length is None else self.take(length)

    def compact_records(self) -> memoryview | None:
        """Record batches, not copied."""
        length = self._absent_or_length(self.uvarint() - 1)
        return None if length is None else self.take(length)

    # Arrays: only the count is read here. ``element_bytes_min`` is the least that one element can
    # take, so that a count which cannot be true is refused before anything is made for it.

    def array_count(self, element_bytes_min: int = 1) -> int:
        return self.require_elements(self._present(self.int32()), element_bytes_min)

    def nullable_array_count(self, element_bytes_min: int = 1) -> int | None:
        count = self._absent_or_length(self.int32())
        return None if count is None else self.require_elements(count, element_bytes_min)

    def compact_array_count(self, element_bytes_min: int = 1) -> int:
        return self.require_elements(self._present(self.uvarint() - 1), element_bytes_min)

    def compact_nullable_array_count(self, element_bytes_min: int = 1) -> int | None:
        count = self._absent_or_length(self.uvarint() - 1)
        return None if count is None else self.require_elements(count, element_bytes_min)

    def _number(self, layout: struct.Struct) -> int:
        value: int = self.unpack(layout)[0]
        return value

    def _varying(self, read: Callable[[memoryview, int], tuple[int, int]]) -> int:
        value, self.pos = read(self._view, self.pos)
        return value

    def _present(self, length: int) -> int:
        if not 0 <= length <= INT32_MAX:
            raise DecodeError(f"length {length} before byte {self.pos}, where a value must be")
        return length

    def _absent_or_length(self, length: int) -> int | None:
        return None if length == -1 else self._present(length)

    def _text(self, length: int) -> str:
        start = self.pos
        try:
            return str(self.take(length), "utf-8")
        except UnicodeDecodeError as error:
            raise DecodeError(f"the text at byte {start} is not UTF-8: {error.reason}") from error

    def require_elements(self, count: int, element_bytes_min: int) -> int:
        """Refuse a count of elements that the bytes which remain cannot hold."""
        if count * element_bytes_min > self.remaining:
            raise DecodeError(f"{count} elements announced at byte {self.pos}, {self.remaining} bytes remain")
        return count
