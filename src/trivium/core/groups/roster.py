"""The groups of a shard by their ids, of whatever protocol: one id is one group."""

from typing import ClassVar, Protocol

from trivium.core.faults import Fault, Refused
from trivium.core.groups.consumer.group import ConsumerGroup
from trivium.core.groups.group import ClassicGroup
from trivium.core.groups.moment import Moment
from trivium.core.groups.offsets import CommittedOffset
from trivium.core.groups.share.group import ShareGroup


class AnyGroup(Protocol):
    """What a group of every protocol can be asked."""

    TYPE: ClassVar[str]
    group_id: str
    protocol_type: str | None

    @property
    def state_name(self) -> str: ...

    @property
    def is_empty(self) -> bool:
        """Whether it has no members."""

    @property
    def is_idle(self) -> bool:
        """Whether it has no members and expects none: only its offsets keep it."""

    def is_subscribed_to(self, topic: str) -> bool: ...

    def unused_from(self, committed: CommittedOffset) -> Moment | None:
        """Since when nobody needs an offset of a topic that nobody subscribes to; None while somebody may."""

    def die(self, fault: Fault) -> None:
        """Nobody may use this group any more; whoever waits in it is told why."""


class Roster(dict[str, AnyGroup]):
    def classic(self, group_id: str) -> ClassicGroup | None:
        """None also if it is a group of another protocol."""
        group = self.get(group_id)
        return group if isinstance(group, ClassicGroup) else None

    def consumer(self, group_id: str) -> ConsumerGroup | None:
        group = self.get(group_id)
        return group if isinstance(group, ConsumerGroup) else None

    def require_consumer(self, group_id: str) -> ConsumerGroup:
        group = self.get(group_id)
        if group is None:
            raise Refused(Fault.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if not isinstance(group, ConsumerGroup):
            raise Refused(Fault.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
        return group

    def share(self, group_id: str) -> ShareGroup | None:
        group = self.get(group_id)
        return group if isinstance(group, ShareGroup) else None

    def require_share(self, group_id: str) -> ShareGroup:
        group = self.get(group_id)
        if group is None:
            raise Refused(Fault.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if not isinstance(group, ShareGroup):
            raise Refused(Fault.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")
        return group
