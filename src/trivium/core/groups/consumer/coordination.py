"""All of a shard that concerns consumer groups, put together."""

from collections.abc import Callable, Sequence

from trivium.core.access import Access
from trivium.core.cluster import Cluster
from trivium.core.groups.consumer.classic_members import ClassicMembers
from trivium.core.groups.consumer.departing import Departing, TakeOver
from trivium.core.groups.consumer.group import ConsumerGroup
from trivium.core.groups.consumer.heartbeats import Heartbeats
from trivium.core.groups.consumer.patience import Patience
from trivium.core.groups.consumer.replaying import ConsumerGroupKey, replay
from trivium.core.groups.consumer.rules import ConsumerRules
from trivium.core.groups.consumer.stepping import Stepping
from trivium.core.groups.moment import Moment
from trivium.core.groups.roster import Roster
from trivium.core.groups.rules import GroupRules
from trivium.core.internal_topic import KeyedRecord
from trivium.core.ports import Done
from trivium.core.timers import Timers
from trivium.messages.schema import Message
from trivium.messages.stored.consumer_groups import ConsumerGroupMetadataKey


class Coordination:
    def __init__(
        self,
        groups: Roster,
        *,
        rules: ConsumerRules,
        classic_rules: GroupRules,
        cluster: Cluster,
        access: Access,
        timers: Timers,
        new_uuid: Callable[[], str],
        now: Callable[[], Moment],
        write: Callable[[Sequence[KeyedRecord], Done], None],
        when_durable: Callable[[Done], None],
        take_over: TakeOver,
    ) -> None:
        self._groups = groups
        stepping = Stepping(rules, cluster, access, now, write, when_durable)
        departing = Departing(stepping, classic_rules.size_max, take_over)
        self._patience = Patience(rules, timers, departing)
        self.heartbeats = Heartbeats(groups, stepping, departing, self._patience, access, new_uuid)
        self.classic_members = ClassicMembers(classic_rules, stepping, departing, self._patience, new_uuid)

    def replay(self, key: ConsumerGroupKey, value: Message | None, now: Moment) -> None:
        group = self._groups.consumer(key.group_id)
        if value is None and (group is None or isinstance(key, ConsumerGroupMetadataKey)):
            if group is not None:
                del self._groups[key.group_id]
            return
        if group is None:
            self._groups[key.group_id] = group = ConsumerGroup(key.group_id)
        replay(group, key, value, now)

    def resume(self) -> None:
        """Members begin their sessions anew."""
        for group in self._groups.values():
            if isinstance(group, ConsumerGroup):
                for member in group.members.values():
                    self._patience.renew(group, member)
