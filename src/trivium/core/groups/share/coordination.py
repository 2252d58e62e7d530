"""All of a shard that concerns share groups, put together."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from trivium.core.access import Access
from trivium.core.cluster import Cluster
from trivium.core.faults import Fault, Refused
from trivium.core.groups.assignors.subscriber import Part
from trivium.core.groups.moment import Moment
from trivium.core.groups.roster import Roster
from trivium.core.groups.share.group import ShareGroup
from trivium.core.groups.share.heartbeats import Heartbeats
from trivium.core.groups.share.records import ShareGroupKey, begun_record, replay
from trivium.core.groups.share.rules import ShareRules
from trivium.core.groups.share.standing import Standing
from trivium.core.groups.share.states import ShareStates
from trivium.core.internal_topic import KeyedRecord
from trivium.core.ports import Done
from trivium.core.timers import Timers
from trivium.messages.schema import Message
from trivium.messages.stored.share_groups import ShareGroupMetadataKey


class ShareCoordination:
    def __init__(
        self,
        groups: Roster,
        *,
        rules: ShareRules,
        states: ShareStates,
        cluster: Cluster,
        access: Access,
        timers: Timers,
        now: Callable[[], Moment],
        write: Callable[[Sequence[KeyedRecord], Done], None],
        when_durable: Callable[[Done], None],
    ) -> None:
        self._groups = groups
        self._states = states
        self._cluster = cluster
        self.heartbeats = Heartbeats(groups, rules, states, cluster, access, timers, now, write, when_durable)
        self.standing = Standing(groups, states, cluster, access, self.heartbeats.apply)

    # -- replaying -------------------------------------------------------------------------------

    def replay(self, key: ShareGroupKey, value: Message | None, now: Moment) -> None:
        group = self._groups.share(key.group_id)
        if value is None and (group is None or isinstance(key, ShareGroupMetadataKey)):
            if group is not None:
                del self._groups[key.group_id]
            return
        if group is None:
            self._groups[key.group_id] = group = ShareGroup(key.group_id)
        replay(group, key, value, now)

    def resume(self) -> None:
        """Members begin their sessions anew, and what a crash has left half done is done now."""
        self.forget_missing()
        for group in self._share_groups():
            for member in group.members.values():
                self.heartbeats.renew(group, member)
            # Whoever reads where this cannot be done now hears why, or that the group is not known there.
            with suppress(Refused):
                self._resume_states(group)

    def _resume_states(self, group: ShareGroup) -> None:
        missing = []
        for key in group.share_keys():
            partition = self._states.find(key)
            if partition is None:
                missing.append(key)
            elif partition.flight is not None:
                # Before others take the places of records that a crash has taken from the log.
                log = self._cluster.partition(key.topic_id, key.partition).log
                self._states.retreat(partition, log.log_end_offset, _nobody_waits)
        if missing:
            self._states.begin(missing, group.epoch, None, _nobody_waits)

    # -- forgetting ------------------------------------------------------------------------------

    def forget_missing(self) -> None:
        """Topics and partitions that are there no more take with them where groups stood in them."""
        by_id = self._cluster.image.topics.by_id

        def is_gone(part: Part) -> bool:
            topic = by_id.get(part[0])
            return topic is None or part[1] not in topic.partitions

        for group in self._share_groups():
            gone = frozenset(filter(is_gone, group.begun))
            if gone:
                names = {topic_id: topic.name for topic_id, topic in by_id.items()}
                # What cannot be written now is found again by the next start.
                with suppress(Refused):
                    self._states.forget(group.share_keys(gone), _nobody_waits)
                    record = begun_record(group.group_id, group.begun - gone, names)
                    self.heartbeats.apply(group, [record], _nobody_waits)

    def forget_states(self, group: ShareGroup, done: Done) -> None:
        """A group is about to go: where it stood must not be found by the next one of its name."""
        self._states.forget(group.share_keys(), done)

    def _share_groups(self) -> list[ShareGroup]:
        return [group for group in self._groups.values() if isinstance(group, ShareGroup)]


def _nobody_waits(_fault: Fault | None) -> None:
    """If it was never written, the next start finds it as it was, and tries again."""
