"""Who is a member of which group, and which partitions each has. It lives as long as the connections do.

Partitions are dealt in turn, lowest first, to members in the order in which they joined; dealt anew when a
member comes or goes, or the topic has more or fewer partitions. Every partition has one member, and members
differ by one partition at most, but for what is being handed over (promise R15). Knows no connection: clients
are numbers.

When a member comes, another may have read from a partition that is no longer its own and not yet stored how
far. It keeps that partition until it has, or for ``HANDOVER_MS``, and polls nothing more there: so nothing is
read twice because somebody came (as with Iggy from 0.7 on). What counts is its last poll there: who has
looked back at what is stored is held to be done. When a member goes nothing is waited for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from trivium.core.streams.registry import GroupNumber

HANDOVER_MS: Final = 30_000


@dataclass(slots=True)
class Member:
    member_id: int
    client_id: int
    share: list[int] = field(default_factory=list)
    """What is dealt to it."""
    partitions: list[int] = field(default_factory=list)
    """What it has: without what others have not handed over yet, with what it has not."""
    leaving: set[int] = field(default_factory=set)
    """Of these, the ones that it is to hand over."""
    unstored: dict[int, int] = field(default_factory=dict)
    """By partition, the offset behind what it has polled and not stored."""
    turns: int = 0
    polled: int | None = None
    """The partition that was polled last."""

    def next_partition(self) -> int | None:
        """One of its partitions after the other; None if it has none."""
        pollable = [each for each in self.partitions if each not in self.leaving]
        if not pollable:
            return None
        self.polled = pollable[self.turns % len(pollable)]
        self.turns += 1
        return self.polled

    def may_poll(self, partition: int) -> bool:
        return partition in self.partitions and partition not in self.leaving

    @property
    def current_partition(self) -> int | None:
        """The one that it polled last, if it still has it; else its first."""
        if self.polled in self.partitions:
            return self.polled
        return self.partitions[0] if self.partitions else None


class _Handover(NamedTuple):
    client_id: int
    """Who still has it."""
    until_ms: int


@dataclass(slots=True)
class _Group:
    members: dict[int, Member] = field(default_factory=dict)
    """By client, in the order in which they joined."""
    dealt: int = 0
    """So many partitions are dealt."""
    handovers: dict[int, _Handover] = field(default_factory=dict)
    """By partition."""

    def deal(self, partitions: int) -> None:
        self._share(partitions)
        self.handovers = {}
        self._settle()

    def welcome(self, member: Member, partitions: int, until_ms: int) -> None:
        """Deal to one more, and let the others finish what they have begun."""
        begun = [(partition, each) for each in self.members.values() for partition in each.unstored]
        self.members[member.client_id] = member
        self._share(partitions)
        self.handovers = {
            partition: self.handovers.get(partition, _Handover(each.client_id, until_ms))
            for partition, each in begun
            if partition < partitions and partition not in each.share
        }
        self._settle()

    def _share(self, partitions: int) -> None:
        self.dealt = partitions
        for place, member in enumerate(self.members.values()):
            member.share = list(range(place, partitions, len(self.members)))

    def hand_over(self, partition: int) -> None:
        if self.handovers.pop(partition, None) is not None:
            self._settle()

    def hand_over_late(self, now_ms: int) -> None:
        for partition in [each for each, handover in self.handovers.items() if handover.until_ms <= now_ms]:
            self.hand_over(partition)

    def _settle(self) -> None:
        for member in self.members.values():
            member.leaving = {
                each for each, handover in self.handovers.items() if handover.client_id == member.client_id
            }
            own = [each for each in member.share if each not in self.handovers]
            member.partitions = sorted([*own, *member.leaving])
            member.unstored = {
                each: end for each, end in member.unstored.items() if each in member.partitions
            }


class Membership:
    def __init__(self, now_ms: Callable[[], int]) -> None:
        """``now_ms`` never jumps."""
        self._now_ms = now_ms
        self._groups: dict[GroupNumber, _Group] = {}

    def join(self, number: GroupNumber, client_id: int, partitions: int) -> None:
        group = self._groups.setdefault(number, _Group())
        if client_id not in group.members:
            ids = [member.member_id for member in group.members.values()]
            member = Member(max(ids, default=-1) + 1, client_id)
            group.welcome(member, partitions, self._now_ms() + HANDOVER_MS)

    def leave(self, number: GroupNumber, client_id: int) -> bool:
        """Whether it was a member."""
        group = self._groups.get(number)
        if group is None or group.members.pop(client_id, None) is None:
            return False
        if group.members:
            group.deal(group.dealt)
        else:
            del self._groups[number]
        return True

    def leave_all(self, client_id: int) -> None:
        for number in self.groups_of(client_id):
            self.leave(number, client_id)

    def forget(self, number: GroupNumber) -> None:
        """The group is no more."""
        self._groups.pop(number, None)

    def groups_of(self, client_id: int) -> list[GroupNumber]:
        return sorted(number for number, group in self._groups.items() if client_id in group.members)

    # -- reading -----------------------------------------------------------------------------------

    def has_polled(
        self, number: GroupNumber, client_id: int, partition: int, offset: int, stored: int
    ) -> bool:
        """A member is to be given messages up to the one before ``offset``, where ``stored`` is the next for
        its group. Whether the partition is still its own: another may have got it while the disk was read."""
        member = self._member_now(number, client_id)
        if member is None or partition not in member.partitions:
            return False
        if offset > stored or partition in member.leaving:
            member.unstored[partition] = offset
        else:
            member.unstored.pop(partition, None)
        return True

    def has_stored(self, number: GroupNumber, client_id: int, partition: int, offset: int) -> None:
        member = self._member_now(number, client_id)
        if member is not None and partition in member.unstored and offset >= member.unstored[partition]:
            del member.unstored[partition]
            if partition in member.leaving:
                self._groups[number].hand_over(partition)

    def _member_now(self, number: GroupNumber, client_id: int) -> Member | None:
        group = self._groups.get(number)
        return None if group is None else group.members.get(client_id)

    # -- looking -----------------------------------------------------------------------------------

    def members(self, number: GroupNumber, partitions: int) -> Sequence[Member]:
        group = self._current(number, partitions)
        return () if group is None else list(group.members.values())

    def member(self, number: GroupNumber, client_id: int, partitions: int) -> Member | None:
        group = self._current(number, partitions)
        return None if group is None else group.members.get(client_id)

    def _current(self, number: GroupNumber, partitions: int) -> _Group | None:
        group = self._groups.get(number)
        if group is not None:
            if group.dealt != partitions:
                group.deal(partitions)
            elif group.handovers:
                group.hand_over_late(self._now_ms())
        return group
