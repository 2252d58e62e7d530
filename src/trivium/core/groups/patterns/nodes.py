"""What a regular expression is made of."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

CharSet = int
"""Characters as bits, by their numbers. Names of topics are ASCII, so 128 bits say everything."""

ASCII_COUNT: Final = 128
ALL: Final[CharSet] = (1 << ASCII_COUNT) - 1


class Edge(Enum):
    """A condition on what stands before and behind a place."""

    BEGIN = auto()
    END = auto()
    WORD = auto()
    NO_WORD = auto()


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of a set."""

    chars: CharSet


@dataclass(frozen=True, slots=True)
class At:
    edge: Edge


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other; of none: nothing."""

    nodes: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    nodes: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    node: "Node"
    count_min: int
    count_max: int | None
    """None is as often as it likes."""


Node = Chars | At | Sequence | Choice | Repeat
EMPTY: Final = Sequence(())
