"""How long members are waited for. Times are of the monotonic clock (R10)."""

from typing import Final

from trivium.core.faults import Fault, Refused
from trivium.core.groups.consumer.departing import Departing
from trivium.core.groups.consumer.group import ConsumerGroup
from trivium.core.groups.consumer.member import ConsumerMember, MemberState
from trivium.core.groups.consumer.rules import ConsumerRules
from trivium.core.timers import Timer, Timers

RETRY_MS: Final = 1000
"""After so long somebody whose end could not be written is sent away again."""


class Patience:
    def __init__(self, rules: ConsumerRules, timers: Timers, departing: Departing) -> None:
        self._rules = rules
        self._timers = timers
        self._departing = departing

    def renew(self, group: ConsumerGroup, member: ConsumerMember, *, has_moved: bool = False) -> None:
        """It was heard of: its session begins anew. Its time to give partitions up does not, unless it has
        come a step further.
        """
        if group.is_dead:
            return
        classic = member.profile.classic
        timeout_ms = (
            self._rules.session_timeout_ms(group.group_id) if classic is None else classic.session_timeout_ms
        )
        member.deadlines.cancel("session")
        member.deadlines.session = self._after(timeout_ms, group, member)
        if classic is None:
            if has_moved:
                member.deadlines.cancel("rebalance")
            self._await_revocation(group, member)

    def _await_revocation(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        deadlines = member.deadlines
        deadlines.cancel("join", "sync")
        if member.holding.state is not MemberState.UNREVOKED_PARTITIONS:
            deadlines.cancel("rebalance")
        elif deadlines.rebalance is None:
            deadlines.rebalance = self._after(member.profile.rebalance_timeout_ms, group, member)

    def await_join(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """A classic member was told to join again, this time or before."""
        if member.deadlines.join is None:
            member.deadlines.join = self._after(member.profile.rebalance_timeout_ms, group, member)

    def await_sync(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """A classic member has joined and is to fetch its assignment."""
        if group.is_dead:
            return
        member.deadlines.cancel("join", "sync", "rebalance")
        member.deadlines.sync = self._after(member.profile.rebalance_timeout_ms, group, member)

    def _after(self, delay_ms: int, group: ConsumerGroup, member: ConsumerMember) -> Timer:
        return self._timers.after(delay_ms, lambda: self._give_up(group, member))

    def _give_up(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        try:
            self._departing.remove(group, [member], _nobody_waits)
        except Refused:
            member.deadlines.cancel("session")
            member.deadlines.session = self._after(RETRY_MS, group, member)


def _nobody_waits(_fault: Fault | None) -> None:
    """If it was never written, the shard is given up, and the next start finds the member once more."""
