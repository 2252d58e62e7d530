"""The ids of idempotent producers: none is ever given out twice, and who has one can be seen.

Ids are taken from the metadata in blocks, so that a producer costs nothing but the first of a thousand. A
block counts when its record is durable, and its ids are given out only then: after a crash the next block
begins behind it, and what was left of it is never used.
"""

from collections import deque
from functools import partial
from typing import Final

from trivium.core.access import Access
from trivium.core.behalf import on_behalf, tell_all
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply, Routes, TopicRef
from trivium.core.commands.producers import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    ActiveProducer,
    DescribedProducers,
    DescribeProducers,
    InitProducer,
    NewProducer,
)
from trivium.core.faults import Fault, Refused
from trivium.core.permission import permitted_partition
from trivium.core.topic_names import check_topic_name
from trivium.messages.stored.metadata_brokers import ProducerIdsRecord

BLOCK_IDS: Final = 1_000
"""Ids of one block, as many as Kafka takes."""
ID_LAST: Final = 2**63 - 1
FIRST_EPOCH: Final = 0


class Producers:
    def __init__(self, cluster: Cluster, access: Access) -> None:
        self._cluster = cluster
        self._access = access
        self._next_id = self._id_end = 0
        """The rest of the block that is in use."""
        self._waiting: deque[Reply[NewProducer]] = deque()
        self.routes: Routes = {InitProducer: self.init, DescribeProducers: self.describe}

    # -- giving ids ------------------------------------------------------------------------------

    def init(self, command: InitProducer, caller: Caller, reply: Reply[NewProducer]) -> None:
        if is_half_a_past(command.producer_id, command.producer_epoch):
            reply(NewProducer(Fault.INVALID_REQUEST))
        else:
            self.give(reply)

    def give(self, reply: Reply[NewProducer]) -> None:
        """An id that nobody has had, at its first epoch: at once, or when a new block is durable."""
        if self._next_id < self._id_end:
            reply(self._take())
            return
        self._waiting.append(on_behalf(reply))
        if len(self._waiting) == 1:
            self._take_block()

    def _take(self) -> NewProducer:
        producer_id = self._next_id
        self._next_id += 1
        return NewProducer(None, producer_id, FIRST_EPOCH)

    def _take_block(self) -> None:
        first = self._cluster.image.producer_ids.next_id
        if first > ID_LAST - BLOCK_IDS:
            self._give_up(Fault.INTERNAL)
            return
        node_id = self._cluster.node_id
        broker = self._cluster.image.brokers.by_id.get(node_id)
        record = ProducerIdsRecord(
            broker_id=node_id,
            broker_epoch=-1 if broker is None else broker.broker_epoch,
            next_producer_id=first + BLOCK_IDS,
        )
        try:
            self._cluster.commit([(record, 0)], lambda fault: self._got_block(first, fault))
        except Refused as refused:
            self._give_up(refused.fault)

    def _got_block(self, first: int, fault: Fault | None) -> None:
        if fault is not None:
            self._give_up(fault)
            return
        self._next_id, self._id_end = first, first + BLOCK_IDS
        served = [
            partial(self._waiting.popleft(), self._take()) for _ in range(min(len(self._waiting), BLOCK_IDS))
        ]
        if self._waiting:
            self._take_block()
        tell_all(served)

    def _give_up(self, fault: Fault) -> None:
        waiting, self._waiting = self._waiting, deque()
        tell_all(waiting, NewProducer(fault))

    # -- describing ------------------------------------------------------------------------------

    def describe(
        self, command: DescribeProducers, caller: Caller, reply: Reply[list[DescribedProducers]]
    ) -> None:
        results = []
        for topic, index in command.partitions:
            try:
                results.append(self._described(command, topic, index, caller))
            except Refused as refused:
                results.append(DescribedProducers(topic, index, refused.fault, refused.message))
        reply(results)

    def _described(
        self, command: DescribeProducers, topic: TopicRef, index: int, caller: Caller
    ) -> DescribedProducers:
        row = command.ROW
        if isinstance(topic, str):
            check_topic_name(topic)
        try:
            partition = permitted_partition(self._cluster, self._access, caller, row, topic, index)
        except Refused as refused:
            if refused.fault is Fault.UNKNOWN_TOPIC and topic not in self._cluster.image.topics.by_name:
                raise Refused(refused.fault, "There is no such topic here.") from refused
            raise
        producers = [
            ActiveProducer(
                facts.producer_id,
                facts.epoch,
                facts.last_sequence,
                facts.last_timestamp,
                facts.coordinator_epoch,
                -1 if facts.txn_first_offset is None else facts.txn_first_offset,
            )
            for facts in partition.log.producers()
        ]
        return DescribedProducers(topic, index, producers=sorted(producers))


def is_half_a_past(producer_id: int, producer_epoch: int) -> bool:
    """Whether a producer says one of the id and the epoch that it has had, and not the other."""
    return (producer_id == NO_PRODUCER_ID) != (producer_epoch == NO_PRODUCER_EPOCH)
