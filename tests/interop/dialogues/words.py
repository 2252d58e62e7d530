"""Requests made by chance from the classes of messages: for each field a pool of what people say, and of what
is odd. A field without a pool has its default, or nothing much.

A pool belongs to a field name, or to one of one struct (``CreatableTopic.name``). It may give whole lists. Of
most requests everything is likely, so that a dialogue gets somewhere; of some a word is odd, of few many are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from trivium.messages.schema import Field, ListOf, Request, StructType
from trivium.messages.types import Blob, FixedSize, Text

ODD_CHANCES: Final = (0.0, 0.0, 0.0, 0.08, 0.08, 0.3)
"""Of a word, in one request or another."""

NAMES: Final = (
    "name",
    "topic",
    "topic_name",
    "topic_id",
    "index",
    "partition",
    "partition_index",
    "group_id",
    "member_id",
    "transactional_id",
    "resource_type",
    "resource_name",
    "feature",
    "path",
    "key",
    "entity",
)
"""What tells one item of a list from another."""
NEVER_EMPTY: Final = frozenset(("transactions",))
"""Kafka answers an AddPartitionsToTxn without transactions never."""
NEVER_SEVERAL: Final = frozenset(("dirs",))
"""One partition may be moved to one directory: Kafka keeps the last that it is told."""


@dataclass(frozen=True)
class Pool:
    likely: Sequence[Any]
    odd: Sequence[Any] = ()


Words = Mapping[str, Pool]
Versions = Mapping[int, Sequence[int]]


class Chance:
    """Makes requests of one seed in the words of one family."""

    def __init__(self, random: Random, words: Words) -> None:
        self.random = random
        self._words = words
        self._odd_chance = 0.0

    def request(self, kind: type[Request], version: int) -> Request:
        self._odd_chance = self.random.choice(ODD_CHANCES)
        made: Request = self._struct(kind, version)
        return made

    def version(self, kind: type[Request], versions: Versions) -> int:
        """The newest mostly, the oldest often, and any between."""
        served = versions[kind.API_KEY]
        return self.random.choice((served[-1], served[-1], served[0], self.random.choice(served)))

    def _struct(self, kind: Any, version: int) -> Any:
        values = {
            each.name: self._field(kind, each, version) for each in kind.fields if version in each.versions
        }
        absent = {
            each.name: self._blank(each)
            for each in kind.fields
            if version not in each.versions and each.rules.is_required
        }
        return kind(**values, **absent)

    def _field(self, kind: StructType, each: Field, version: int) -> Any:
        pool = self._words.get(f"{kind.__name__}.{each.name}")
        if pool is None and not _holds_structs(each):
            pool = self._words.get(each.name)
        is_odd = self.random.random() < self._odd_chance
        if is_odd and pool is None and version in each.nullable and self.random.random() < 0.3:
            return None
        if pool is not None:
            value = self.random.choice(pool.odd if is_odd and pool.odd else pool.likely)
            return value(self.random) if callable(value) else value
        if isinstance(each.type, ListOf) and isinstance(each.type.element, StructType):
            count = self.random.choice((0, 2, 2, 3)) if is_odd else self.random.choice((1, 1, 1, 2))
            count = max(count, each.name in NEVER_EMPTY) if each.name not in NEVER_SEVERAL else 1
            return _once_each([self._struct(each.type.element, version) for _ in range(count)])
        if isinstance(each.type, StructType):
            return self._struct(each.type, version)
        if not each.rules.is_required:
            return each.rules.default_value()
        if isinstance(each.type, FixedSize) and each.type.letter == "?":
            return is_odd
        return self._blank(each)

    def _blank(self, each: Field) -> Any:
        if isinstance(each.type, ListOf):
            return []
        if isinstance(each.type, Text | Blob | FixedSize):
            return each.type.zero
        raise AssertionError(f"{each.name} needs a pool")


def _once_each(items: list[Any]) -> list[Any]:
    """Nothing named twice: Kafka's hash tables keep the first or the last of them, as it happens."""
    return list({_name(item) or number: item for number, item in enumerate(items)}.values())


def _name(item: Any) -> tuple[Any, ...]:
    return tuple(repr(getattr(item, name)) for name in NAMES if hasattr(item, name))


def _holds_structs(each: Field) -> bool:
    """Such lists have the same names in requests of all kinds."""
    return isinstance(each.type, ListOf) and isinstance(each.type.element, StructType)
