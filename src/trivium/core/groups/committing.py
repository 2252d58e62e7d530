"""Committing, looking up and deleting the offsets of a group.

Who may commit: a member, of the present generation, while no new one is being handed out; and anybody, to a
group without members. Offsets of topics that are not there are refused, one by one.
"""

from collections.abc import Callable, Sequence

from trivium.core.access import Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply, TopicRef
from trivium.core.commands.groups import NO_MEMBER_ID
from trivium.core.commands.offsets import (
    CommitOffsets,
    CommittedPart,
    DeletedOffsets,
    DeleteOffsets,
    FoundOffset,
    GroupOffsets,
    GroupOffsetsWanted,
    OffsetToCommit,
)
from trivium.core.commands.producers import Writer
from trivium.core.faults import Fault, Refused
from trivium.core.groups.consumer.group import ConsumerGroup
from trivium.core.groups.group import CONSUMER_PROTOCOL, ClassicGroup, State
from trivium.core.groups.moment import Moment
from trivium.core.groups.offsets import CommittedOffset, OffsetTable, Place
from trivium.core.groups.records import offset_record
from trivium.core.groups.roster import Roster
from trivium.core.groups.rules import GroupRules
from trivium.core.groups.sessions import Sessions
from trivium.core.groups.share.group import ShareGroup
from trivium.core.internal_topic import KeyedRecord
from trivium.core.metadata_topics import Topic
from trivium.core.ports import Done
from trivium.wire.uuid_text import ZERO_UUID


