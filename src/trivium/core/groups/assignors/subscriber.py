"""What an assignor is told, and what it gives back."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

Part = tuple[bytes, int]
"""A partition: the id of its topic, and its number."""

Parts = frozenset[Part]

NOTHING: Final[Parts] = frozenset()


class Subscriber(NamedTuple):
    """A member of a group, as far as it matters for sharing the work."""

    topic_ids: frozenset[bytes]
    """What it reads: topics that are there."""
    held: Parts
    """What it was given the last time."""
    instance_id: str | None = None


Assignor = Callable[[Mapping[str, Subscriber], Mapping[bytes, Sequence[int]]], dict[str, Parts]]
"""Shares partitions, by topic and in ascending order, among subscribers by member id. Every partition that
has a subscriber is given to exactly one, and every subscriber has its place in the result."""
