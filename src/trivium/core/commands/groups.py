"""Groups: who is a member, who reads what, and what tools want to know about it.

The classic protocol: members join, one of them is told to lead and hands out the work, all of them fetch
their part and then beat their hearts. What members tell each other (subscriptions, assignments) is theirs:
the broker carries it.
"""

from collections.abc import Sequence
from enum import Enum, auto
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Resource, Row, on_each, on_group
from trivium.core.commands.command import Command, command
from trivium.core.commands.topics import Node
from trivium.core.faults import Fault

NO_MEMBER_ID = ""
"""Who has none yet says so with this."""
NO_GENERATION = -1


# -- finding ---------------------------------------------------------------------------------------


class CoordinatorKind(Enum):
    """Of what the state is looked after."""

    GROUP = auto()
    TRANSACTION = auto()
    SHARE_PARTITION = auto()


class FoundCoordinator(NamedTuple):
    key: str
    fault: Fault | None = None
    message: str | None = None
    node: Node | None = None


@command
class FindCoordinators(Command[list[FoundCoordinator]]):
    """Which node looks after these groups, or after other things with a coordinator."""

    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE, Resource.GROUP)
    kind: CoordinatorKind
    keys: Sequence[str]

    def refused(self, fault: Fault, message: str | None = None) -> list[FoundCoordinator]:
        return [FoundCoordinator(key, fault, message) for key in self.keys]


# -- being a member --------------------------------------------------------------------------------


class Protocol(NamedTuple):
    """A way of sharing the work that a member knows, and what the leader must know of it for that."""

    name: str
    metadata: bytes


class JoinedMember(NamedTuple):
    """What the leader is told of each member."""

    member_id: str
    instance_id: str | None
    metadata: bytes


class Joined(NamedTuple):
    member_id: str
    fault: Fault | None = None
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = ""
    members: Sequence[JoinedMember] = ()
    """For the leader only."""
    skip_assignment: bool = False
    """The leader is back and finds everything assigned already."""


@command
class JoinGroup(Command[Joined]):
    """Become or stay a member. Answered when the group has found together."""

    ROW: ClassVar[Row] = on_group(Operation.READ)
    group_id: str
    member_id: str
    instance_id: str | None
    """A static member keeps its place under this name over restarts (KIP-345)."""
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: Sequence[Protocol]
    wants_member_id: bool = True
    """Whether a newcomer is given an id first and joins again with it (KIP-394)."""
    can_skip_assignment: bool = True
    """Whether a returning leader understands that there is nothing to assign (KIP-814)."""

    def refused(self, fault: Fault, message: str | None = None) -> Joined:
        return Joined(self.member_id, fault)


class Synced(NamedTuple):
    fault: Fault | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


@command
class SyncGroup(Command[Synced]):
    """Fetch one's own assignment; from the leader: hand out everybody's."""

    ROW: ClassVar[Row] = on_group(Operation.READ)
    group_id: str
    member_id: str
    instance_id: str | None
    generation: int
    protocol_type: str | None
    protocol_name: str | None
    assignments: Sequence[tuple[str, bytes]]
    """By member id."""

    def refused(self, fault: Fault, message: str | None = None) -> Synced:
        return Synced(fault)


@command
class Heartbeat(Command[Fault | None]):
    """A member says that it lives, and hears whether it is to join again."""

    ROW: ClassVar[Row] = on_group(Operation.READ)
    group_id: str
    member_id: str
    instance_id: str | None
    generation: int

    def refused(self, fault: Fault, message: str | None = None) -> Fault | None:
        return fault


class Leaver(NamedTuple):
    """Who goes: by member id, or a static member by its instance id alone."""

    member_id: str
    instance_id: str | None = None


class LeftMember(NamedTuple):
    member_id: str
    instance_id: str | None
    fault: Fault | None = None


class Left(NamedTuple):
    fault: Fault | None = None
    members: Sequence[LeftMember] = ()


@command
class LeaveGroup(Command[Left]):
    ROW: ClassVar[Row] = on_group(Operation.READ)
    group_id: str
    members: Sequence[Leaver]

    def refused(self, fault: Fault, message: str | None = None) -> Left:
        return Left(fault)


# -- looking at groups -----------------------------------------------------------------------------


class ListedGroup(NamedTuple):
    group_id: str
    protocol_type: str
    state: str
    type: str


class ListedGroups(NamedTuple):
    fault: Fault | None = None
    groups: Sequence[ListedGroup] = ()


@command
class ListGroups(Command[ListedGroups]):
    """All groups, or those in some states and of some types; letters' case does not count."""

    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE, Resource.GROUP)
    states: Sequence[str] = ()
    types: Sequence[str] = ()

    def refused(self, fault: Fault, message: str | None = None) -> ListedGroups:
        return ListedGroups(fault)


class DescribedMember(NamedTuple):
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes
    assignment: bytes


class DescribedGroup(NamedTuple):
    group_id: str
    fault: Fault | None = None
    message: str | None = None
    state: str = ""
    protocol_type: str = ""
    protocol_name: str = ""
    members: Sequence[DescribedMember] = ()
    operations: frozenset[Operation] | None = None
    """What the caller may do with the group; None if it did not ask."""


@command
class DescribeGroups(Command[list[DescribedGroup]]):
    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE, Resource.GROUP)
    group_ids: Sequence[str]
    with_operations: bool = False

    def refused(self, fault: Fault, message: str | None = None) -> list[DescribedGroup]:
        return [DescribedGroup(group_id, fault, message) for group_id in self.group_ids]


class DeletedGroup(NamedTuple):
    group_id: str
    fault: Fault | None = None


@command
class DeleteGroups(Command[list[DeletedGroup]]):
    """Forget groups without members, and everything they have committed."""

    ROW: ClassVar[Row] = on_each(Operation.DELETE, Resource.GROUP)
    group_ids: Sequence[str]

    def refused(self, fault: Fault, message: str | None = None) -> list[DeletedGroup]:
        return [DeletedGroup(group_id, fault) for group_id in self.group_ids]
