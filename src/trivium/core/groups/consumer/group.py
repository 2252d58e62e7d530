"""A consumer group (KIP-848) as plain state: members, epochs, and who is to read what.

    group epoch         grows when members come, go or subscribe to something else, or topics change
    assignment epoch    the group epoch for which the target assignment was worked out
    member epoch        the assignment epoch that a member has come to

    EMPTY       nobody is a member
    ASSIGNING   the target assignment is older than the group
    RECONCILING members are on their way to the target assignment
    STABLE      all of them hold it

DEAD is a group that has been deleted, or whose shard has been given up. Nothing here knows the time, logs or
the outside; faults are raised as ``Refused``.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import ClassVar, Final, NamedTuple

from trivium.core.commands.command import TopicRef
from trivium.core.commands.offsets import CommitOffsets
from trivium.core.faults import Fault, Refused
from trivium.core.groups.assignors.subscriber import Part, Parts
from trivium.core.groups.consumer.member import ConsumerMember, Holding, Profile
from trivium.core.groups.group import CONSUMER_PROTOCOL
from trivium.core.groups.moment import Moment
from trivium.core.groups.offsets import CommittedOffset

FIRST_EPOCH: Final = 1


class State(Enum):
    """The values are the names that clients see."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"


class Resolved(NamedTuple):
    """The topics whose names match a regular expression."""

    topics: frozenset[str]
    version: int
    """Up to where the metadata log was known then."""
    resolved_at_ms: int


def topics_of(profile: Profile, resolved: Mapping[str, Resolved]) -> frozenset[str]:
    """The names that a member subscribes to, by name or by pattern."""
    found = resolved.get(profile.topic_regex)
    return profile.topic_names if found is None else profile.topic_names | found.topics


