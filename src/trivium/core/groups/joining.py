"""JoinGroup: becoming a member of a classic group, and staying one.

Newcomers without a name are told an id first and join again with it (KIP-394), so that a client that gives up
waiting leaves no member behind. Static members (KIP-345) have a name of their own: who joins under it takes
its place, and if nothing else changes with that, nobody notices.
"""

from collections.abc import Callable

from trivium.core.caller import Caller
from trivium.core.commands.command import Reply
from trivium.core.commands.groups import NO_MEMBER_ID, Joined, JoinGroup
from trivium.core.faults import Fault, Refused
from trivium.core.groups.group import ClassicGroup, State
from trivium.core.groups.member import Member
from trivium.core.groups.moment import Moment
from trivium.core.groups.rebalancing import Rebalancing, everybody, joined
from trivium.core.groups.roster import Roster
from trivium.core.groups.rules import GroupRules
from trivium.core.ports import Done
from trivium.core.timers import Timers


class Joining:
    def __init__(
        self,
        groups: Roster,
        rules: GroupRules,
        rebalancing: Rebalancing,
        timers: Timers,
        now: Callable[[], Moment],
        new_uuid: Callable[[], str],
        store: Callable[[ClassicGroup, Done], None],
    ) -> None:
        self._groups = groups
        self._rules = rules
        self._rebalancing = rebalancing
        self._timers = timers
        self._now = now
        self._new_uuid = new_uuid
        self._store = store

    def join(self, command: JoinGroup, caller: Caller, reply: Reply[Joined]) -> None:
        rules = self._rules
        if not rules.session_timeout_min_ms <= command.session_timeout_ms <= rules.session_timeout_max_ms:
            raise Refused(Fault.INVALID_SESSION_TIMEOUT)
        is_newcomer = command.member_id == NO_MEMBER_ID
        group = self._groups.classic(command.group_id)
        if group is None and not is_newcomer:
            raise Refused(Fault.UNKNOWN_MEMBER_ID)
        if group is None:
            group = ClassicGroup(command.group_id, self._now())
            _check_protocols(group, command)
            self._store(group, lambda _fault: None)
            self._groups[command.group_id] = group
        if not group.has_room_for(command.member_id, rules.size_max):
            self._send_away(group, command, reply)
            return
        _check_protocols(group, command)
        if is_newcomer:
            self._join_newcomer(group, command, caller, reply)
        elif command.member_id in group.pending and command.instance_id is None:
            self._add(group, command.member_id, command, caller, reply)
        else:
            self._join_again(group, command, reply)

    def _send_away(self, group: ClassicGroup, command: JoinGroup, reply: Reply[Joined]) -> None:
        member = group.remove(command.member_id)
        if member is not None:
            member.dismiss(Fault.GROUP_MAX_SIZE_REACHED)
        reply(Joined(NO_MEMBER_ID, Fault.GROUP_MAX_SIZE_REACHED))
        self._rebalancing.go_on(group)

    # -- newcomers -------------------------------------------------------------------------------

    def _join_newcomer(
        self, group: ClassicGroup, command: JoinGroup, caller: Caller, reply: Reply[Joined]
    ) -> None:
        prefix = caller.client_id if command.instance_id is None else command.instance_id
        member_id = f"{prefix}-{self._new_uuid()}"
        if command.instance_id is not None:
            before = group.static_member(command.instance_id)
            if before is not None:
                self._take_place(group, before, member_id, command, reply)
                return
        elif command.wants_member_id:
            group.pending[member_id] = self._timers.after(
                command.session_timeout_ms, lambda: self._rebalancing.lapse(group, member_id)
            )
            reply(Joined(member_id, Fault.MEMBER_ID_REQUIRED))
            return
        self._add(group, member_id, command, caller, reply)

    def _add(
        self, group: ClassicGroup, member_id: str, command: JoinGroup, caller: Caller, reply: Reply[Joined]
    ) -> None:
        member = Member(
            member_id,
            command.instance_id,
            caller.client_id,
            # Java prints an address with a stroke before it, and tools expect to see it so.
            f"/{caller.host}",
            command.session_timeout_ms,
            command.rebalance_timeout_ms,
            command.protocols,
        )
        member.is_new = True
        member.wait_for_join(reply)
        group.has_grown = group.is_first_rebalance
        group.add(member, command.protocol_type)
        self._rebalancing.sessions.begin(group, member)
        self._rebalancing.begin_or_go_on(group)

    # -- static members that come back -----------------------------------------------------------

    def _take_place(
        self, group: ClassicGroup, before: Member, member_id: str, command: JoinGroup, reply: Reply[Joined]
    ) -> None:
        leader_before = group.leader
        member = Member(
            member_id,
            before.instance_id,
            before.client_id,
            before.client_host,
            command.session_timeout_ms,
            command.rebalance_timeout_ms,
            command.protocols,
            before.assignment,
        )
        member.wait_for_join(reply)
        group.replace(before, member)
        unnoticed = group.state is State.STABLE and group.select_protocol() == group.protocol_name
        if unnoticed:
            try:
                self._store(
                    group, lambda fault: self._welcome_back(group, member, leader_before, command, fault)
                )
            except Refused:
                group.replace(member, before)
                raise
        before.dismiss(Fault.FENCED_INSTANCE_ID)
        self._rebalancing.sessions.renew(group, member)
        if not unnoticed:
            # In the middle of a generation's beginning the leader assigns to the old member id: once more.
            self._rebalancing.begin_or_go_on(group)

    def _welcome_back(
        self,
        group: ClassicGroup,
        member: Member,
        leader_before: str | None,
        command: JoinGroup,
        fault: Fault | None,
    ) -> None:
        if fault is not None:
            # The shard has been given up, and with it everybody who waited in it.
            return
        answer = joined(group, member)
        is_leader = group.leader == member.member_id
        if not command.can_skip_assignment:
            # An old client that is told it leads would assign anew; it is told that its former self does.
            answer = answer._replace(leader=leader_before or "", members=())
        elif is_leader:
            answer = answer._replace(members=everybody(group), skip_assignment=True)
        member.joined(answer)

    # -- members that join again -----------------------------------------------------------------

    def _join_again(self, group: ClassicGroup, command: JoinGroup, reply: Reply[Joined]) -> None:
        member = group.member(command.member_id, command.instance_id)
        unchanged = member.protocols == tuple(command.protocols)
        is_leader = group.leader == member.member_id
        if group.state is State.COMPLETING_REBALANCE and unchanged:
            # Its answer was lost on the way.
            reply(joined(group, member))
        elif group.state is State.STABLE and unchanged and not is_leader:
            reply(joined(group, member))
        elif group.state is State.EMPTY:
            raise Refused(Fault.UNKNOWN_MEMBER_ID)
        else:
            # A leader that joins again asks for a rebalance: it knows why, the topics may have changed.
            member.update(command)
            member.wait_for_join(reply)
            self._rebalancing.begin_or_go_on(group)


def _check_protocols(group: ClassicGroup, command: JoinGroup) -> None:
    if not group.supports(command.protocol_type, {protocol.name for protocol in command.protocols}):
        raise Refused(Fault.INCONSISTENT_GROUP_PROTOCOL)
