"""A member of a consumer group: what it has said of itself, what it holds, and how long it is waited for.

What is said and what is held are values, a stored record each; only the timers are of this run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from trivium.core.commands.groups import Protocol
from trivium.core.groups.assignors.subscriber import Part, Parts
from trivium.core.timers import Timer

JOINING_EPOCH: Final = 0
LEAVING_EPOCH: Final = -1
AWAY_EPOCH: Final = -2
"""A static member has left and will be back: its place waits until its session ends."""

NO_PARTS: Final[Mapping[Part, int]] = {}


class MemberState(IntEnum):
    """The values are those of stored records."""

    STABLE = 0
    """It holds all of its target, or has not heard of the newest one yet."""
    UNREVOKED_PARTITIONS = 1
    """It was told to give partitions up, and has not said that it did."""
    UNRELEASED_PARTITIONS = 2
    """It waits for partitions that others still hold."""


@dataclass(frozen=True, slots=True)
class ClassicSide:
    """What a member that speaks the classic protocol has said besides (migration)."""

    session_timeout_ms: int
    protocols: tuple[Protocol, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """What a member has said of itself."""

    client_id: str = ""
    client_host: str = ""
    instance_id: str | None = None
    rack_id: str | None = None
    topic_names: frozenset[str] = frozenset()
    topic_regex: str = ""
    """Subscribes to all topics whose names match, if it is not empty."""
    rebalance_timeout_ms: int = -1
    assignor: str | None = None
    classic: ClassicSide | None = None


@dataclass(frozen=True, slots=True)
class Holding:
    """What a member holds. Each partition has the epoch with which it was assigned (KIP-1251)."""

    epoch: int = JOINING_EPOCH
    previous_epoch: int = JOINING_EPOCH
    state: MemberState = MemberState.STABLE
    assigned: Mapping[Part, int] = field(default_factory=dict)
    revoking: Mapping[Part, int] = field(default_factory=dict)

    def is_reconciled_to(self, epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == epoch

    @property
    def parts(self) -> Parts:
        """Everything that nobody else may read yet."""
        return frozenset(self.assigned) | frozenset(self.revoking)


class Deadlines:
    """When a member is given up: for silence, or for being slow at one of the things it has to do."""

    __slots__ = ("join", "rebalance", "session", "sync")

    def __init__(self) -> None:
        self.session: Timer | None = None
        self.rebalance: Timer | None = None
        """It is to give partitions up."""
        self.join: Timer | None = None
        """It speaks the classic protocol and is to join again."""
        self.sync: Timer | None = None
        """It speaks the classic protocol and is to fetch its assignment."""

    def cancel(self, *names: str) -> None:
        """Forget these, or all."""
        for name in names or self.__slots__:
            timer: Timer | None = getattr(self, name)
            if timer is not None:
                timer.cancel()
                setattr(self, name, None)


class ConsumerMember:
    __slots__ = ("deadlines", "holding", "is_unsure", "member_id", "profile")

    def __init__(self, member_id: str) -> None:
        self.member_id = member_id
        self.profile = Profile()
        self.holding = Holding()
        self.deadlines = Deadlines()
        self.is_unsure = False
        """It joined although it was a member already. That heartbeat may have come late, on a connection that
        was given up: then what it was answered, nobody has heard, and the next answer says it again.
        """
