"""Heartbeat and LeaveGroup: showing that one lives, and saying that one goes."""

from trivium.core.caller import Caller
from trivium.core.commands.command import Reply
from trivium.core.commands.groups import NO_MEMBER_ID, Heartbeat, LeaveGroup, Leaver, Left, LeftMember
from trivium.core.faults import Fault, Refused
from trivium.core.groups.group import ClassicGroup, State
from trivium.core.groups.rebalancing import Rebalancing
from trivium.core.groups.roster import Roster


class Membership:
    def __init__(self, groups: Roster, rebalancing: Rebalancing) -> None:
        self._groups = groups
        self._rebalancing = rebalancing

    def beat(self, command: Heartbeat, caller: Caller, reply: Reply[Fault | None]) -> None:
        group = self._groups.classic(command.group_id)
        if group is None:
            raise Refused(Fault.UNKNOWN_MEMBER_ID)
        member = group.member(command.member_id, command.instance_id)
        if command.generation != group.generation:
            raise Refused(Fault.ILLEGAL_GENERATION)
        self._rebalancing.sessions.renew(group, member)
        reply(Fault.REBALANCE_IN_PROGRESS if group.state is State.PREPARING_REBALANCE else None)

    def leave(self, command: LeaveGroup, caller: Caller, reply: Reply[Left]) -> None:
        group = self._groups.classic(command.group_id)
        results = [self._leave_one(group, leaver) for leaver in command.members]
        reply(Left(members=results))
        if group is None or all(result.fault is not None for result in results):
            return
        if group.state in (State.STABLE, State.COMPLETING_REBALANCE):
            self._rebalancing.begin(group)
        else:
            self._rebalancing.go_on(group)

    def _leave_one(self, group: ClassicGroup | None, leaver: Leaver) -> LeftMember:
        fault = None
        try:
            if group is None:
                raise Refused(Fault.UNKNOWN_MEMBER_ID)
            self._remove(group, leaver)
        except Refused as refused:
            fault = refused.fault
        return LeftMember(leaver.member_id, leaver.instance_id, fault)

    def _remove(self, group: ClassicGroup, leaver: Leaver) -> None:
        if leaver.member_id == NO_MEMBER_ID and leaver.instance_id is not None:
            # An administrator sends a static member away by the name that is known to people.
            member = group.static_member(leaver.instance_id)
            if member is None:
                raise Refused(Fault.UNKNOWN_MEMBER_ID)
        elif group.forget_pending(leaver.member_id):
            return
        else:
            member = group.member(leaver.member_id, leaver.instance_id)
        group.remove(member.member_id)
        member.dismiss(Fault.UNKNOWN_MEMBER_ID, NO_MEMBER_ID)
