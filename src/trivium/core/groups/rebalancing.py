"""From one generation of a classic group to the next.

A rebalance is prepared: everybody has to join again, and until all have, or time is up, replies are held.
Then the generation begins: the leader is told who is there, and all have to fetch their assignment in time. A
group that was empty waits a while before its first generation, so that members that start together share it.
"""

from collections.abc import Callable

from trivium.core.commands.groups import Joined, JoinedMember, Synced
from trivium.core.faults import Fault, Refused
from trivium.core.groups.group import ClassicGroup, State
from trivium.core.groups.member import NO_ASSIGNMENT, Member
from trivium.core.groups.moment import Moment
from trivium.core.groups.rules import GroupRules
from trivium.core.groups.sessions import Sessions
from trivium.core.timers import Timers


class Rebalancing:
    def __init__(
        self,
        rules: GroupRules,
        timers: Timers,
        now: Callable[[], Moment],
        store: Callable[[ClassicGroup], None],
    ) -> None:
        self._rules = rules
        self._timers = timers
        self._now = now
        self._store = store
        self.sessions = Sessions(timers, lambda group, member: self.dismiss(group, member))

    # -- beginning -------------------------------------------------------------------------------

    def begin_or_go_on(self, group: ClassicGroup) -> None:
        """The members have changed: a rebalance begins, or the one under way may be complete."""
        if group.state is State.PREPARING_REBALANCE:
            self.go_on(group)
        else:
            self.begin(group)

    def begin(self, group: ClassicGroup) -> None:
        if group.state is State.COMPLETING_REBALANCE:
            self.refuse_syncs(group, Fault.REBALANCE_IN_PROGRESS)
        self._stop_waiting_for_syncs(group)
        group.become(State.PREPARING_REBALANCE, self._now())
        if group.is_first_rebalance:
            delay_ms = self._rules.initial_rebalance_delay_ms
            self._wait_for_more(group, delay_ms, max(group.rebalance_timeout_ms - delay_ms, 0))
        elif group.has_all_joined:
            self.complete(group)
        else:
            self._wait_for_joins(group)

    def go_on(self, group: ClassicGroup) -> None:
        """Complete a rebalance that needs to wait no longer."""
        if group.state is State.PREPARING_REBALANCE and not group.is_first_rebalance and group.has_all_joined:
            self.complete(group)

    def _wait_for_joins(self, group: ClassicGroup) -> None:
        self._set_join_timer(group, group.rebalance_timeout_ms, lambda: self.complete(group))

    def _wait_for_more(self, group: ClassicGroup, delay_ms: int, remaining_ms: int) -> None:
        def elapsed() -> None:
            if group.has_grown and remaining_ms:
                group.has_grown = False
                again_ms = min(self._rules.initial_rebalance_delay_ms, remaining_ms)
                self._wait_for_more(group, again_ms, max(remaining_ms - delay_ms, 0))
            else:
                self.complete(group)

        self._set_join_timer(group, delay_ms, elapsed)

    def _set_join_timer(self, group: ClassicGroup, delay_ms: int, action: Callable[[], None]) -> None:
        if group.join_timer is not None:
            group.join_timer.cancel()
        group.join_timer = self._timers.after(delay_ms, action)

    # -- the next generation ---------------------------------------------------------------------

    def complete(self, group: ClassicGroup) -> None:
        if group.join_timer is not None:
            group.join_timer.cancel()
            group.join_timer = None
        group.has_grown = False
        for member in list(group.members.values()):
            # A static member may be away for as long as its session lasts.
            if not member.is_joining and member.instance_id is None:
                group.remove(member.member_id)
                member.dismiss(Fault.UNKNOWN_MEMBER_ID)
        if group.members and not group.elect_joined_leader():
            self._wait_for_joins(group)
            return
        group.begin_generation(self._now())
        if group.state is State.EMPTY:
            self._store_empty(group)
            return
        for member in list(group.members.values()):
            member.joined(joined(group, member))
            member.is_new = False
            self.sessions.renew(group, member)
            group.pending_sync.add(member.member_id)
        self._wait_for_syncs(group)

    def _store_empty(self, group: ClassicGroup) -> None:
        """Nobody waits for it. If it fails, a restart finds the members before, and they expire then."""
        try:
            self._store(group)
        except Refused:
            return

    # -- fetching assignments --------------------------------------------------------------------

    def _wait_for_syncs(self, group: ClassicGroup) -> None:
        def elapsed() -> None:
            for member_id in sorted(group.pending_sync):
                member = group.remove(member_id)
                if member is not None:
                    member.dismiss(Fault.UNKNOWN_MEMBER_ID)
            self.begin(group)

        group.sync_timer = self._timers.after(group.rebalance_timeout_ms, elapsed)

    def synced(self, group: ClassicGroup, member: Member) -> None:
        """One more has asked for its assignment."""
        group.pending_sync.discard(member.member_id)
        if not group.pending_sync:
            self._stop_waiting_for_syncs(group)

    def _stop_waiting_for_syncs(self, group: ClassicGroup) -> None:
        group.pending_sync.clear()
        if group.sync_timer is not None:
            group.sync_timer.cancel()
            group.sync_timer = None

    def refuse_syncs(self, group: ClassicGroup, fault: Fault) -> None:
        """There will be no assignment in this generation."""
        for member in list(group.members.values()):
            member.assignment = NO_ASSIGNMENT
            if member.synced(Synced(fault)):
                self.sessions.renew(group, member)

    # -- leaving ---------------------------------------------------------------------------------

    def dismiss(self, group: ClassicGroup, member: Member) -> None:
        """The session of a member is over: the others share its work."""
        group.remove(member.member_id)
        member.dismiss(Fault.UNKNOWN_MEMBER_ID, "")
        if group.state in (State.STABLE, State.COMPLETING_REBALANCE):
            self.begin(group)
        elif group.state is State.PREPARING_REBALANCE and group.has_all_joined:
            self.complete(group)

    def lapse(self, group: ClassicGroup, member_id: str) -> None:
        """An id was given out, and nobody has joined with it in time."""
        group.forget_pending(member_id)
        if group.state is State.PREPARING_REBALANCE and group.has_all_joined:
            self.complete(group)


def joined(group: ClassicGroup, member: Member) -> Joined:
    """What a member of the generation is told; the leader is told of all of them."""
    is_leader = group.leader == member.member_id
    return Joined(
        member.member_id,
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=group.leader or "",
        members=everybody(group) if is_leader else (),
    )


def everybody(group: ClassicGroup) -> list[JoinedMember]:
    return [
        JoinedMember(member.member_id, member.instance_id, member.metadata(group.protocol_name))
        for member in group.members.values()
    ]
