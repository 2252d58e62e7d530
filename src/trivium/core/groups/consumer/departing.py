"""Members go: by themselves, or because they were not heard of, or too slow.

When the last one that speaks the consumer protocol has gone and classic ones are left, the group becomes a
classic group again, if ``group.consumer.migration.policy`` lets it.
"""

from collections.abc import Callable, Sequence

from trivium.core.groups.consumer.group import ConsumerGroup
from trivium.core.groups.consumer.member import ConsumerMember
from trivium.core.groups.consumer.migration import downgraded
from trivium.core.groups.consumer.records import encoded, group_tombstones
from trivium.core.groups.consumer.stepping import Stepping
from trivium.core.groups.group import ClassicGroup
from trivium.core.groups.records import group_record
from trivium.core.ports import Done

TakeOver = Callable[[ConsumerGroup, ClassicGroup, bool], None]
"""A classic group takes the place of a consumer group; True: its members are to share their work anew."""


class Departing:
    def __init__(self, stepping: Stepping, classic_size_max: int, take_over: TakeOver) -> None:
        self._stepping = stepping
        self._classic_size_max = classic_size_max
        self._take_over = take_over

    def remove(self, group: ConsumerGroup, members: Sequence[ConsumerMember], done: Done) -> None:
        """``Refused`` if it cannot be written now: then nobody has gone."""
        leaving = frozenset(member.member_id for member in members)
        if self._is_left_to_classic(group, leaving):
            self._downgrade(group, leaving, done, rebalances=True)
            return
        step = self._stepping.begin(group)
        step.remove(*members)
        step.refresh()
        self._stepping.take(step, done)

    def leave_to_classic(self, group: ConsumerGroup, done: Done) -> bool:
        """Make it a classic group, if only such members are left: a classic one took the place of the last
        other. Nobody has to move for that, unless somebody was still waiting for something.
        """
        if not self._is_left_to_classic(group, frozenset()):
            return False
        is_settled = group.state_name == "Stable"
        self._downgrade(group, frozenset(), done, rebalances=not is_settled)
        return True

    def _is_left_to_classic(self, group: ConsumerGroup, leaving: frozenset[str]) -> bool:
        staying = [member for member_id, member in group.members.items() if member_id not in leaving]
        return (
            0 < len(staying) <= self._classic_size_max
            and self._stepping.rules.migration.may_downgrade
            and all(member.profile.classic is not None for member in staying)
            and (not leaving or not group.is_all_classic)
        )

    def _downgrade(
        self, group: ConsumerGroup, leaving: frozenset[str], done: Done, *, rebalances: bool
    ) -> None:
        classic = downgraded(group, leaving, self._stepping.view(), self._stepping.now())
        records = [encoded(change) for change in group_tombstones(group)]
        self._stepping.write([*records, group_record(classic)], done)
        self._take_over(group, classic, rebalances)
