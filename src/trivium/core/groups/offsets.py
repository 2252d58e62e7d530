"""What groups have committed, and what open transactions are about to commit for them.

Knows no group: an offset may be committed by members of a classic group, of one of another protocol, by a
simple consumer, or by another door of the broker.
"""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import NamedTuple

from trivium.core.groups.moment import Moment

Place = tuple[str, int]
"""Topic and partition."""


class CommittedOffset(NamedTuple):
    offset: int
    """The next to read."""
    leader_epoch: int
    metadata: str
    since: Moment
    expires_at_ms: int | None
    """By the wall clock, where whoever committed said so; all others expire by the broker's rule."""
    topic_id: bytes
    """Zeros if it is not known, as in offsets that a transaction committed."""

    def is_expired(self, now: Moment, retention_ms: int, from_: Moment) -> bool:
        """Whether it has been kept long enough, counted from the time when the group last used it."""
        if self.expires_at_ms is not None:
            return now.since_ms(self.since) >= self.expires_at_ms - self.since.wall_ms
        return now.since_ms(from_) >= retention_ms


Offsets = dict[Place, CommittedOffset]


class OffsetTable:
    def __init__(self) -> None:
        self._by_group: dict[str, Offsets] = {}
        self._open: dict[int, dict[str, dict[Place, tuple[int, CommittedOffset]]]] = {}
        """By the producer whose transaction has not been decided; each with its turn among all of them."""
        self._turns = count()

    def of(self, group_id: str) -> Mapping[Place, CommittedOffset]:
        return self._by_group.get(group_id, {})

    def __iter__(self) -> Iterator[str]:
        """The groups that have committed anything."""
        return iter(self._by_group)

    def put(self, group_id: str, place: Place, committed: CommittedOffset) -> None:
        """A later commit also wins over one that a transaction has pending."""
        self._by_group.setdefault(group_id, {})[place] = committed
        if self._open:
            self._forget_pending(group_id, place)

    def forget(self, group_id: str, place: Place) -> None:
        offsets = self._by_group.get(group_id)
        if offsets is not None and offsets.pop(place, None) is not None and not offsets:
            del self._by_group[group_id]
        if self._open:
            self._forget_pending(group_id, place)

    # -- transactions ----------------------------------------------------------------------------

    def put_pending(self, producer_id: int, group_id: str, place: Place, committed: CommittedOffset) -> None:
        pending = self._open.setdefault(producer_id, {}).setdefault(group_id, {})
        pending[place] = (next(self._turns), committed)

    def end_transaction(self, producer_id: int, *, committed: bool) -> None:
        """Of two transactions that commit for one place the later commit wins, whichever is decided first."""
        for group_id, offsets in self._open.pop(producer_id, {}).items():
            if committed:
                for place, (turn, offset) in offsets.items():
                    self._by_group.setdefault(group_id, {})[place] = offset
                    self._forget_pending(group_id, place, turn)

    def is_pending(self, group_id: str, place: Place) -> bool:
        return any(place in groups.get(group_id, ()) for groups in self._open.values())

    def pending_places(self, group_id: str) -> set[Place]:
        return {place for groups in self._open.values() for place in groups.get(group_id, ())}

    def _forget_pending(self, group_id: str, place: Place, turn_end: int | None = None) -> None:
        """What transactions have pending for a place, if its turn came before ``turn_end``."""
        for groups in self._open.values():
            offsets = groups.get(group_id, {})
            if place in offsets and (turn_end is None or offsets[place][0] < turn_end):
                del offsets[place]