class Committing:
    def __init__(
        self,
        groups: Roster,
        offsets: OffsetTable,
        rules: GroupRules,
        cluster: Cluster,
        access: Access,
        sessions: Sessions,
        now: Callable[[], Moment],
        write: Callable[[Sequence[KeyedRecord], Done, Writer | None], None],
        forget: Callable[[str, Sequence[Place], Done], None],
    ) -> None:
        self._groups = groups
        self._offsets = offsets
        self._rules = rules
        self._cluster = cluster
        self._access = access
        self._sessions = sessions
        self._now = now
        self._write = write
        self._forget = forget

    # -- committing ------------------------------------------------------------------------------

    def commit(self, command: CommitOffsets, caller: Caller, reply: Reply[list[CommittedPart]]) -> None:
        refusal = None if command.shares_only else self._refusal(command)
        now, group_id = self._now(), command.group_id
        results: list[CommittedPart] = []
        taken: dict[Place, CommittedOffset] = {}
        for part in command.parts:
            fault = None
            try:
                topic = self._topic(part.topic, part.partition, Operation.READ, caller)
                if refusal is not None:
                    raise refusal
                taken[topic.name, part.partition] = self._offset(part, topic, command.retention_ms, now)
            except Refused as refused:
                fault = refused.fault
            results.append(CommittedPart(part.topic, part.partition, fault))
        if not taken:
            reply(results)
            return
        self._write(
            [offset_record(group_id, place, offset) for place, offset in taken.items()],
            lambda fault: reply(results if fault is None else command.refused(fault)),
            command.writer,
        )
        if group_id not in self._groups:
            # A simple consumer makes its group by committing. Only its offsets are ever stored.
            self._groups[group_id] = ClassicGroup(group_id, now)
        for place, offset in taken.items():
            if command.writer is None:
                self._offsets.put(group_id, place, offset)
            else:
                self._offsets.put_pending(command.writer.producer_id, group_id, place, offset)

    def _refusal(self, command: CommitOffsets) -> Refused | None:
        """Why who commits may not. What is not there at all is said of it all the same."""
        try:
            self._check_committer(command)
        except Refused as refused:
            return refused
        return None

    def _check_committer(self, command: CommitOffsets) -> None:
        found = self._groups.get(command.group_id)
        if isinstance(found, ConsumerGroup):
            found.check_commit(command, self._topic_id)
            return
        if isinstance(found, ShareGroup):
            raise Refused(
                Fault.GROUP_ID_NOT_FOUND, f"Group {command.group_id} is a share group: it commits no offsets."
            )
        group = self._groups.classic(command.group_id)
        if group is None:
            if command.generation >= 0:
                raise Refused(Fault.GROUP_ID_NOT_FOUND, f"Group {command.group_id} not found.")
            return
        if command.generation < 0 and group.state is State.EMPTY:
            return
        if command.generation < 0 and command.member_id == NO_MEMBER_ID and command.instance_id is None:
            raise Refused(Fault.UNKNOWN_MEMBER_ID)
        member = group.member(command.member_id, command.instance_id)
        if command.generation != group.generation:
            raise Refused(Fault.ILLEGAL_GENERATION)
        if group.state is State.COMPLETING_REBALANCE:
            raise Refused(Fault.REBALANCE_IN_PROGRESS)
        self._sessions.renew(group, member)

    def _offset(
        self, part: OffsetToCommit, topic: Topic, retention_ms: int | None, now: Moment
    ) -> CommittedOffset:
        metadata = part.metadata or ""
        if len(metadata) > self._rules.offset_metadata_max:
            raise Refused(
                Fault.OFFSET_METADATA_TOO_LARGE,
                f"{len(metadata)} characters, offset.metadata.max.bytes allows "
                f"{self._rules.offset_metadata_max}",
            )
        return CommittedOffset(
            part.offset,
            part.leader_epoch,
            metadata,
            now if part.committed_at_ms is None else now.recall(part.committed_at_ms),
            None if retention_ms is None else now.wall_ms + retention_ms,
            topic.topic_id,
        )

    def _topic_id(self, ref: TopicRef) -> bytes | None:
        if isinstance(ref, bytes):
            return ref
        topic = self._cluster.image.topics.by_name.get(ref)
        return None if topic is None else topic.topic_id

    def _topic(self, ref: TopicRef, partition: int, operation: Operation, caller: Caller) -> Topic:
        """The topic of a partition that is there and that the caller may use."""
        if isinstance(ref, str) and not self._access.allows(caller, operation, Resource.TOPIC, ref):
            raise Refused(Fault.NOT_AUTHORIZED_TOPIC)
        topic = self._cluster.topic(ref)
        if not isinstance(ref, str) and not self._access.allows(
            caller, operation, Resource.TOPIC, topic.name
        ):
            raise Refused(Fault.NOT_AUTHORIZED_TOPIC)
        if partition not in topic.partitions:
            raise Refused(Fault.UNKNOWN_TOPIC)
        return topic

    # -- looking up ------------------------------------------------------------------------------

    def fetch(self, wanted: GroupOffsetsWanted, caller: Caller, *, require_stable: bool) -> GroupOffsets:
        group = self._groups.consumer(wanted.group_id)
        if group is not None:
            group.check_fetch(wanted.member_id, wanted.member_epoch)
        if wanted.parts is None:
            offsets = self._fetch_all(wanted.group_id, caller, require_stable=require_stable)
        else:
            offsets = [
                self._fetch_one(wanted.group_id, ref, partition, caller, require_stable=require_stable)
                for ref, partition in wanted.parts
            ]
        return GroupOffsets(wanted.group_id, offsets=offsets)

    def _fetch_all(self, group_id: str, caller: Caller, *, require_stable: bool) -> list[FoundOffset]:
        places = sorted(self._offsets.of(group_id))
        readable = {
            topic: self._access.allows(caller, Operation.DESCRIBE, Resource.TOPIC, topic)
            for topic in {topic for topic, _ in places}
        }
        return [
            self._found(group_id, place, place[0], require_stable=require_stable)
            for place in places
            if readable[place[0]]
        ]

    def _fetch_one(
        self, group_id: str, ref: TopicRef, partition: int, caller: Caller, *, require_stable: bool
    ) -> FoundOffset:
        name = ref
        if isinstance(name, bytes):
            topic = self._cluster.image.topics.by_id.get(name)
            if topic is None:
                return FoundOffset(ref, partition, Fault.UNKNOWN_TOPIC_ID)
            name = topic.name
        if not self._access.allows(caller, Operation.DESCRIBE, Resource.TOPIC, name):
            return FoundOffset(ref, partition, Fault.NOT_AUTHORIZED_TOPIC)
        return self._found(group_id, (name, partition), ref, require_stable=require_stable)

    def _found(self, group_id: str, place: Place, ref: TopicRef, *, require_stable: bool) -> FoundOffset:
        topic = self._cluster.image.topics.by_name.get(place[0])
        topic_id = ZERO_UUID if topic is None else topic.topic_id
        if require_stable and self._offsets.is_pending(group_id, place):
            return FoundOffset(ref, place[1], Fault.UNSTABLE_OFFSET_COMMIT, topic_id=topic_id)
        committed = self._offsets.of(group_id).get(place)
        if committed is None:
            return FoundOffset(ref, place[1], topic_id=topic_id)
        return FoundOffset(
            ref,
            place[1],
            None,
            committed.offset,
            committed.leader_epoch,
            committed.metadata,
            topic_id,
        )

    # -- deleting --------------------------------------------------------------------------------

    def delete(self, command: DeleteOffsets, caller: Caller, reply: Reply[DeletedOffsets]) -> None:
        group = self._groups.get(command.group_id)
        if group is None or isinstance(group, ShareGroup):
            raise Refused(Fault.GROUP_ID_NOT_FOUND)
        if not group.is_empty and group.protocol_type != CONSUMER_PROTOCOL:
            raise Refused(Fault.NON_EMPTY_GROUP)
        results: list[CommittedPart] = []
        gone: list[Place] = []
        for name, partition in command.parts:
            fault = None
            try:
                self._topic(name, partition, Operation.READ, caller)
                if group.is_subscribed_to(name):
                    raise Refused(Fault.GROUP_SUBSCRIBED_TO_TOPIC)
                place = (name, partition)
                if place in self._offsets.of(group.group_id) or self._offsets.is_pending(
                    group.group_id, place
                ):
                    gone.append(place)
            except Refused as refused:
                fault = refused.fault
            results.append(CommittedPart(name, partition, fault))
        self._forget(
            command.group_id,
            gone,
            lambda fault: reply(DeletedOffsets(fault, () if fault is not None else results)),
        )
