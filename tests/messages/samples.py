"""One full message of each class and version: every field set, every list filled, the same each time."""

import random
from functools import cache
from typing import Any

from tests.messages.catalogue import all_versions
from trivium.messages.schema import ListOf, Message, StructType
from trivium.messages.types import Blob, FixedSize, Text

_INTEGER_BITS = {"b": 8, "h": 16, "i": 32, "q": 64, "H": 16, "I": 32}


@cache
def samples(elements: int = 2) -> tuple[tuple[Message, int], ...]:
    """A message and its version, of all there are; each list has so many elements."""
    return tuple((_message(cls, version, elements), version) for cls, version in all_versions())


def _message(cls: type[Message], version: int, elements: int) -> Message:
    dice = random.Random(f"{cls.__name__} {version}")

    def struct(cls: StructType) -> Any:
        return cls(**{each.name: value(each.type) for each in cls.fields if version in each.versions})

    def value(kind: object) -> Any:
        if isinstance(kind, StructType):
            return struct(kind)
        if isinstance(kind, ListOf):
            return [value(kind.element) for _ in range(elements)]
        if isinstance(kind, Text):
            return dice.choice(["topic", "ключ", "name with spaces"])
        if isinstance(kind, Blob):
            return dice.randbytes(9)
        assert isinstance(kind, FixedSize)
        return _fixed_size(kind.letter, dice)

    message: Message = struct(cls)
    return message


def _fixed_size(letter: str, dice: random.Random) -> Any:
    if letter == "16s":
        return dice.randbytes(16)
    if letter == "d":
        return dice.uniform(-1e9, 1e9)
    return letter == "?" or dice.getrandbits(_INTEGER_BITS[letter] - 1)
