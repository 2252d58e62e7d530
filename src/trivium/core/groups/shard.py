"""The groups whose records lie in one partition of ``__consumer_offsets``: a whole coordinator for them.

A command becomes records and a response. The records are written first, and if that is refused nothing has
happened; then the state changes, and later commands see it; the response leaves when the records are durable.
If they never will be, what is held here is worth nothing: the shard is given up, everybody who waits in it is
told to look for the coordinator again, and the next command reads the partition anew.
"""

from collections.abc import Callable, Mapping, Sequence

from trivium.core.access import Access
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply
from trivium.core.commands.groups import Heartbeat, Joined, JoinGroup, LeaveGroup, Left, Synced, SyncGroup
from trivium.core.commands.producers import Writer
from trivium.core.coordinator_faults import coordinator_fault as coordinator_fault
from trivium.core.faults import Fault, Refused
from trivium.core.groups.committing import Committing
from trivium.core.groups.consumer.coordination import Coordination
from trivium.core.groups.consumer.group import ConsumerGroup
from trivium.core.groups.consumer.records import encoded, group_tombstones
from trivium.core.groups.consumer.replaying import ConsumerGroupKey
from trivium.core.groups.consumer.rules import ConsumerRules
from trivium.core.groups.group import ClassicGroup
from trivium.core.groups.joining import Joining
from trivium.core.groups.membership import Membership
from trivium.core.groups.moment import Moment, moment
from trivium.core.groups.offsets import OffsetTable
from trivium.core.groups.rebalancing import Rebalancing
from trivium.core.groups.records import group_from, group_record, group_tombstone, offset_from
from trivium.core.groups.retention import Retention
from trivium.core.groups.roster import AnyGroup, Roster
from trivium.core.groups.rules import GroupRules
from trivium.core.groups.share.coordination import ShareCoordination
from trivium.core.groups.share.group import ShareGroup
from trivium.core.groups.share.records import ShareGroupKey
from trivium.core.groups.share.records import group_tombstones as share_group_tombstones
from trivium.core.groups.share.rules import ShareRules
from trivium.core.groups.share.states import ShareStates
from trivium.core.groups.syncing import Syncing
from trivium.core.internal_topic import NO_PRODUCER_ID, InternalTopic, KeyedRecord, Stored, TransactionEnd
from trivium.core.ports import Done
from trivium.core.timers import Timers
from trivium.messages.schema import Message
from trivium.messages.stored.classic_groups import GroupMetadataKey, GroupMetadataValue
from trivium.messages.stored.group_log import GROUP_LOG
from trivium.messages.stored.offsets import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from trivium.wire.errors import DecodeError

_KIND_BYTES = 2


def _tombstones(group: AnyGroup) -> Sequence[KeyedRecord]:
    """The end of everything that was stored of a group, its offsets left out."""
    if isinstance(group, ConsumerGroup):
        return [encoded(change) for change in group_tombstones(group)]
    if isinstance(group, ShareGroup):
        return [encoded(change) for change in share_group_tombstones(group)]
    return [group_tombstone(group.group_id)]


