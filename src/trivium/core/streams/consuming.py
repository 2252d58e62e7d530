"""Reading with a group or as a consumer by itself: which partition, from where, and how far it has come."""

from typing import Final

from trivium.core.access import Operation
from trivium.core.caller import Caller
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.stream_groups import (
    BeginPoll,
    Consumer,
    DeleteConsumerOffset,
    EndPoll,
    FindConsumerOffset,
    FoundConsumerOffset,
    PollPlace,
    StoreConsumerOffset,
    consumer_group_id,
)
from trivium.core.faults import Fault, Refused
from trivium.core.refusing import refusing
from trivium.core.streams.clients import Clients
from trivium.core.streams.finding import Finding
from trivium.core.streams.groups import known_group, number_of
from trivium.core.streams.membership import Member, Membership
from trivium.core.streams.registry import StreamTopic
from trivium.core.streams.shared_offsets import SharedOffsets

FIRST_PARTITION: Final = 0
"""What a consumer by itself reads that names no partition."""


class Consuming:
    def __init__(
        self, finding: Finding, membership: Membership, clients: Clients, offsets: SharedOffsets
    ) -> None:
        self._finding = finding
        self._membership = membership
        self._clients = clients
        self._offsets = offsets
        self.routes: Routes = {
            BeginPoll: refusing(self.begin_poll),
            EndPoll: refusing(self.end_poll),
            StoreConsumerOffset: refusing(self.store),
            FindConsumerOffset: refusing(self.find),
            DeleteConsumerOffset: refusing(self.delete),
        }

    # -- polling ---------------------------------------------------------------------------------

    def begin_poll(self, command: BeginPoll, caller: Caller, reply: Reply[PollPlace]) -> None:
        topic = self._finding.topic(command.stream, command.topic, caller, Operation.READ)
        partition = self._partition_to_poll(topic, command, caller)
        if partition is None:
            reply(PollPlace(None, topic.kafka_name))
            return
        live = self._finding.partition(topic, partition)
        log, committed = live.log, None
        if command.goes_on:
            group_id = group_id_of(topic, command.consumer)
            committed = self._offsets.find(group_id, topic.kafka_name, partition, caller)
        reply(
            PollPlace(
                None,
                topic.kafka_name,
                partition,
                committed,
                log.log_start_offset,
                log.last_stable_offset,
                live.life,
                live.rules.compacted,
                self._finding.kafka_topic(topic).topic_id,
            )
        )

    def _partition_to_poll(self, topic: StreamTopic, command: BeginPoll, caller: Caller) -> int | None:
        if not command.consumer.is_group:
            return FIRST_PARTITION if command.partition is None else command.partition
        if command.partition is None:
            return self._member(topic, command.consumer, caller).next_partition()
        if command.must_own:
            member = self._member(topic, command.consumer, caller)
            if not member.may_poll(command.partition):
                raise Refused(Fault.PARTITION_NOT_OWNED)
            member.polled = command.partition
        return command.partition

    def end_poll(self, command: EndPoll, caller: Caller, reply: Reply[Fault | None]) -> None:
        topic = self._finding.topic(command.stream, command.topic, caller, Operation.READ)
        group = known_group(topic, command.group)
        number, client_id = number_of(topic, group), self._clients.of(caller).client_id
        stored = self._offsets.find(group.name, topic.kafka_name, command.partition, caller)
        is_its_own = self._membership.has_polled(
            number, client_id, command.partition, command.offset, stored or 0
        )
        reply(None if is_its_own else Fault.PARTITION_NOT_OWNED)

    def _member(self, topic: StreamTopic, consumer: Consumer, caller: Caller) -> Member:
        group = known_group(topic, consumer.ref)
        member = self._membership.member(
            number_of(topic, group),
            self._clients.of(caller).client_id,
            self._finding.partitions_count(topic),
        )
        if member is None:
            raise Refused(Fault.UNKNOWN_MEMBER_ID)
        return member

    # -- offsets ---------------------------------------------------------------------------------

    def store(self, command: StoreConsumerOffset, caller: Caller, reply: Reply[Fault | None]) -> None:
        topic = self._finding.topic(command.stream, command.topic, caller, Operation.READ)
        partition = self._partition_to_change(topic, command, caller)
        log = self._finding.partition(topic, partition).log
        if not 0 <= command.offset <= log.high_watermark:
            raise Refused(Fault.OFFSET_OUT_OF_RANGE)
        group_id, client_id = group_id_of(topic, command.consumer), self._clients.of(caller).client_id
        group = known_group(topic, command.consumer.ref) if command.consumer.is_group else None

        def stored(fault: Fault | None) -> None:
            if fault is None and group is not None:
                number = number_of(topic, group)
                self._membership.has_stored(number, client_id, partition, command.offset)
            reply(fault)

        self._offsets.store(group_id, topic.kafka_name, partition, command.offset, caller, stored)

    def _partition_to_change(
        self, topic: StreamTopic, command: StoreConsumerOffset | DeleteConsumerOffset, caller: Caller
    ) -> int:
        if not command.consumer.is_group:
            return FIRST_PARTITION if command.partition is None else command.partition
        if command.partition is None:
            partition = self._member(topic, command.consumer, caller).current_partition
            if partition is None:
                raise Refused(Fault.PARTITION_NOT_OWNED)
            return partition
        if command.must_own:
            _check_owned(self._member(topic, command.consumer, caller), command.partition)
        return command.partition

    def find(self, command: FindConsumerOffset, caller: Caller, reply: Reply[FoundConsumerOffset]) -> None:
        topic = self._finding.topic(command.stream, command.topic, caller, Operation.READ)
        partition = FIRST_PARTITION if command.partition is None else command.partition
        log = self._finding.partition(topic, partition).log
        group_id = group_id_of(topic, command.consumer)
        committed = self._offsets.find(group_id, topic.kafka_name, partition, caller)
        reply(FoundConsumerOffset(None, partition, committed, log.last_stable_offset))

    def delete(self, command: DeleteConsumerOffset, caller: Caller, reply: Reply[Fault | None]) -> None:
        topic = self._finding.topic(command.stream, command.topic, caller, Operation.READ)
        partition = self._partition_to_change(topic, command, caller)
        self._finding.partition(topic, partition)
        group_id = group_id_of(topic, command.consumer)
        if self._offsets.find(group_id, topic.kafka_name, partition, caller) is None:
            raise Refused(Fault.NO_COMMITTED_OFFSET)
        self._offsets.forget(group_id, topic.kafka_name, [partition], caller, reply)


def group_id_of(topic: StreamTopic, consumer: Consumer) -> str:
    """The Kafka group that has the offsets."""
    return known_group(topic, consumer.ref).name if consumer.is_group else consumer_group_id(consumer.ref)


def _check_owned(member: Member, partition: int) -> None:
    if partition not in member.partitions:
        raise Refused(Fault.PARTITION_NOT_OWNED)
