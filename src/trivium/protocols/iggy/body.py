"""Reading the body of a request. Everything is little-endian.

    identifier      kind (1 number, 2 name) | length u8 | value (u32, or UTF-8)
    text            length u8 | UTF-8;  long text has a length of four bytes
    consumer        kind (1 by itself, 2 a group) | identifier
    partitioning    kind (1 balanced, 2 partition, 3 key) | length u8 | value
    strategy        kind (1 offset, 2 timestamp, 3 first, 4 last, 5 next) | value u64

What is wrong with a body has one of two codes, as in Iggy 0.8: bytes that are missing, unknown kinds and text
that is not UTF-8 are an invalid command; a length that its kind does not allow is an invalid format (of a
partitioning it is an invalid command, too). Bytes behind a complete body are ignored.
"""

import struct
from enum import IntEnum
from typing import Final, NamedTuple

from trivium.protocols.iggy.status import Rejected, Status
from trivium.wire.cursor import Cursor
from trivium.wire.errors import DecodeError

Identifier = int | str
"""A thing by its number, counted as the client counts, or by its name."""

_U32: Final = struct.Struct("<I")
_U64: Final = struct.Struct("<Q")
_KIND_AND_LENGTH: Final = struct.Struct("<BB")
_STRATEGY: Final = struct.Struct("<BQ")
_NUMERIC: Final = 1
_NAMED: Final = 2
_ID_BYTES: Final = 4


class PartitioningKind(IntEnum):
    BALANCED = 1
    PARTITION = 2
    KEY = 3


class StrategyKind(IntEnum):
    OFFSET = 1
    TIMESTAMP = 2
    FIRST = 3
    LAST = 4
    NEXT = 5


class Partitioning(NamedTuple):
    kind: PartitioningKind
    partition: int = 0
    """Counted as the client counts."""
    key: bytes = b""


class Strategy(NamedTuple):
    kind: StrategyKind
    value: int


class ConsumerIdentity(NamedTuple):
    is_group: bool
    identifier: Identifier


class Body(Cursor):
    """A position in a body; ``DecodeError`` or ``Rejected`` for what cannot be read."""

    __slots__ = ()

    @property
    def ahead(self) -> memoryview:
        """What has not been read yet."""
        return self._view[self.pos :]

    def uint8(self) -> int:
        # Bodies are full of single bytes: this is what a poll's body costs most.
        at = self.pos
        if at >= self.end:
            raise DecodeError(f"a body ends at byte {at}")
        self.pos = at + 1
        return self._view[at]

    def u32(self) -> int:
        number: int = self.unpack(_U32)[0]
        return number

    def u64(self) -> int:
        number: int = self.unpack(_U64)[0]
        return number

    def flag(self) -> bool:
        return self.uint8() != 0

    def text(self) -> str:
        return self._text(self.uint8())

    def name(self) -> str:
        """Text that must not be empty."""
        length = self.uint8()
        if not length:
            raise Rejected(Status.INVALID_FORMAT)
        return self._text(length)

    def long_text(self) -> str:
        return self._text(self.u32())

    def identifier(self) -> Identifier:
        kind, length = self.unpack(_KIND_AND_LENGTH)
        if kind == _NUMERIC:
            if length != _ID_BYTES:
                self.take(length)  # What is missing is missing first.
                raise Rejected(Status.INVALID_FORMAT)
            return self.u32()
        if kind != _NAMED:
            raise Rejected(Status.INVALID_COMMAND)
        if not length:
            raise Rejected(Status.INVALID_FORMAT)
        return self._text(length)

    def consumer(self) -> ConsumerIdentity:
        kind = self.uint8()
        if kind not in (1, 2):
            raise Rejected(Status.INVALID_COMMAND)
        return ConsumerIdentity(kind == 2, self.identifier())

    def partitioning(self) -> Partitioning:
        kind, value = self.uint8(), self.take(self.uint8())
        if kind == PartitioningKind.BALANCED and not value:
            return Partitioning(PartitioningKind.BALANCED)
        if kind == PartitioningKind.PARTITION and len(value) == _ID_BYTES:
            return Partitioning(PartitioningKind.PARTITION, _U32.unpack(value)[0])
        if kind == PartitioningKind.KEY:
            return Partitioning(PartitioningKind.KEY, key=bytes(value))
        raise Rejected(Status.INVALID_COMMAND)

    def strategy(self) -> Strategy:
        kind, value = self.unpack(_STRATEGY)
        try:
            return Strategy(StrategyKind(kind), value)
        except ValueError:
            raise Rejected(Status.INVALID_COMMAND) from None
