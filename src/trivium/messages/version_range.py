"""Version ranges as the protocol's definitions spell them: ``"3"``, ``"0-9"``, ``"9+"`` or ``"none"``."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

VERSION_MAX: Final = 0x7FFF
"""Versions are int16 on the wire; an open range ends here."""


@dataclass(frozen=True, slots=True)
class VersionRange:
    """The versions from ``first`` to ``last``, both included. Empty when ``first`` is above ``last``."""

    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> "VersionRange":
        if text == "none":
            return NO_VERSIONS
        if text.endswith("+"):
            return cls(int(text[:-1]), VERSION_MAX)
        first, _, last = text.partition("-")
        return cls(int(first), int(last or first))

    def __contains__(self, version: int) -> bool:
        return self.first <= version <= self.last

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.first, self.last + 1))

    def covers(self, other: "VersionRange") -> bool:
        return self.first <= other.first and other.last <= self.last

    def __str__(self) -> str:
        if self.first > self.last:
            return "none"
        if self.last == VERSION_MAX:
            return f"{self.first}+"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


NO_VERSIONS: Final = VersionRange(0, -1)
ALL_VERSIONS: Final = VersionRange(0, VERSION_MAX)
