"""A share group (KIP-932) as plain state: members, epochs, who is to read what, and where it has begun.

    group epoch         grows when members come, go or subscribe to something else, or topics change
    assignment epoch    the group epoch for which the target assignment was worked out
    member epoch        the assignment epoch that a member has come to

Members need not give anything up before others get it: they share partitions, and records keep them apart.
So a member has its target as soon as it is heard of. Nothing here knows the time, logs or the outside; faults
are raised as ``Refused``.
"""

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import ClassVar, Final, NamedTuple

from trivium.core.faults import Fault, Refused
from trivium.core.groups.assignors.subscriber import NOTHING, Part, Parts
from trivium.core.groups.moment import Moment
from trivium.core.groups.offsets import CommittedOffset
from trivium.core.groups.share.share_partition import ShareKey
from trivium.core.timers import Timer

FIRST_EPOCH: Final = 1
JOINING_EPOCH: Final = 0
LEAVING_EPOCH: Final = -1


class GroupState(Enum):
    """The values are the names that clients see."""

    EMPTY = "Empty"
    STABLE = "Stable"
    DEAD = "Dead"


class Profile(NamedTuple):
    """What a member has said of itself."""

    client_id: str = ""
    client_host: str = ""
    rack_id: str | None = None
    topic_names: frozenset[str] = frozenset()


class Holding(NamedTuple):
    """What a member may read."""

    epoch: int = JOINING_EPOCH
    previous_epoch: int = JOINING_EPOCH
    parts: Parts = NOTHING


class ShareMember:
    __slots__ = ("holding", "member_id", "profile", "session")

    def __init__(self, member_id: str) -> None:
        self.member_id = member_id
        self.profile = Profile()
        self.holding = Holding()
        self.session: Timer | None = None

    def end_session(self) -> None:
        if self.session is not None:
            self.session.cancel()
            self.session = None


class ShareGroup:
    TYPE: ClassVar[str] = "share"
    protocol_type: str | None = "share"

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = FIRST_EPOCH
        self.assignment_epoch = 0
        self.assigned_at: Moment | None = None
        """When the target assignment was worked out; None if nobody wrote it down."""
        self.metadata_hash = 0
        """Of the topics that are subscribed to: another one says that they have changed."""
        self.seen_metadata_offset: int | None = None
        """Up to where the metadata log was known when they were last looked at, in this run."""
        self.members: dict[str, ShareMember] = {}
        self.target: dict[str, Parts] = {}
        """What each member is to read, by member id."""
        self.begun: Parts = NOTHING
        """Where the group has begun to read: only there records may be given out."""
        self.is_dead = False

    # -- looking ---------------------------------------------------------------------------------

    @property
    def state_name(self) -> str:
        if self.is_dead:
            return GroupState.DEAD.value
        return GroupState.STABLE.value if self.members else GroupState.EMPTY.value

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def is_idle(self) -> bool:
        """A share group stays, and with it where it stands, until somebody deletes it."""
        return False

    def member(self, member_id: str) -> ShareMember:
        member = self.members.get(member_id)
        if member is None:
            raise Refused(
                Fault.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {self.group_id}."
            )
        return member

    def is_subscribed_to(self, topic: str) -> bool:
        return any(topic in member.profile.topic_names for member in self.members.values())

    def share_keys(self, parts: Iterable[Part] | None = None) -> Iterator[ShareKey]:
        """Under which its state is kept, for these partitions or for all where it has begun."""
        for topic_id, number in sorted(self.begun if parts is None else parts):
            yield ShareKey(self.group_id, topic_id, number)

    def unused_from(self, committed: CommittedOffset) -> Moment | None:
        """Share groups commit no offsets; what lies there under their name is of another group."""
        return committed.since

    # -- changing --------------------------------------------------------------------------------

    def ensure(self, member_id: str) -> ShareMember:
        """Records of one member may come in any order: compaction keeps the last of each kind."""
        member = self.members.get(member_id)
        if member is None:
            self.members[member_id] = member = ShareMember(member_id)
        return member

    def remove(self, member_id: str) -> None:
        member = self.members.pop(member_id, None)
        if member is not None:
            member.end_session()

    def die(self, fault: Fault) -> None:
        """Nobody may use this group any more; nobody waits in it for an answer."""
        self.is_dead = True
        for member in self.members.values():
            member.end_session()
