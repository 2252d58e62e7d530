"""A classic group as plain state: members, generation, leader, and the vote on how work is shared.

    EMPTY ──join──> PREPARING_REBALANCE ──all have joined──> COMPLETING_REBALANCE ──leader's sync──> STABLE
      ^                 │      ^                                     │                                 │
      └──nobody left────┘      └───────join, leave, expiry───────────┴─────────────────────────────────┘

DEAD is a group that has been deleted, or whose shard has been given up: whoever still holds it must not use
it. Nothing here knows the time, logs or the outside; faults are raised as ``Refused``.
"""

from collections import Counter
from collections.abc import Collection
from enum import Enum
from typing import ClassVar

from trivium.core.faults import Fault, Refused
from trivium.core.groups.member import Member
from trivium.core.groups.moment import Moment
from trivium.core.groups.offsets import CommittedOffset
from trivium.core.timers import Timer
from trivium.messages.consumer_protocol import decode_subscription
from trivium.wire.errors import DecodeError

CONSUMER_PROTOCOL = "consumer"
"""The protocol type whose subscriptions the broker reads, to know which topics are in use."""


class State(Enum):
    """The values are the names that clients see."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


class ClassicGroup:
    TYPE: ClassVar[str] = "classic"

    def __init__(self, group_id: str, since: Moment | None) -> None:
        self.group_id = group_id
        self.state = State.EMPTY
        self.since = since
        """When it came into its state; None if nobody wrote it down."""
        self.is_first_rebalance = False
        """A rebalance of a group that was empty: it waits for others instead of starting at once."""
        self.has_grown = False
        """Somebody new came during the first rebalance: it may wait a little longer."""
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader: str | None = None
        self.members: dict[str, Member] = {}
        self.pending: dict[str, Timer] = {}
        """Ids that were given out and not yet joined with (KIP-394), and when they lapse."""
        self.pending_sync: set[str] = set()
        """Who has yet to fetch its assignment in this generation."""
        self.join_timer: Timer | None = None
        self.sync_timer: Timer | None = None
        self.subscribed_topics: frozenset[str] | None = None
        """None if the broker cannot read what the members subscribe to."""
        self._static: dict[str, str] = {}
        """Member ids by instance id."""

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def is_empty(self) -> bool:
        return self.state is State.EMPTY

    @property
    def is_idle(self) -> bool:
        return self.state is State.EMPTY and not self.pending

    def become(self, state: State, now: Moment) -> None:
        self.is_first_rebalance = state is State.PREPARING_REBALANCE and self.state is State.EMPTY
        self.state = state
        self.since = now

    # -- members ---------------------------------------------------------------------------------

    def add(self, member: Member, protocol_type: str) -> None:
        if not self.members:
            self.protocol_type = protocol_type
        if self.leader is None:
            self.leader = member.member_id
        self.members[member.member_id] = member
        if member.instance_id is not None:
            self._static[member.instance_id] = member.member_id
        self.forget_pending(member.member_id)

    def remove(self, member_id: str) -> Member | None:
        member = self.members.pop(member_id, None)
        if member is not None and member.instance_id is not None:
            del self._static[member.instance_id]
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        self.forget_pending(member_id)
        self.pending_sync.discard(member_id)
        return member

    def replace(self, old: Member, new: Member) -> None:
        """A static member came back under another member id and takes its own place."""
        del self.members[old.member_id]
        self.members[new.member_id] = new
        if self.leader == old.member_id:
            self.leader = new.member_id
        if new.instance_id is not None:
            self._static[new.instance_id] = new.member_id
        if old.member_id in self.pending_sync:
            self.pending_sync.remove(old.member_id)
            self.pending_sync.add(new.member_id)

    def forget_pending(self, member_id: str) -> bool:
        timer = self.pending.pop(member_id, None)
        if timer is None:
            return False
        timer.cancel()
        return True

    def static_member(self, instance_id: str) -> Member | None:
        member_id = self._static.get(instance_id)
        return None if member_id is None else self.members[member_id]

    def member(self, member_id: str, instance_id: str | None) -> Member:
        """The member that a request speaks for; refused if it is none, or no longer the one of its name."""
        if instance_id is not None:
            current = self._static.get(instance_id)
            if current is None:
                raise Refused(Fault.UNKNOWN_MEMBER_ID)
            if current != member_id:
                raise Refused(Fault.FENCED_INSTANCE_ID)
        member = self.members.get(member_id)
        if member is None:
            raise Refused(Fault.UNKNOWN_MEMBER_ID)
        return member

    def has_room_for(self, member_id: str, size_max: int) -> bool:
        """Whether this one may join. While a rebalance is prepared, those count that have joined it: a limit
        that was lowered sends the last ones away.
        """
        if self.state in (State.EMPTY, State.DEAD):
            return True
        member = self.members.get(member_id)
        if self.state is State.PREPARING_REBALANCE:
            joining = sum(each.is_joining for each in self.members.values())
            return (member is not None and member.is_joining) or joining < size_max
        return member is not None or len(self.members) < size_max

    @property
    def has_all_joined(self) -> bool:
        return not self.pending and all(member.is_joining for member in self.members.values())

    @property
    def rebalance_timeout_ms(self) -> int:
        """As much time as the slowest member wants."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    # -- the vote --------------------------------------------------------------------------------

    def supports(self, protocol_type: str, names: Collection[str]) -> bool:
        """Whether a member with these protocols and those that are here have one in common."""
        if not self.members:
            return bool(protocol_type) and bool(names)
        return self.protocol_type == protocol_type and not self._candidates().isdisjoint(names)

    def _candidates(self) -> set[str]:
        """The protocols that every member knows."""
        known = Counter(
            name
            for member in self.members.values()
            for name in {protocol.name for protocol in member.protocols}
        )
        return {name for name, count in known.items() if count == len(self.members)}

    def select_protocol(self) -> str:
        """Every member votes for the first of its protocols that all know; most votes win, the first of
        equals by the members' order.
        """
        candidates = self._candidates()
        votes = Counter(
            next(protocol.name for protocol in member.protocols if protocol.name in candidates)
            for member in self.members.values()
        )
        return votes.most_common(1)[0][0]

    # -- generations -----------------------------------------------------------------------------

    def elect_joined_leader(self) -> bool:
        """A leader that did not join in time is replaced. False if there is none who could lead."""
        if self.leader is None:
            return False
        if not self.members[self.leader].is_joining:
            joined = next((each.member_id for each in self.members.values() if each.is_joining), None)
            if joined is None:
                return False
            self.leader = joined
        return True

    def begin_generation(self, now: Moment) -> None:
        self.generation += 1
        self.pending_sync.clear()
        self.protocol_name = self.select_protocol() if self.members else None
        self.read_subscriptions()
        self.become(State.COMPLETING_REBALANCE if self.members else State.EMPTY, now)

    def read_subscriptions(self) -> None:
        self.subscribed_topics = None
        if self.protocol_type != CONSUMER_PROTOCOL:
            return
        try:
            self.subscribed_topics = frozenset(
                topic
                for member in self.members.values()
                for topic in decode_subscription(member.metadata(self.protocol_name))[1].topics
            )
        except DecodeError:
            # Members may tell each other what they like; then every topic counts as subscribed.
            return

    def is_subscribed_to(self, topic: str) -> bool:
        if self.subscribed_topics is None:
            return self.protocol_type == CONSUMER_PROTOCOL
        return topic in self.subscribed_topics

    def unused_from(self, committed: CommittedOffset) -> Moment | None:
        """Since when nobody needs an offset; None while somebody may."""
        if self.protocol_type is None:
            return committed.since
        if self.state is State.EMPTY:
            return self.since or committed.since
        if self.state is State.STABLE and self.subscribed_topics is not None:
            return committed.since
        return None

    # -- ending ----------------------------------------------------------------------------------

    def die(self, fault: Fault) -> None:
        """Nobody may use this group any more; whoever waits in it is told why."""
        self.state = State.DEAD
        for timer in (self.join_timer, self.sync_timer, *self.pending.values()):
            if timer is not None:
                timer.cancel()
        for member in list(self.members.values()):
            member.dismiss(fault)
