"""SyncGroup: the leader hands out assignments, and every member fetches its own.

Nobody gets an assignment before it is stored: a member that reads a partition must not meet another one there
after a restart.
"""

from collections.abc import Callable, Mapping

from trivium.core.caller import Caller
from trivium.core.commands.command import Reply
from trivium.core.commands.groups import Synced, SyncGroup
from trivium.core.faults import Fault, Refused
from trivium.core.groups.group import ClassicGroup, State
from trivium.core.groups.member import NO_ASSIGNMENT
from trivium.core.groups.moment import Moment
from trivium.core.groups.rebalancing import Rebalancing
from trivium.core.groups.roster import Roster
from trivium.core.ports import Done


class Syncing:
    def __init__(
        self,
        groups: Roster,
        rebalancing: Rebalancing,
        now: Callable[[], Moment],
        store: Callable[[ClassicGroup, Done, Mapping[str, bytes]], None],
    ) -> None:
        self._groups = groups
        self._rebalancing = rebalancing
        self._now = now
        self._store = store

    def sync(self, command: SyncGroup, caller: Caller, reply: Reply[Synced]) -> None:
        group = self._groups.classic(command.group_id)
        if group is None or group.state is State.EMPTY:
            raise Refused(Fault.UNKNOWN_MEMBER_ID)
        member = group.member(command.member_id, command.instance_id)
        if command.generation != group.generation:
            raise Refused(Fault.ILLEGAL_GENERATION)
        if command.protocol_type not in (None, group.protocol_type) or (
            group.protocol_name is not None and command.protocol_name not in (None, group.protocol_name)
        ):
            raise Refused(Fault.INCONSISTENT_GROUP_PROTOCOL)
        if group.state is State.PREPARING_REBALANCE:
            raise Refused(Fault.REBALANCE_IN_PROGRESS)
        self._rebalancing.synced(group, member)
        if group.state is State.STABLE:
            # It has been heard of: what it is given now it has for a whole session.
            self._rebalancing.sessions.renew(group, member)
            reply(_synced(group, member.assignment))
            return
        member.wait_for_sync(reply)
        if group.leader == member.member_id:
            self._assign(group, dict(command.assignments))

    def _assign(self, group: ClassicGroup, assignments: Mapping[str, bytes]) -> None:
        generation = group.generation

        def stored(_fault: Fault | None) -> None:
            # A fault has cost the group its life; another member may have begun a rebalance meanwhile.
            if group.state is State.COMPLETING_REBALANCE and group.generation == generation:
                self._hand_out(group, assignments)

        try:
            self._store(group, stored, assignments)
        except Refused as refused:
            self._rebalancing.refuse_syncs(group, refused.fault)
            self._rebalancing.begin(group)

    def _hand_out(self, group: ClassicGroup, assignments: Mapping[str, bytes]) -> None:
        group.become(State.STABLE, self._now())
        for member in list(group.members.values()):
            member.assignment = assignments.get(member.member_id, NO_ASSIGNMENT)
            if member.synced(_synced(group, member.assignment)):
                self._rebalancing.sessions.renew(group, member)


def _synced(group: ClassicGroup, assignment: bytes) -> Synced:
    return Synced(None, group.protocol_type, group.protocol_name, assignment)
