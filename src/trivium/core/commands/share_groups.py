"""Share groups (KIP-932): members read the same partitions side by side, and every record is given to one of
them at a time. Here: who is a member, and where a group stands.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Resource, Row, on_each, on_group
from trivium.core.commands.command import Command, command
from trivium.core.commands.consumer_groups import NamedPartitions, Partitions
from trivium.core.faults import Fault

# -- members ---------------------------------------------------------------------------------------


class ShareBeat(NamedTuple):
    fault: Fault | None = None
    message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Partitions | None = None
    """What the member may read from now on; None as long as that is what it was told last."""


@command
class ShareHeartbeat(Command[ShareBeat]):
    """Join (epoch 0), live on, or leave (-1). None in any field says that it is as it was."""

    ROW: ClassVar[Row] = on_group(Operation.READ)
    group_id: str
    member_id: str
    member_epoch: int
    rack_id: str | None = None
    topic_names: Sequence[str] | None = None

    def refused(self, fault: Fault, message: str | None = None) -> ShareBeat:
        return ShareBeat(fault, message)


class DescribedShareMember(NamedTuple):
    member_id: str
    rack_id: str | None
    member_epoch: int
    client_id: str
    client_host: str
    topic_names: Sequence[str]
    assignment: Sequence[NamedPartitions]


class DescribedShareGroup(NamedTuple):
    group_id: str
    fault: Fault | None = None
    message: str | None = None
    state: str = ""
    epoch: int = 0
    assignment_epoch: int = 0
    assignor: str = ""
    members: Sequence[DescribedShareMember] = ()
    operations: frozenset[Operation] | None = None
    """What the caller may do with the group; None if it did not ask."""


@command
class DescribeShareGroups(Command[list[DescribedShareGroup]]):
    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE, Resource.GROUP)
    group_ids: Sequence[str]
    with_operations: bool = False

    def refused(self, fault: Fault, message: str | None = None) -> list[DescribedShareGroup]:
        return [DescribedShareGroup(group_id, fault, message) for group_id in self.group_ids]


# -- where a group stands --------------------------------------------------------------------------

NO_START_OFFSET = -1
"""Nobody has read the partition for this group yet."""
NO_LAG = -1


class ShareStart(NamedTuple):
    """Records before ``start_offset`` are done with; ``lag`` of those from there on are not."""

    partition: int
    start_offset: int = NO_START_OFFSET
    leader_epoch: int = 0
    lag: int = NO_LAG
    fault: Fault | None = None
    message: str | None = None


class ShareStarts(NamedTuple):
    topic_name: str
    topic_id: bytes
    partitions: Sequence[ShareStart]


class ShareGroupOffsets(NamedTuple):
    group_id: str
    fault: Fault | None = None
    message: str | None = None
    topics: Sequence[ShareStarts] = ()


class ShareGroupOffsetsWanted(NamedTuple):
    group_id: str
    topics: Mapping[str, Sequence[int]] | None
    """Partitions by the names of topics; None: all that the group has."""


@command
class DescribeShareOffsets(Command[list[ShareGroupOffsets]]):
    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE, Resource.GROUP)
    groups: Sequence[ShareGroupOffsetsWanted]

    def refused(self, fault: Fault, message: str | None = None) -> list[ShareGroupOffsets]:
        return [ShareGroupOffsets(wanted.group_id, fault, message) for wanted in self.groups]


class AlteredShareOffsets(NamedTuple):
    """``ShareStart`` says only what went wrong."""

    fault: Fault | None = None
    message: str | None = None
    topics: Sequence[ShareStarts] = ()


@command
class AlterShareOffsets(Command[AlteredShareOffsets]):
    """Have a group without members begin somewhere else. A group that is not there is made."""

    ROW: ClassVar[Row] = on_group(Operation.READ)
    group_id: str
    topics: Sequence[tuple[str, Sequence[tuple[int, int]]]]
    """Partitions and offsets by the name of their topic."""

    def refused(self, fault: Fault, message: str | None = None) -> AlteredShareOffsets:
        return AlteredShareOffsets(fault, message)


class DeletedShareTopic(NamedTuple):
    topic_name: str
    topic_id: bytes
    fault: Fault | None = None
    message: str | None = None


class DeletedShareOffsets(NamedTuple):
    fault: Fault | None = None
    message: str | None = None
    topics: Sequence[DeletedShareTopic] = ()


@command
class DeleteShareOffsets(Command[DeletedShareOffsets]):
    """Forget where a group without members stands in some topics."""

    ROW: ClassVar[Row] = on_group(Operation.DELETE)
    group_id: str
    topic_names: Sequence[str]

    def refused(self, fault: Fault, message: str | None = None) -> DeletedShareOffsets:
        return DeletedShareOffsets(fault, message)