class ConsumerGroup:
    TYPE: ClassVar[str] = "consumer"
    protocol_type: str | None = CONSUMER_PROTOCOL

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
        self.members: dict[str, ConsumerMember] = {}
        self.target: dict[str, Parts] = {}
        """What each member is to hold, by member id."""
        self.resolved: dict[str, Resolved] = {}
        """By regular expression."""
        self._static: dict[str, str] = {}
        """Member ids by instance id."""
        self._owners: dict[Part, str] = {}
        """Who holds a partition, or has not given it up yet."""
        self._subscribed: frozenset[str] | None = None
        self.is_dead = False
        """Another group has its place, or its shard has been given up: nothing may be done in its name."""

    # -- looking ---------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        if self.is_dead:
            return State.DEAD
        if not self.members:
            return State.EMPTY
        if self.epoch > self.assignment_epoch:
            return State.ASSIGNING
        if all(each.holding.is_reconciled_to(self.assignment_epoch) for each in self.members.values()):
            return State.STABLE
        return State.RECONCILING

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def is_idle(self) -> bool:
        return not self.members

    @property
    def is_all_classic(self) -> bool:
        """Whether it has members, and all of them speak the classic protocol."""
        return bool(self.members) and all(
            member.profile.classic is not None for member in self.members.values()
        )

    def is_free(self, part: Part) -> bool:
        return part not in self._owners

    def static_member(self, instance_id: str | None) -> ConsumerMember | None:
        member_id = None if instance_id is None else self._static.get(instance_id)
        return None if member_id is None else self.members[member_id]

    def member(self, member_id: str) -> ConsumerMember:
        member = self.members.get(member_id)
        if member is None:
            raise Refused(
                Fault.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {self.group_id}."
            )
        return member

    def named_member(self, member_id: str, instance_id: str | None) -> ConsumerMember:
        """The member that a request speaks for; refused if it is none, or no longer the one of its name."""
        if instance_id is None:
            return self.member(member_id)
        member = self.static_member(instance_id)
        if member is None:
            raise Refused(Fault.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
        if member.member_id != member_id:
            raise Refused(
                Fault.FENCED_INSTANCE_ID,
                f"Static member {member_id} with instance id {instance_id} was fenced by member "
                f"{member.member_id}.",
            )
        return member

    @property
    def subscribed_topics(self) -> frozenset[str]:
        """The names that anybody subscribes to, whether there are such topics or not."""
        if self._subscribed is None:
            self._subscribed = frozenset(
                name for member in self.members.values() for name in topics_of(member.profile, self.resolved)
            )
        return self._subscribed

    def is_subscribed_to(self, topic: str) -> bool:
        return topic in self.subscribed_topics

    # -- changing --------------------------------------------------------------------------------

    def introduce(self, member_id: str, profile: Profile) -> None:
        """A member comes, or says something new of itself."""
        member = self._ensure(member_id)
        before = member.profile.instance_id
        if before is not None and before != profile.instance_id:
            self._static.pop(before, None)
        member.profile = profile
        if profile.instance_id is not None:
            self._static[profile.instance_id] = member_id
        self._subscribed = None

    def hold(self, member_id: str, holding: Holding) -> None:
        member = self._ensure(member_id)
        self._release(member)
        member.holding = holding
        self._owners.update(dict.fromkeys(holding.parts, member_id))

    def resolve(self, regex: str, resolved: Resolved | None) -> None:
        if resolved is None:
            self.resolved.pop(regex, None)
        else:
            self.resolved[regex] = resolved
        self._subscribed = None

    def remove(self, member_id: str) -> None:
        member = self.members.pop(member_id, None)
        if member is None:
            return
        member.deadlines.cancel()
        self._release(member)
        instance_id = member.profile.instance_id
        if instance_id is not None and self._static.get(instance_id) == member_id:
            del self._static[instance_id]
        self._subscribed = None

    def _ensure(self, member_id: str) -> ConsumerMember:
        """Records of one member may come in any order: compaction keeps the last of each kind."""
        member = self.members.get(member_id)
        if member is None:
            self.members[member_id] = member = ConsumerMember(member_id)
        return member

    def _release(self, member: ConsumerMember) -> None:
        for part in member.holding.parts:
            if self._owners.get(part) == member.member_id:
                del self._owners[part]

    def die(self, fault: Fault) -> None:
        """Nobody may use this group any more; nobody waits in it for an answer."""
        self.is_dead = True
        for member in self.members.values():
            member.deadlines.cancel()

    # -- offsets ---------------------------------------------------------------------------------

    def check_commit(self, command: CommitOffsets, topic_id_of: Callable[[TopicRef], bytes | None]) -> None:
        """Members commit in their epoch, or in an earlier one what they have held since then (KIP-1251);
        others as long as there are no members.
        """
        epoch = command.generation
        if epoch < 0 and not self.members:
            return
        member = self.member(command.member_id)
        is_classic = member.profile.classic is not None
        if not (is_classic or command.knows_member_epochs):
            raise Refused(
                Fault.UNSUPPORTED,
                "OffsetCommit version 9 or above must be used by members of consumer groups.",
            )
        holding = member.holding
        if epoch == holding.epoch:
            return
        since = {**holding.assigned, **holding.revoking}
        if epoch < holding.epoch and all(
            (topic_id := topic_id_of(part.topic)) is not None
            and since.get((topic_id, part.partition), holding.epoch) <= epoch
            for part in command.parts
        ):
            return
        raise Refused(Fault.ILLEGAL_GENERATION if is_classic else Fault.STALE_MEMBER_EPOCH)

    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        """Whoever says that it is a member must be one, in the epoch that it says."""
        if member_id is None and epoch < 0:
            return
        member = self.member(member_id or "")
        if epoch != member.holding.epoch:
            is_classic = member.profile.classic is not None
            raise Refused(Fault.ILLEGAL_GENERATION if is_classic else Fault.STALE_MEMBER_EPOCH)

    def unused_from(self, committed: CommittedOffset) -> Moment | None:
        """Since when nobody needs an offset of a topic that nobody subscribes to."""
        return committed.since
