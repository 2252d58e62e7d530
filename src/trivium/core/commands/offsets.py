"""How far groups have read: committing, looking up, forgetting.

An offset is the next to read; a door whose clients mean the last one read converts.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Resource, Row, on_each, on_group
from trivium.core.commands.command import Command, TopicRef, command
from trivium.core.commands.groups import NO_GENERATION, NO_MEMBER_ID
from trivium.core.commands.producers import Writer
from trivium.core.faults import Fault
from trivium.wire.uuid_text import ZERO_UUID

NO_COMMITTED_OFFSET = -1
NO_LEADER_EPOCH = -1


class OffsetToCommit(NamedTuple):
    topic: TopicRef
    partition: int
    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str | None = None
    committed_at_ms: int | None = None
    """For clients that know better than the broker's clock; they were few, and long ago."""


class CommittedPart(NamedTuple):
    topic: TopicRef
    partition: int
    fault: Fault | None = None


@command
class CommitOffsets(Command[list[CommittedPart]]):
    """Store offsets of a group. Whoever is no member of it (a simple consumer) has generation -1, and may do
    so as long as nobody is a member.
    """

    ROW: ClassVar[Row] = on_group(Operation.READ)
    group_id: str
    parts: Sequence[OffsetToCommit]
    member_id: str = NO_MEMBER_ID
    instance_id: str | None = None
    generation: int = NO_GENERATION
    retention_ms: int | None = None
    """How long to keep them, if not for as long as all others."""
    knows_member_epochs: bool = True
    """Whether the client understands that its epoch is stale: members of consumer groups must (KIP-848)."""
    shares_only: bool = False
    """By a group of another protocol that has the same name: it shares the offsets, not the members."""
    writer: Writer | None = None
    """They count once this producer's transaction is committed, which has been asked about."""

    def refused(self, fault: Fault, message: str | None = None) -> list[CommittedPart]:
        return [CommittedPart(part.topic, part.partition, fault) for part in self.parts]


class GroupOffsetsWanted(NamedTuple):
    group_id: str
    parts: Sequence[tuple[TopicRef, int]] | None
    """None asks for all that there are."""
    member_id: str | None = None
    """Whoever says that it is a member of a consumer group is refused if it is none (KIP-848)."""
    member_epoch: int = NO_GENERATION


class FoundOffset(NamedTuple):
    topic: TopicRef
    partition: int
    fault: Fault | None = None
    offset: int = NO_COMMITTED_OFFSET
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    topic_id: bytes = ZERO_UUID
    """Of the topic that has this name now."""


class GroupOffsets(NamedTuple):
    group_id: str
    fault: Fault | None = None
    offsets: Sequence[FoundOffset] = ()


@command
class FetchOffsets(Command[list[GroupOffsets]]):
    """The committed offsets of groups. ``require_stable``: rather none than one that an open transaction is
    about to change (KIP-447).
    """

    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE, Resource.GROUP)
    groups: Sequence[GroupOffsetsWanted]
    require_stable: bool = False

    def refused(self, fault: Fault, message: str | None = None) -> list[GroupOffsets]:
        return [GroupOffsets(group.group_id, fault) for group in self.groups]


class DeletedOffsets(NamedTuple):
    fault: Fault | None = None
    parts: Sequence[CommittedPart] = ()


@command
class DeleteOffsets(Command[DeletedOffsets]):
    """Forget offsets of topics that no member of the group reads."""

    ROW: ClassVar[Row] = on_group(Operation.DELETE)
    group_id: str
    parts: Sequence[tuple[str, int]]

    def refused(self, fault: Fault, message: str | None = None) -> DeletedOffsets:
        return DeletedOffsets(fault)
