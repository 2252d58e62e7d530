"""The target assignment of a group whose work the broker shares out, as one step of the group leaves it.

Consumer groups and share groups work it out alike. What they write down of it is theirs.
"""

from collections.abc import Mapping
from typing import Protocol

from trivium.core.groups.assignors.subscriber import NOTHING, Assignor, Parts, Subscriber
from trivium.core.groups.moment import Moment
from trivium.core.metadata_topics import Topic


class Targeted(Protocol):
    """A group, as far as its target assignment is concerned."""

    assignment_epoch: int
    assigned_at: Moment | None
    target: dict[str, Parts]


class Target:
    """What each member is to have. Begins as the group knows it, and leaves the group as it is."""

    __slots__ = ("_assigned_at", "_by_member", "epoch")

    def __init__(self, group: Targeted) -> None:
        self.epoch = group.assignment_epoch
        """The epoch of the group for which it was worked out."""
        self._assigned_at = group.assigned_at
        self._by_member: Mapping[str, Parts] = group.target

    def of(self, member_id: str) -> Parts:
        return self._by_member.get(member_id, NOTHING)

    def hand_over(self, former_id: str, member_id: str) -> Parts:
        """A member is to have what another one, who is gone, was to have until now."""
        parts = self.of(former_id)
        self._by_member = {**self._by_member, member_id: parts}
        return parts

    def is_due(self, epoch: int, now: Moment, interval_ms: int) -> bool:
        """Whether the group has moved on, and what was worked out last stood for long enough."""
        if epoch == self.epoch:
            return False
        return self._assigned_at is None or now.since_ms(self._assigned_at) >= interval_ms

    def work_out(
        self,
        epoch: int,
        subscribers: Mapping[str, Subscriber],
        topics: Mapping[bytes, Topic],
        assignor: Assignor,
    ) -> list[str]:
        """Share everything out anew. Returns who is to have something else than before."""
        wanted = {topic_id for subscriber in subscribers.values() for topic_id in subscriber.topic_ids}
        partitions = {topic_id: sorted(topics[topic_id].partitions) for topic_id in sorted(wanted)}
        before, after = self._by_member, assignor(subscribers, partitions)
        self.epoch, self._by_member = epoch, after
        return [member_id for member_id in sorted(after) if before.get(member_id) != after[member_id]]
