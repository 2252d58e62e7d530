"""The entries that are in force, and what they say about a question: one decision, as Kafka decides it.

All entries count whose pattern covers the name: the literal one, the wildcard ``*``, and every prefix. A deny
wins over any number of allows. Who is asked for, and ``User:*``; from its address, and from ``*``.

A decision looks at the entries of the one principal, by name; prefixes by each of the lengths that there are.
What was decided is remembered until the next change, so that the common question costs one look. Neither
depends on how many entries there are (``bench/access.py``).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from typing import Final

from trivium.core.acls.entry import (
    ANYBODY,
    WILDCARD,
    AccessControlEntry,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)

REMEMBERED_MAX: Final = 1 << 16
"""Decisions that are remembered; then all are forgotten at once. About 10 MB: names come from peers."""


class Verdict(Enum):
    ALLOWED = auto()
    DENIED = auto()
    """An entry says so."""
    NOTHING_APPLIES = auto()
    """No entry is about this question."""


class _Cell:
    """The entries about one pattern. What they add up to is worked out when it is first asked for."""

    __slots__ = ("_allowed", "_denied", "_is_current", "entries")

    def __init__(self) -> None:
        self.entries: Counter[AccessControlEntry] = Counter()
        """A log of somebody else's may hold one twice."""
        self._allowed: dict[str, int] = {}
        """By host, one bit for each operation."""
        self._denied: dict[str, int] = {}
        self._is_current = True

    def add(self, entry: AccessControlEntry) -> None:
        self.entries[entry] += 1
        self._is_current = False

    def remove(self, entry: AccessControlEntry) -> None:
        self.entries[entry] -= 1
        if not self.entries[entry]:
            del self.entries[entry]
        self._is_current = False

    def look(self, host: str, bit: int) -> Verdict:
        """What is said about an operation from this address, by this pattern alone."""
        if not self._is_current:
            self._add_up()
        allowed, denied = self._allowed, self._denied
        if denied and (denied.get(host, 0) | denied.get(WILDCARD, 0)) & bit:
            return Verdict.DENIED
        if (allowed.get(WILDCARD, 0) | allowed.get(host, 0)) & bit:
            return Verdict.ALLOWED
        return Verdict.NOTHING_APPLIES

    def _add_up(self) -> None:
        self._allowed, self._denied, self._is_current = {}, {}, True
        for entry in self.entries:
            bits = self._allowed if entry.permission is Permission.ALLOW else self._denied
            bits[entry.host] = bits.get(entry.host, 0) | sum(1 << each for each in entry.covered)


class _Patterns:
    """Entries about one type of resource, by what their patterns cover."""

    __slots__ = ("_lengths", "_lengths_counts", "_literal", "_prefixed")

    def __init__(self) -> None:
        self._literal: dict[str, _Cell] = {}
        self._prefixed: dict[str, _Cell] = {}
        self._lengths: list[int] = []
        """Of all prefixes, each once, the shortest first."""
        self._lengths_counts: Counter[int] = Counter()

    def add(self, entry: AccessControlEntry) -> None:
        cells, name = self._cells(entry), entry.resource_name
        if name not in cells:
            cells[name] = _Cell()
            if cells is self._prefixed:
                self._count(len(name), 1)
        cells[name].add(entry)

    def remove(self, entry: AccessControlEntry) -> None:
        cells, name = self._cells(entry), entry.resource_name
        cells[name].remove(entry)
        if not cells[name].entries:
            del cells[name]
            if cells is self._prefixed:
                self._count(len(name), -1)

    def _cells(self, entry: AccessControlEntry) -> dict[str, _Cell]:
        return self._literal if entry.pattern_type is PatternType.LITERAL else self._prefixed

    def _count(self, length: int, more: int) -> None:
        self._lengths_counts[length] += more
        self._lengths = sorted(length for length, count in self._lengths_counts.items() if count)

    @property
    def is_empty(self) -> bool:
        return not self._literal and not self._prefixed

    def covering(self, name: str) -> Iterator[_Cell]:
        """Whatever is said about this name."""
        literal, prefixed = self._literal, self._prefixed
        if name in literal:
            yield literal[name]
        if WILDCARD in literal and name != WILDCARD:
            yield literal[WILDCARD]
        for length in self._lengths:
            if length > len(name):
                break
            if (cell := prefixed.get(name[:length])) is not None:
                yield cell

    def entries(self) -> Iterator[AccessControlEntry]:
        for cells in (self._literal, self._prefixed):
            for cell in cells.values():
                yield from cell.entries


