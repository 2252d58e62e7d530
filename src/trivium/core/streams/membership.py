"""Who is a member of which group, and which partitions each has. It lives as long as the connections do.

Partitions are dealt in turn, lowest first, to members in the order in which they joined; dealt anew when a
member comes or goes, or the topic has more or fewer partitions. Every partition has one member, and members
differ by one partition at most (promise R15). Knows no connection: clients are numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from trivium.core.streams.registry import GroupNumber


@dataclass(slots=True)
class Member:
    member_id: int
    client_id: int
    partitions: list[int] = field(default_factory=list)
    turns: int = 0
    polled: int | None = None
    """The partition that was polled last."""

    def next_partition(self) -> int | None:
        """One of its partitions after the other; None if it has none."""
        if not self.partitions:
            return None
        self.polled = self.partitions[self.turns % len(self.partitions)]
        self.turns += 1
        return self.polled

    @property
    def current_partition(self) -> int | None:
        """The one that it polled last, if it still has it; else its first."""
        if self.polled in self.partitions:
            return self.polled
        return self.partitions[0] if self.partitions else None


@dataclass(slots=True)
class _Group:
    members: dict[int, Member] = field(default_factory=dict)
    """By client, in the order in which they joined."""
    dealt: int = 0
    """So many partitions are dealt."""

    def deal(self, partitions: int) -> None:
        self.dealt = partitions
        members = list(self.members.values())
        for place, member in enumerate(members):
            member.partitions = list(range(place, partitions, len(members)))


class Membership:
    def __init__(self) -> None:
        self._groups: dict[GroupNumber, _Group] = {}

    def join(self, number: GroupNumber, client_id: int, partitions: int) -> None:
        group = self._groups.setdefault(number, _Group())
        if client_id not in group.members:
            ids = [member.member_id for member in group.members.values()]
            group.members[client_id] = Member(max(ids, default=-1) + 1, client_id)
            group.deal(partitions)

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

    def members(self, number: GroupNumber, partitions: int) -> Sequence[Member]:
        group = self._groups.get(number)
        if group is None:
            return ()
        if group.dealt != partitions:
            group.deal(partitions)
        return list(group.members.values())

    def member(self, number: GroupNumber, client_id: int, partitions: int) -> Member | None:
        group = self._groups.get(number)
        if group is None:
            return None
        if group.dealt != partitions:
            group.deal(partitions)
        return group.members.get(client_id)
