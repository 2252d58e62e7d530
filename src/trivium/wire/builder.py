"""Writing: parts that are joined once.

A ``Builder`` collects the spelled values in a list and copies them together when the result is asked
for, so a large blob is copied once and ``parts`` can go to ``writev`` without any copy. Integers are
big-endian, as Kafka has them; other layouts go through ``pack``. A value that has no place on the wire
raises ``EncodeError``.
"""

import struct

from trivium.wire.buffer import Buffer
from trivium.wire.cursor import (
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UUID_BYTES,
)
from trivium.wire.errors import EncodeError
from trivium.wire.varint import encode_uvarint, encode_uvarlong, encode_varint, encode_varlong


class Builder:
    """Collects values in wire order; every method returns the builder, so that a layout reads as one line."""

    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts: list[Buffer] = []

    def build(self) -> bytes:
        return b"".join(self.parts)

    def size(self) -> int:
        return sum(map(len, self.parts))

    def raw(self, data: Buffer) -> "Builder":
        """Bytes as they are; they are not copied before ``build``."""
        self.parts.append(data)
        return self

    def pack(self, layout: struct.Struct, *values: object) -> "Builder":
        """The values of a fixed layout, in whatever byte order it has."""
        try:
            self.parts.append(layout.pack(*values))
        except struct.error as error:
            raise EncodeError(f"{values} do not fit: {error}") from error
        return self

    # Fixed sizes

    def boolean(self, value: bool) -> "Builder":
        return self.raw(b"\x01" if value else b"\x00")

    def int8(self, value: int) -> "Builder":
        return self.pack(INT8, value)

    def int16(self, value: int) -> "Builder":
        return self.pack(INT16, value)

    def int32(self, value: int) -> "Builder":
        return self.pack(INT32, value)

    def int64(self, value: int) -> "Builder":
        return self.pack(INT64, value)

    def uint8(self, value: int) -> "Builder":
        return self.pack(UINT8, value)

    def uint16(self, value: int) -> "Builder":
        return self.pack(UINT16, value)

    def uint32(self, value: int) -> "Builder":
        return self.pack(UINT32, value)

    def float64(self, value: float) -> "Builder":
        return self.pack(FLOAT64, value)

    def uuid(self, value: bytes) -> "Builder":
        """A UUID as its 16 raw bytes."""
        if len(value) != UUID_BYTES:
            raise EncodeError(f"a UUID has 16 bytes, not {len(value)}")
        return self.raw(value)

    # Variable sizes

    def uvarint(self, value: int) -> "Builder":
        return self.raw(encode_uvarint(value))

    def uvarlong(self, value: int) -> "Builder":
        return self.raw(encode_uvarlong(value))

    def varint(self, value: int) -> "Builder":
        return self.raw(encode_varint(value))

    def varlong(self, value: int) -> "Builder":
        return self.raw(encode_varlong(value))

    # Text and blobs: the length first, in the forms that ``Cursor`` describes. ``records`` is
    # ``nullable_bytes`` under the name that the protocol gives it.

    def string(self, value: str) -> "Builder":
        data = _utf8(value)
        return self.int16(len(data)).raw(data)

    def nullable_string(self, value: str | None) -> "Builder":
        return self.int16(-1) if value is None else self.string(value)

    def compact_string(self, value: str) -> "Builder":
        return self.compact_bytes(_utf8(value))

    def compact_nullable_string(self, value: str | None) -> "Builder":
        return self.uvarint(0) if value is None else self.compact_string(value)

    def bytes_(self, value: Buffer) -> "Builder":
        return self.int32(len(value)).raw(value)

    def nullable_bytes(self, value: Buffer | None) -> "Builder":
        return self.int32(-1) if value is None else self.bytes_(value)

    def compact_bytes(self, value: Buffer) -> "Builder":
        return self.uvarint(len(value) + 1).raw(value)

    def compact_nullable_bytes(self, value: Buffer | None) -> "Builder":
        return self.uvarint(0) if value is None else self.compact_bytes(value)

    records = nullable_bytes
    compact_records = compact_nullable_bytes

    # Arrays: only the count; the elements follow.

    def array_count(self, count: int | None) -> "Builder":
        return self.int32(-1 if count is None else count)

    def compact_array_count(self, count: int | None) -> "Builder":
        return self.uvarint(0 if count is None else count + 1)


def _utf8(value: str) -> bytes:
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise EncodeError(f"text that UTF-8 cannot carry: {error.reason}") from error