class Shard:
    def __init__(
        self,
        topic: InternalTopic,
        partition: int,
        *,
        rules: GroupRules,
        consumer_rules: ConsumerRules,
        share_rules: ShareRules,
        share_states: ShareStates,
        cluster: Cluster,
        access: Access,
        timers: Timers,
        new_uuid: Callable[[], str],
        given_up: "Callable[[Shard], None]",
    ) -> None:
        self._topic = topic
        self.partition = partition
        self._rules = rules
        self._cluster = cluster
        self._given_up = given_up
        self.is_closed = False
        self.groups = Roster()
        self.offsets = OffsetTable()
        self._foreign: dict[str, dict[bytes, None]] = {}
        """Keys of records of groups of protocols that are not spoken here, by group id."""
        self._rebalancing = Rebalancing(
            rules, timers, self.now, lambda group: self._store(group, lambda _fault: None)
        )
        self._joining = Joining(
            self.groups, rules, self._rebalancing, timers, self.now, new_uuid, self._store
        )
        self._syncing = Syncing(self.groups, self._rebalancing, self.now, self._store)
        self._membership = Membership(self.groups, self._rebalancing)
        self.consumers = Coordination(
            self.groups,
            rules=consumer_rules,
            classic_rules=rules,
            cluster=cluster,
            access=access,
            timers=timers,
            new_uuid=new_uuid,
            now=self.now,
            write=self._write,
            when_durable=self._when_durable,
            take_over=self._take_over,
        )
        self.shares = ShareCoordination(
            self.groups,
            rules=share_rules,
            states=share_states,
            cluster=cluster,
            access=access,
            timers=timers,
            now=self.now,
            write=self._write,
            when_durable=self._when_durable,
        )
        self.retention = Retention(self.groups, self.offsets, rules, self._write, _tombstones)
        self.committing = Committing(
            self.groups,
            self.offsets,
            rules,
            cluster,
            access,
            self._rebalancing.sessions,
            self.now,
            self._write,
            lambda group_id, places, done: self.retention.forget(group_id, places, done, with_group=False),
        )

    def now(self) -> Moment:
        return moment(self._cluster.clock)

    # -- members that speak the classic protocol -------------------------------------------------

    def join(self, command: JoinGroup, caller: Caller, reply: Reply[Joined]) -> None:
        if self.groups.share(command.group_id) is not None:
            raise Refused(Fault.INCONSISTENT_GROUP_PROTOCOL)
        group = self.groups.consumer(command.group_id)
        if group is None or group.is_empty:
            # A consumer group without members makes room for a classic one.
            self._joining.join(command, caller, reply)
        else:
            self.consumers.classic_members.join(group, command, caller, reply)

    def sync(self, command: SyncGroup, caller: Caller, reply: Reply[Synced]) -> None:
        group = self.groups.consumer(command.group_id)
        if group is None:
            self._syncing.sync(command, caller, reply)
        else:
            self.consumers.classic_members.sync(group, command, caller, reply)

    def beat(self, command: Heartbeat, caller: Caller, reply: Reply[Fault | None]) -> None:
        group = self.groups.consumer(command.group_id)
        if group is None:
            self._membership.beat(command, caller, reply)
        else:
            self.consumers.classic_members.beat(group, command, caller, reply)

    def leave(self, command: LeaveGroup, caller: Caller, reply: Reply[Left]) -> None:
        group = self.groups.consumer(command.group_id)
        if group is None:
            self._membership.leave(command, caller, reply)
        else:
            self.consumers.classic_members.leave(group, command, caller, reply)

    def _take_over(self, before: ConsumerGroup, group: ClassicGroup, rebalances: bool) -> None:
        self.groups[group.group_id] = group
        before.die(Fault.UNKNOWN_MEMBER_ID)
        for member in group.members.values():
            self._rebalancing.sessions.renew(group, member)
        if rebalances:
            self._rebalancing.begin(group)

    def delete(self, group_id: str, done: Done) -> None:
        """DeleteGroups. Where a share group stands is forgotten for good before the group is."""
        group = self.groups.share(group_id)
        if group is None or not group.is_empty:
            self.retention.delete(group_id, done)
            return

        def forgotten(fault: Fault | None) -> None:
            try:
                if fault is not None:
                    raise Refused(fault)
                self.retention.delete(group_id, done)
            except Refused as refused:
                done(refused.fault)

        self.shares.forget_states(group, forgotten)

    # -- writing ---------------------------------------------------------------------------------

    def _write(self, records: Sequence[KeyedRecord], done: Done, writer: Writer | None = None) -> None:
        try:
            self._topic.append(self.partition, records, lambda fault: self._written(fault, done), writer)
        except Refused as refused:
            raise Refused(coordinator_fault(refused.fault), refused.message) from refused

    def _when_durable(self, done: Done) -> None:
        """Call back when everything that has been written is durable."""
        try:
            self._topic.when_durable(self.partition, lambda fault: self._written(fault, done))
        except Refused as refused:
            raise Refused(coordinator_fault(refused.fault), refused.message) from refused

    def _written(self, fault: Fault | None, done: Done) -> None:
        if fault is not None:
            self.close()
            self._given_up(self)
        done(None if fault is None else coordinator_fault(fault))

    def _store(self, group: ClassicGroup, done: Done, assignments: Mapping[str, bytes] | None = None) -> None:
        """The group, and the end of what a group of another protocol has left behind under its name."""
        foreign = self._foreign.get(group.group_id, {})
        before = self.groups.consumer(group.group_id)
        ended = [] if before is None else [encoded(change) for change in group_tombstones(before)]
        self._write([*((key, None) for key in foreign), *ended, group_record(group, assignments)], done)
        self._foreign.pop(group.group_id, None)

    def close(self) -> None:
        """Nobody may use this shard any more."""
        if not self.is_closed:
            self.is_closed = True
            for group in list(self.groups.values()):
                group.die(Fault.NOT_COORDINATOR)

    # -- replaying -------------------------------------------------------------------------------

    def load(self) -> None:
        """Become what the partition says. ``Refused`` if it cannot be read."""
        now = self.now()
        try:
            for entry in self._topic.replay(self.partition):
                if isinstance(entry, TransactionEnd):
                    self.offsets.end_transaction(entry.producer_id, committed=entry.committed)
                elif int.from_bytes(entry.key[:_KIND_BYTES], "big") in GROUP_LOG.key_types:
                    self._replay(entry, now)
        except DecodeError as error:
            raise Refused(
                Fault.COORDINATOR_NOT_AVAILABLE,
                f"{self._topic.name}-{self.partition} cannot be read: {error}",
            ) from error
        self._resume()

    def _replay(self, entry: Stored, now: Moment) -> None:
        key = GROUP_LOG.decode_key(entry.key)
        value = GROUP_LOG.decode_value(key, entry.value)
        if isinstance(key, OffsetCommitKey | LegacyOffsetCommitKey):
            self._replay_offset(key, value, entry.producer_id, now)
        elif isinstance(key, GroupMetadataKey):
            if isinstance(value, GroupMetadataValue):
                self.groups[key.group] = group_from(key.group, value, now)
            elif self.groups.classic(key.group) is not None:
                del self.groups[key.group]
        elif isinstance(key, ConsumerGroupKey):
            self.consumers.replay(key, value, now)
        elif isinstance(key, ShareGroupKey):
            self.shares.replay(key, value, now)
        else:
            self._replay_foreign(key, entry)

    def _replay_offset(
        self,
        key: OffsetCommitKey | LegacyOffsetCommitKey,
        value: Message | None,
        producer_id: int,
        now: Moment,
    ) -> None:
        place = (key.topic, key.partition)
        if isinstance(value, LegacyOffsetCommitValue):
            value = OffsetCommitValue(
                offset=value.offset, metadata=value.metadata, commit_timestamp=value.commit_timestamp
            )
        if not isinstance(value, OffsetCommitValue):
            self.offsets.forget(key.group, place)
            return
        committed = offset_from(value, now)
        if producer_id == NO_PRODUCER_ID:
            self.offsets.put(key.group, place, committed)
        else:
            self.offsets.put_pending(producer_id, key.group, place, committed)
        if key.group not in self.groups:
            self.groups[key.group] = ClassicGroup(key.group, None)

    def _replay_foreign(self, key: Message, entry: Stored) -> None:
        keys = self._foreign.setdefault(str(getattr(key, "group_id", "")), {})
        if entry.value is None:
            keys.pop(entry.key, None)
        else:
            keys[entry.key] = None

    def _resume(self) -> None:
        """Members begin their sessions anew; what a stop left half done is done now."""
        for group_id in self.offsets:
            # What is left of a group whose end was written before the end of its offsets.
            if group_id not in self.groups:
                self.groups[group_id] = ClassicGroup(group_id, None)
        self.consumers.resume()
        self.shares.resume()
        for group in list(self.groups.values()):
            if not isinstance(group, ClassicGroup):
                continue
            for member in list(group.members.values()):
                self._rebalancing.sessions.renew(group, member)
            if len(group.members) > self._rules.size_max:
                self._rebalancing.begin(group)
        topics = self._cluster.image.topics.by_name
        self.retention.forget_where(
            lambda place, topic_id: (
                (topic := topics.get(place[0])) is None
                or place[1] not in topic.partitions
                or (any(topic_id) and topic_id != topic.topic_id)
            )
        )
