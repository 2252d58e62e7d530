"""Source text in the making: indented lines, the names that they use, and runs of fixed-size values."""

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from trivium.messages.schema import Field, ListOf, Message, StructType
from trivium.messages.types import FixedSize, Text

TAG_COUNT_BYTES_MIN = 1


class Source:
    """Functions that are written line by line, and the scope in which they will be compiled."""

    def __init__(self, scope: dict[str, Any]) -> None:
        self.scope = scope
        self._finished: list[str] = []
        self._lines: list[str] = []
        self._depth = 0
        self._names = 0

    def line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.line(head)
        self._depth += 1
        lines_before = len(self._lines)
        yield
        if len(self._lines) == lines_before:
            self.line("pass")
        self._depth -= 1

    @contextmanager
    def function(self, head: str) -> Iterator[None]:
        """A function of its own, written before the one that is being written now."""
        lines, depth = self._lines, self._depth
        self._lines, self._depth = [], 0
        with self.block(head):
            yield
        self._finished += self._lines
        self._lines, self._depth = lines, depth

    def fresh(self, stem: str) -> str:
        """A variable that no other line uses."""
        self._names += 1
        return f"{stem}{self._names}"

    def constant(self, stem: str, value: object) -> str:
        """A name for an object that the code needs."""
        name = self.fresh(stem)
        self.scope[name] = value
        return name

    def literal(self, value: object) -> str:
        """A value as source text, or a name for it."""
        return (
            repr(value) if isinstance(value, bool | int | str | bytes | None) else self.constant("c", value)
        )

    def layout(self, letters: str, method: str) -> str:
        """A name for ``struct.Struct(letters).<method>``, the same for the same layout."""
        name = f"{method}_{letters.replace('?', 't').replace('16s', 'u')}"
        self.scope.setdefault(name, getattr(struct.Struct(">" + letters), method))
        return name

    def compile(self, file_name: str, function_name: str) -> Callable[..., Any]:
        text = "\n".join(self._finished)
        exec(compile(text, file_name, "exec"), self.scope)  # noqa: S102 - made from our own classes alone
        function: Callable[..., Any] = self.scope[function_name]
        return function


def untagged_fields(cls: StructType, version: int) -> list[Field]:
    """The fields that this version has in its body, in wire order."""
    return [each for each in cls.fields if version in each.versions and each.tag is None]


def tagged_fields(cls: StructType, version: int) -> list[Field]:
    """The fields that this version has in its tag section, in order of their tags."""
    present = (each for each in cls.fields if version in each.versions and each.tag is not None)
    return sorted(present, key=lambda each: each.tag or 0)


def absent_fields(cls: StructType, version: int) -> list[Field]:
    return [each for each in cls.fields if version not in each.versions]


def bytes_min(cls: StructType, version: int, is_flexible: bool) -> int:
    """The least that one struct takes on the wire: what a count of them is checked against."""
    size = TAG_COUNT_BYTES_MIN if is_flexible else 0
    for each in untagged_fields(cls, version):
        size += field_bytes_min(each, version, is_flexible)
    return size


def field_bytes_min(each: Field, version: int, is_flexible: bool) -> int:
    if isinstance(each.type, StructType):
        return 1 if version in each.nullable else bytes_min(each.type, version, is_flexible)
    return element_bytes_min(each.type, version, is_flexible and each.rules.compact)


def element_bytes_min(kind: Any, version: int, is_flexible: bool) -> int:
    if isinstance(kind, FixedSize):
        return kind.size_bytes
    if isinstance(kind, StructType):
        return bytes_min(kind, version, is_flexible)
    return 1 if is_flexible else 2 if isinstance(kind, Text) else 4


def is_flexible(message: type[Message], version: int) -> bool:
    return version in message.FLEXIBLE


def label(message: StructType, each: Field, version: int) -> str:
    """How a refusal names a field."""
    return f"{message.__name__}.{each.name} (version {version})"


def is_list_of_fixed_size(kind: object) -> bool:
    return isinstance(kind, ListOf) and isinstance(kind.element, FixedSize)
