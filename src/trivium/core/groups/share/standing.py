"""Where share groups stand, for administrators: describing, altering and deleting their start offsets."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from trivium.core.access import NOT_AUTHORIZED, Access, Operation, Resource
from trivium.core.all_done import AllDone
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply
from trivium.core.commands.share_groups import (
    AlteredShareOffsets,
    AlterShareOffsets,
    DeletedShareOffsets,
    DeletedShareTopic,
    DeleteShareOffsets,
    ShareGroupOffsets,
    ShareGroupOffsetsWanted,
    ShareStart,
    ShareStarts,
)
from trivium.core.faults import Fault, Refused
from trivium.core.groups.assignors.subscriber import Parts
from trivium.core.groups.consumer.records import Change, by_topic
from trivium.core.groups.roster import Roster
from trivium.core.groups.share.group import ShareGroup
from trivium.core.groups.share.records import begun_record, epoch_record
from trivium.core.groups.share.share_partition import ShareKey
from trivium.core.groups.share.states import ShareStates
from trivium.core.metadata_topics import Topic
from trivium.core.ports import Done
from trivium.wire.uuid_text import ZERO_UUID

NOT_HERE: Final = "This server does not host this topic-partition."
_TO_ALTER: Final = Operation.READ


class Standing:
    def __init__(
        self,
        groups: Roster,
        states: ShareStates,
        cluster: Cluster,
        access: Access,
        apply: Callable[[ShareGroup, Sequence[Change], Done], None],
    ) -> None:
        self._groups = groups
        self._states = states
        self._cluster = cluster
        self._access = access
        self._apply = apply

    # -- describing ------------------------------------------------------------------------------

    def describe(self, wanted: ShareGroupOffsetsWanted, caller: Caller) -> ShareGroupOffsets:
        """A group that is not there stands nowhere, which is not a fault."""
        topics = []
        for name, numbers in self._wanted(wanted).items():
            topic = self._cluster.image.topics.by_name.get(name)
            topic_id = ZERO_UUID if topic is None else topic.topic_id
            if self._access.allows(caller, Operation.DESCRIBE, Resource.TOPIC, name):
                starts = [self._start(wanted.group_id, topic, number) for number in numbers]
            elif wanted.topics is None:
                continue
            else:
                fault = NOT_AUTHORIZED[Resource.TOPIC]
                topic_id, starts = ZERO_UUID, [ShareStart(number, fault=fault) for number in numbers]
            topics.append(ShareStarts(name, topic_id, starts))
        return ShareGroupOffsets(wanted.group_id, topics=topics)

    def _wanted(self, wanted: ShareGroupOffsetsWanted) -> Mapping[str, Sequence[int]]:
        if wanted.topics is not None:
            return wanted.topics
        group, by_id = self._groups.share(wanted.group_id), self._cluster.image.topics.by_id
        begun = {} if group is None else by_topic(group.begun)
        return {by_id[topic_id].name: numbers for topic_id, numbers in begun.items() if topic_id in by_id}

    def _start(self, group_id: str, topic: Topic | None, number: int) -> ShareStart:
        if topic is None or number not in topic.partitions:
            return ShareStart(number)
        try:
            partition = self._states.find(ShareKey(group_id, topic.topic_id, number))
            if partition is None or partition.flight is None:
                return ShareStart(number)
            live = self._cluster.partition(topic.name, number)
        except Refused as refused:
            return ShareStart(number, fault=refused.fault, message=refused.message)
        flight = partition.flight
        lag = max(0, live.log.high_watermark - flight.start_offset - flight.finished_count)
        return ShareStart(number, flight.start_offset, live.leader_epoch, lag)

    # -- altering --------------------------------------------------------------------------------

    def alter(self, command: AlterShareOffsets, caller: Caller, reply: Reply[AlteredShareOffsets]) -> None:
        group = self._empty_group(command.group_id, may_be_new=True)
        results, offsets = self._checked(command, caller)
        if not offsets:
            reply(AlteredShareOffsets(topics=results))
            return
        epoch = group.epoch + 1
        waiting = AllDone(
            lambda fault: reply(
                AlteredShareOffsets(topics=results) if fault is None else command.refused(fault)
            )
        )
        for key, offset in offsets.items():
            self._states.begin([key], epoch, offset, waiting.begin())
        begun = group.begun | {(key.topic_id, key.partition) for key in offsets}
        self._apply(
            group,
            [epoch_record(group.group_id, epoch, group.metadata_hash), self._begun_record(group, begun)],
            waiting.begin(),
        )
        self._groups[group.group_id] = group
        waiting.all_begun()

    def _checked(
        self, command: AlterShareOffsets, caller: Caller
    ) -> tuple[list[ShareStarts], dict[ShareKey, int]]:
        results: list[ShareStarts] = []
        offsets: dict[ShareKey, int] = {}
        for name, wanted in command.topics:
            starts = []
            topic_id = ZERO_UUID
            for number, offset in wanted:
                fault, message = None, None
                try:
                    topic = self._topic(name, caller)
                    topic_id = topic.topic_id
                    if number not in topic.partitions:
                        raise Refused(Fault.UNKNOWN_TOPIC, NOT_HERE)
                    if offset < 0:
                        raise Refused(Fault.INVALID_REQUEST, "An offset cannot be less than 0.")
                    offsets[ShareKey(command.group_id, topic_id, number)] = offset
                except Refused as refused:
                    fault, message = refused.fault, refused.message
                starts.append(ShareStart(number, fault=fault, message=message))
            results.append(ShareStarts(name, topic_id, starts))
        return results, offsets

    # -- deleting --------------------------------------------------------------------------------

    def delete(self, command: DeleteShareOffsets, caller: Caller, reply: Reply[DeletedShareOffsets]) -> None:
        group = self._empty_group(command.group_id, may_be_new=False)
        results: list[DeletedShareTopic] = []
        gone: set[bytes] = set()
        for name in command.topic_names:
            try:
                topic_id = self._topic(name, caller).topic_id
                if all(begun_id != topic_id for begun_id, _ in group.begun):
                    raise Refused(Fault.UNKNOWN_TOPIC, "The group has no offsets in this topic.")
            except Refused as refused:
                results.append(DeletedShareTopic(name, ZERO_UUID, refused.fault, refused.message))
                continue
            results.append(DeletedShareTopic(name, topic_id))
            gone.add(topic_id)
        parts = frozenset(part for part in group.begun if part[0] in gone)
        if not parts:
            reply(DeletedShareOffsets(topics=results))
            return
        waiting = AllDone(
            lambda fault: reply(
                DeletedShareOffsets(topics=results) if fault is None else command.refused(fault)
            )
        )
        self._states.forget(group.share_keys(parts), waiting.begin())
        self._apply(group, [self._begun_record(group, group.begun - parts)], waiting.begin())
        waiting.all_begun()

    def _topic(self, name: str, caller: Caller) -> Topic:
        if not self._access.allows(caller, _TO_ALTER, Resource.TOPIC, name):
            raise Refused(NOT_AUTHORIZED[Resource.TOPIC])
        topic = self._cluster.image.topics.by_name.get(name)
        if topic is None:
            raise Refused(Fault.UNKNOWN_TOPIC, NOT_HERE)
        return topic

    def _empty_group(self, group_id: str, *, may_be_new: bool) -> ShareGroup:
        if not group_id:
            raise Refused(Fault.INVALID_GROUP_ID, "A group has a name.")
        if may_be_new and group_id not in self._groups:
            return ShareGroup(group_id)
        group = self._groups.require_share(group_id)
        if not group.is_empty:
            raise Refused(Fault.NON_EMPTY_GROUP, "The group is not empty.")
        return group

    def _begun_record(self, group: ShareGroup, begun: Parts) -> Change:
        by_id: Iterable[tuple[bytes, Topic]] = self._cluster.image.topics.by_id.items()
        return begun_record(group.group_id, begun, {topic_id: topic.name for topic_id, topic in by_id})