class Rules:
    def __init__(self, entries: Iterable[AccessControlEntry] = ()) -> None:
        self._of: dict[tuple[str, int], _Patterns] = {}
        """By principal and type of resource."""
        self._about: dict[int, _Patterns] = {}
        """By type of resource, whoever they are for."""
        self._remembered: dict[tuple[str, str, Operation, int, str], Verdict] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: AccessControlEntry) -> None:
        self._remembered.clear()
        self._of.setdefault((entry.principal, entry.resource_type), _Patterns()).add(entry)
        self._about.setdefault(entry.resource_type, _Patterns()).add(entry)

    def remove(self, entry: AccessControlEntry) -> None:
        self._remembered.clear()
        key = (entry.principal, entry.resource_type)
        self._of[key].remove(entry)
        if self._of[key].is_empty:
            del self._of[key]
        self._about[entry.resource_type].remove(entry)

    def verdict(
        self, principal: str, host: str, operation: Operation, resource_type: int, name: str
    ) -> Verdict:
        """``resource_type`` is one of ``ResourceType``, or of those that have its numbers."""
        question = (principal, host, operation, resource_type, name)
        remembered = self._remembered.get(question)
        if remembered is not None:
            return remembered
        if len(self._remembered) >= REMEMBERED_MAX:
            self._remembered.clear()
        verdict = self._remembered[question] = self._decided(*question)
        return verdict

    def speak_of(self, resource_type: int, name: str) -> bool:
        """Whether any entry is about this resource, whoever it is for."""
        about = self._about.get(resource_type)
        return about is not None and next(about.covering(name), None) is not None

    def _decided(
        self, principal: str, host: str, operation: Operation, resource_type: int, name: str
    ) -> Verdict:
        bit = 1 << operation
        is_allowed = False
        for who in (principal, ANYBODY):
            patterns = self._of.get((who, resource_type))
            if patterns is None:
                continue
            for cell in patterns.covering(name):
                verdict = cell.look(host, bit)
                if verdict is Verdict.DENIED:
                    return verdict
                is_allowed = is_allowed or verdict is Verdict.ALLOWED
        return Verdict.ALLOWED if is_allowed else Verdict.NOTHING_APPLIES

    def allows_somewhere(
        self, principal: str, host: str, operation: Operation, resource_type: ResourceType
    ) -> bool:
        """Whether there may be a resource of this type that this may be done to. A pattern that a deny covers
        whole does not count; what denies of single names leave of a prefix does.
        """
        allowed: list[AccessControlEntry] = []
        denied: list[AccessControlEntry] = []
        for who in (principal, ANYBODY):
            patterns = self._of.get((who, resource_type))
            for entry in () if patterns is None else patterns.entries():
                if entry.host in (host, WILDCARD) and operation in entry.covered:
                    (allowed if entry.permission is Permission.ALLOW else denied).append(entry)
        return any(not any(_covers(deny, allow) for deny in denied) for allow in allowed)


def _covers(deny: AccessControlEntry, allow: AccessControlEntry) -> bool:
    """Whether everything that the one allows is denied by the other."""
    if deny.pattern_type is PatternType.PREFIXED:
        is_wildcard = allow.pattern_type is PatternType.LITERAL and allow.resource_name == WILDCARD
        return not is_wildcard and allow.resource_name.startswith(deny.resource_name)
    return deny.resource_name == WILDCARD or (
        allow.pattern_type is PatternType.LITERAL and deny.resource_name == allow.resource_name
    )
