"""Which names match a regular expression as a whole.

An expression becomes a program, and a name is held against all ways through it at once (Thompson's
construction): a step for every character and every place in the program, whatever the expression looks like.
Steps that were taken before are remembered, so that the names of many topics cost little more than their
letters.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from typing import Final

from trivium.core.groups.patterns.classes import WORD
from trivium.core.groups.patterns.nodes import At, Chars, CharSet, Choice, Edge, Node, Repeat, Sequence
from trivium.core.groups.patterns.syntax import InvalidPattern, parse

TEXT_CHARS_MAX: Final = 4096
"""How long the text of an expression may be, in characters."""
PROGRAM_MAX: Final = 10_000
"""How many instructions an expression may become; counted repetitions multiply what they repeat."""
STEPS_MAX: Final = 2_000_000
"""How many places of a program may be visited while all names are gone through: about a second."""
_REMEMBERED_MAX: Final = 20_000
_KNOWN_MAX: Final = 100_000


@dataclass(frozen=True, slots=True)
class _Consume:
    chars: CharSet


@dataclass(frozen=True, slots=True)
class _Check:
    edge: Edge


@dataclass(frozen=True, slots=True)
class _Fork:
    """Go on at all of these places."""

    to: tuple[int, ...]


_Instruction = _Consume | _Check | _Fork


class _Before(Enum):
    """What stands before a place: that much of it as edges ask for."""

    NOTHING = auto()
    WORD = auto()
    OTHER = auto()


Places = frozenset[int]


class Pattern:
    """``InvalidPattern`` if the text is none, or asks for too much."""

    def __init__(self, text: str) -> None:
        if len(text) > TEXT_CHARS_MAX:
            raise InvalidPattern(f"{len(text)} characters, {TEXT_CHARS_MAX} are allowed")
        self._program: list[_Instruction] = []
        self._compile(parse(text))
        self._end = len(self._program)
        self._remembered: dict[tuple[Places, _Before, str], Places] = {}
        self._known: dict[str, bool] = {}
        """Names that were asked for before: a look at all topics again costs little."""
        self._steps = 0

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        """Those of the names that match. ``InvalidPattern`` if that takes more than ``STEPS_MAX``."""
        self._steps = 0
        return frozenset(name for name in names if self._is_known_to_match(name))

    def _is_known_to_match(self, name: str) -> bool:
        known = self._known.get(name)
        if known is None:
            if len(self._known) >= _KNOWN_MAX:
                self._known.clear()
            self._known[name] = known = self._matches(name)
        return known

    def _matches(self, name: str) -> bool:
        places, before = frozenset({0}), _Before.NOTHING
        for char in name:
            key = (places, before, char)
            found = self._remembered.get(key)
            if found is None:
                if len(self._remembered) >= _REMEMBERED_MAX:
                    self._remembered.clear()
                self._remembered[key] = found = self._step(places, before, char)
            if not found:
                return False
            places = found
            before = _Before.WORD if WORD >> ord(char) & 1 else _Before.OTHER
        return self._end in self._reached(places, before, None)

    def _step(self, places: Places, before: _Before, char: str) -> Places:
        bit = 1 << ord(char)
        return frozenset(
            place + 1
            for place in self._reached(places, before, char)
            if place < self._end
            and isinstance(instruction := self._program[place], _Consume)
            and instruction.chars & bit
        )

    def _reached(self, places: Places, before: _Before, behind: str | None) -> set[int]:
        """Everything that can be come to from these places without reading on."""
        reached: set[int] = set()
        left = list(places)
        while left:
            place = left.pop()
            if place in reached:
                continue
            reached.add(place)
            if place == self._end:
                continue
            instruction = self._program[place]
            if isinstance(instruction, _Fork):
                left += instruction.to
            elif isinstance(instruction, _Check) and _holds(instruction.edge, before, behind):
                left.append(place + 1)
        self._steps += len(reached)
        if self._steps > STEPS_MAX:
            raise InvalidPattern("it takes too long to match")
        return reached

    # -- from nodes to instructions --------------------------------------------------------------

    def _add(self, instruction: _Instruction) -> int:
        if len(self._program) >= PROGRAM_MAX:
            raise InvalidPattern("the expression is too large")
        self._program.append(instruction)
        return len(self._program) - 1

    def _compile(self, node: Node) -> None:
        if isinstance(node, Chars):
            self._add(_Consume(node.chars))
        elif isinstance(node, At):
            self._add(_Check(node.edge))
        elif isinstance(node, Sequence):
            for each in node.nodes:
                self._compile(each)
        elif isinstance(node, Choice):
            self._compile_choice(node)
        else:
            self._compile_repeat(node)

    def _compile_choice(self, node: Choice) -> None:
        fork = self._add(_Fork(()))
        begins: list[int] = []
        ends: list[int] = []
        for each in node.nodes:
            begins.append(len(self._program))
            self._compile(each)
            ends.append(self._add(_Fork(())))
        self._program[fork] = _Fork(tuple(begins))
        for end in ends:
            self._program[end] = _Fork((len(self._program),))

    def _compile_repeat(self, node: Repeat) -> None:
        for _ in range(node.count_min):
            self._compile(node.node)
        if node.count_max is None:
            fork = self._add(_Fork(()))
            self._compile(node.node)
            self._add(_Fork((fork,)))
            self._program[fork] = _Fork((fork + 1, len(self._program)))
            return
        forks = []
        for _ in range(node.count_max - node.count_min):
            forks.append(self._add(_Fork(())))
            self._compile(node.node)
        for fork in forks:
            self._program[fork] = _Fork((fork + 1, len(self._program)))


def _holds(edge: Edge, before: _Before, behind: str | None) -> bool:
    if edge is Edge.BEGIN:
        return before is _Before.NOTHING
    if edge is Edge.END:
        return behind is None
    is_word = behind is not None and bool(WORD >> ord(behind) & 1)
    return ((before is _Before.WORD) != is_word) == (edge is Edge.WORD)


@lru_cache(maxsize=128)
def pattern(text: str) -> Pattern:
    """The same expression comes with every member that subscribes to it."""
    return Pattern(text)
