"""The groups of a stream's topic: what there is, making and removing them, joining and leaving.

Names and numbers are kept; who is a member is not, because members are connections.
"""

from dataclasses import replace

from trivium.core.access import Operation
from trivium.core.all_done import AllDone
from trivium.core.caller import Caller
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.stream_groups import (
    CreateStreamGroup,
    DeleteStreamGroup,
    DescribedStreamGroup,
    DescribeStreamGroup,
    JoinStreamGroup,
    LeaveStreamGroup,
    ListedStreamGroups,
    ListStreamGroups,
    StreamGroupFacts,
    StreamGroupMember,
    consumer_group_id,
)
from trivium.core.commands.streams import StreamRef, StreamTopicRef
from trivium.core.faults import Fault, Refused
from trivium.core.refusing import refusing
from trivium.core.streams.clients import Clients
from trivium.core.streams.enrolment import Enrolment
from trivium.core.streams.finding import Finding
from trivium.core.streams.membership import Membership
from trivium.core.streams.names import is_name
from trivium.core.streams.registry import (
    GroupNumber,
    StreamGroup,
    StreamTopic,
    group_change,
    group_removed,
    new_id,
    topic_change,
)
from trivium.core.streams.shared_offsets import SharedOffsets
from trivium.core.trivium_log import TriviumLog

RESERVED_PREFIX = consumer_group_id("")
_OFFSETS_STAY = frozenset((Fault.GROUP_ID_NOT_FOUND, Fault.NON_EMPTY_GROUP, Fault.GROUP_SUBSCRIBED_TO_TOPIC))
"""Nothing was ever committed; or members of the Kafka group of that name go on with the offsets."""


class StreamGroups:
    def __init__(
        self,
        finding: Finding,
        enrolment: Enrolment,
        membership: Membership,
        clients: Clients,
        offsets: SharedOffsets,
        log: TriviumLog,
    ) -> None:
        self._finding = finding
        self._now_us = enrolment.now_us
        self._membership = membership
        self._clients = clients
        self._offsets = offsets
        self._log = log
        enrolment.struck_out.append(self._topic_gone)
        self.routes: Routes = {
            DescribeStreamGroup: refusing(self.describe),
            ListStreamGroups: refusing(self.list_groups),
            CreateStreamGroup: refusing(self.create),
            DeleteStreamGroup: refusing(self.delete),
            JoinStreamGroup: refusing(self.join),
            LeaveStreamGroup: refusing(self.leave),
        }

    # -- looking ---------------------------------------------------------------------------------

    def describe(
        self, command: DescribeStreamGroup, caller: Caller, reply: Reply[DescribedStreamGroup]
    ) -> None:
        topic = self._topic(command.stream, command.topic, caller)
        reply(DescribedStreamGroup(None, self._facts(topic, known_group(topic, command.group))))

    def list_groups(
        self, command: ListStreamGroups, caller: Caller, reply: Reply[ListedStreamGroups]
    ) -> None:
        topic = self._topic(command.stream, command.topic, caller)
        groups = [self._facts(topic, group) for _, group in sorted(topic.groups.items())]
        reply(ListedStreamGroups(None, groups))

    def _topic(self, stream: StreamRef, topic: StreamTopicRef, caller: Caller) -> StreamTopic:
        return self._finding.topic(stream, topic, caller, Operation.DESCRIBE_CONFIGS)

    def _facts(self, topic: StreamTopic, group: StreamGroup) -> StreamGroupFacts:
        partitions = self._finding.partitions_count(topic)
        members = self._membership.members(number_of(topic, group), partitions)
        return StreamGroupFacts(
            group.group_id,
            group.name,
            partitions,
            [
                StreamGroupMember(member.member_id, member.client_id, tuple(member.partitions))
                for member in members
            ],
        )

    # -- making and removing ---------------------------------------------------------------------

    def create(self, command: CreateStreamGroup, caller: Caller, reply: Reply[DescribedStreamGroup]) -> None:
        topic = self._topic(command.stream, command.topic, caller)
        if not is_name(command.name) or command.name.startswith(RESERVED_PREFIX):
            raise Refused(
                Fault.INVALID_STREAM_GROUP_NAME,
                f"The name of a group has 1 to 255 bytes and does not begin with {RESERVED_PREFIX}.",
            )
        if topic.group(command.name) is not None:
            raise Refused(Fault.STREAM_GROUP_EXISTS)
        group_id = new_id(command.group_id, topic.next_group_id, topic.groups, Fault.STREAM_GROUP_ID_EXISTS)
        group = StreamGroup(group_id, command.name, self._now_us())
        counted = replace(topic, next_group_id=max(topic.next_group_id, group_id + 1))

        def done(fault: Fault | None) -> None:
            reply(DescribedStreamGroup(fault, None if fault else self._facts(topic, group)))

        self._log.commit([topic_change(counted), group_change(topic, group)], done)

    def delete(self, command: DeleteStreamGroup, caller: Caller, reply: Reply[Fault | None]) -> None:
        topic = self._topic(command.stream, command.topic, caller)
        group = known_group(topic, command.group)
        all_done = AllDone(reply)
        self._log.commit([group_removed(topic, group)], all_done.begin())
        self._membership.forget(number_of(topic, group))
        partitions = range(self._finding.partitions_count(topic))
        forgotten = all_done.begin()
        self._offsets.forget(
            group.name,
            topic.kafka_name,
            partitions,
            caller,
            lambda fault: forgotten(None if fault in _OFFSETS_STAY else fault),
        )
        all_done.all_begun()

    def _topic_gone(self, topic: StreamTopic) -> None:
        for group in topic.groups.values():
            self._membership.forget(number_of(topic, group))

    # -- members ---------------------------------------------------------------------------------

    def join(self, command: JoinStreamGroup, caller: Caller, reply: Reply[Fault | None]) -> None:
        topic = self._topic(command.stream, command.topic, caller)
        group = known_group(topic, command.group)
        self._membership.join(
            number_of(topic, group),
            self._clients.of(caller).client_id,
            self._finding.partitions_count(topic),
        )
        reply(None)

    def leave(self, command: LeaveStreamGroup, caller: Caller, reply: Reply[Fault | None]) -> None:
        topic = self._topic(command.stream, command.topic, caller)
        group = known_group(topic, command.group)
        was_member = self._membership.leave(number_of(topic, group), self._clients.of(caller).client_id)
        reply(None if was_member else Fault.UNKNOWN_MEMBER_ID)


def known_group(topic: StreamTopic, ref: int | str) -> StreamGroup:
    group = topic.group(ref)
    if group is None:
        raise Refused(Fault.UNKNOWN_STREAM_GROUP)
    return group


def number_of(topic: StreamTopic, group: StreamGroup) -> GroupNumber:
    return topic.stream_id, topic.topic_id, group.group_id
