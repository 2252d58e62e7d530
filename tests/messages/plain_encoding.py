"""A second encoder, slow and plain, that also tells where in the bytes the lengths stand.

It walks the fields one by one through ``wire.Builder``; the generated encoders must agree with it, and tests
that lie about lengths know from it where to lie.
"""

from dataclasses import dataclass
from typing import Any

from trivium.messages.schema import Field, ListOf, Message, Struct, StructType
from trivium.messages.types import Blob, FixedSize, Text
from trivium.wire.builder import Builder

_NUMBERS = {
    "?": "boolean",
    "b": "int8",
    "h": "int16",
    "i": "int32",
    "q": "int64",
    "H": "uint16",
    "I": "uint32",
    "d": "float64",
    "16s": "uuid",
}


@dataclass(frozen=True)
class Length:
    """A length, count, or size of a tagged field: where it stands and how it is spelled."""

    start: int
    stop: int
    is_uvarint: bool


class PlainEncoding:
    """The bytes of a message, and its lengths."""

    def __init__(self, message: Message, version: int) -> None:
        self._builder = Builder()
        self._version = version
        self._is_flexible = version in message.FLEXIBLE
        self.lengths: list[Length] = []
        self._struct(message)
        self.data = self._builder.build()

    def _struct(self, struct: Struct) -> None:
        present = [each for each in type(struct).fields if self._version in each.versions]
        for each in present:
            if each.tag is None:
                self._value(each, each.type, getattr(struct, each.name))
        if self._is_flexible:
            self._tags(
                struct,
                sorted((each for each in present if each.tag is not None), key=lambda each: each.tag or 0),
            )

    def _tags(self, struct: Struct, fields: list[Field]) -> None:
        set_ones = [each for each in fields if getattr(struct, each.name) != each.rules.default_value()]
        self._uvarint(len(set_ones))
        for each in set_ones:
            self._builder.uvarint(each.tag or 0)
            self._tag_data(each, getattr(struct, each.name))

    def _tag_data(self, each: Field, value: Any) -> None:
        """The size stands in front of the data, and is known only behind it."""
        outer, lengths = self._builder, self.lengths
        self._builder, self.lengths = Builder(), []
        self._value(each, each.type, value)
        data, inner = self._builder.build(), self.lengths
        self._builder, self.lengths = outer, lengths
        self._uvarint(len(data))
        start = self._builder.size()
        self.lengths += [Length(start + one.start, start + one.stop, one.is_uvarint) for one in inner]
        self._builder.raw(data)

    def _value(self, each: Field, kind: object, value: Any) -> None:
        if isinstance(kind, FixedSize):
            getattr(self._builder, _NUMBERS[kind.letter])(value)
        elif isinstance(kind, StructType):
            if self._version in each.nullable:
                self._builder.int8(1 if value is not None else 0 if each.tag is not None else -1)
            if value is not None:
                self._struct(value)
        elif isinstance(kind, ListOf):
            self._length(None if value is None else len(value), 4, self._is_flexible)
            for element in value or ():
                self._value(each, kind.element, element) if not isinstance(
                    kind.element, StructType
                ) else self._struct(element)
        else:
            assert isinstance(kind, Text | Blob)
            data = value.encode() if isinstance(value, str) else value
            width = 2 if isinstance(kind, Text) else 4
            self._length(None if data is None else len(data), width, self._is_flexible and each.rules.compact)
            self._builder.raw(data or b"")

    def _length(self, length: int | None, width: int, is_compact: bool) -> None:
        if is_compact:
            self._uvarint(0 if length is None else length + 1)
            return
        start = self._builder.size()
        (self._builder.int16 if width == 2 else self._builder.int32)(-1 if length is None else length)
        self.lengths.append(Length(start, start + width, is_uvarint=False))

    def _uvarint(self, value: int) -> None:
        start = self._builder.size()
        self._builder.uvarint(value)
        self.lengths.append(Length(start, self._builder.size(), is_uvarint=True))
