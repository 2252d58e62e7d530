"""The protocol's types, as annotations: ``index: Int32`` is an ``int`` to mypy and four bytes on the wire.

Arrays are ``list[T]``, a nullable value is ``T | None``, and a struct is its class.
"""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from trivium.wire.uuid_text import ZERO_UUID


@dataclass(frozen=True, slots=True)
class FixedSize:
    """A type of constant size: one letter of ``struct``, its size, and its value where a version lacks it."""

    letter: str
    size_bytes: int
    zero: bool | int | float | bytes


@dataclass(frozen=True, slots=True)
class Text:
    """UTF-8 behind its length: int16, or uvarint of length + 1 in flexible versions."""

    zero: str = ""


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes behind their length: int32, or uvarint of length + 1 in flexible versions."""

    is_view: bool
    """Decode gives a view into the frame instead of a copy."""

    zero: bytes = b""


Bool: TypeAlias = Annotated[bool, FixedSize("?", 1, False)]
Int8: TypeAlias = Annotated[int, FixedSize("b", 1, 0)]
Int16: TypeAlias = Annotated[int, FixedSize("h", 2, 0)]
Int32: TypeAlias = Annotated[int, FixedSize("i", 4, 0)]
Int64: TypeAlias = Annotated[int, FixedSize("q", 8, 0)]
UInt16: TypeAlias = Annotated[int, FixedSize("H", 2, 0)]
UInt32: TypeAlias = Annotated[int, FixedSize("I", 4, 0)]
Float64: TypeAlias = Annotated[float, FixedSize("d", 8, 0.0)]
Uuid: TypeAlias = Annotated[bytes, FixedSize("16s", 16, ZERO_UUID)]
String: TypeAlias = Annotated[str, Text()]
Bytes: TypeAlias = Annotated[bytes, Blob(is_view=False)]
Records: TypeAlias = Annotated[bytes | memoryview, Blob(is_view=True)]
