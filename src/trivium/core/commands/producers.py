"""Idempotent producers: giving them their ids, and seeing who writes."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Resource, Row, on_cluster, on_each
from trivium.core.commands.command import Command, TopicRef, command
from trivium.core.faults import Fault

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1


class Writer(NamedTuple):
    """The producer in whose transaction something is written."""

    producer_id: int
    producer_epoch: int


class NewProducer(NamedTuple):
    fault: Fault | None = None
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    ongoing_producer_id: int = NO_PRODUCER_ID
    """Of the transaction that was left open for this producer to decide, if there is one (KIP-939)."""
    ongoing_producer_epoch: int = NO_PRODUCER_EPOCH


@command
class InitProducer(Command[NewProducer]):
    """Give a producer an id that nobody has had before. The one it has had so far may be said, and changes
    nothing: only a transactional id gives a producer a past (``InitTransactions``).
    """

    ROW: ClassVar[Row] = on_cluster(Operation.IDEMPOTENT_WRITE)
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH

    def refused(self, fault: Fault, message: str | None = None) -> NewProducer:
        return NewProducer(fault)


class ActiveProducer(NamedTuple):
    """A producer as a partition remembers it; -1 for what it does not know."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    coordinator_epoch: int
    txn_first_offset: int


class DescribedProducers(NamedTuple):
    topic: TopicRef
    partition: int
    fault: Fault | None = None
    message: str | None = None
    producers: Sequence[ActiveProducer] = ()


@command
class DescribeProducers(Command[list[DescribedProducers]]):
    ROW: ClassVar[Row] = on_each(Operation.READ, Resource.TOPIC)
    partitions: Sequence[tuple[TopicRef, int]]

    def refused(self, fault: Fault, message: str | None = None) -> list[DescribedProducers]:
        return [DescribedProducers(topic, partition, fault, message) for topic, partition in self.partitions]
