"""Transactions: beginning, growing, ending them, and seeing what there is.

A transaction belongs to a transactional id, and to the producer that was last initialised with it: every
command carries that producer's id and epoch, and an older epoch is fenced.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Resource, Row, on_cluster, on_each, on_transactional_id
from trivium.core.commands.command import Command, command
from trivium.core.commands.groups import NO_GENERATION, NO_MEMBER_ID
from trivium.core.commands.offsets import CommittedPart, OffsetToCommit
from trivium.core.commands.producers import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NewProducer
from trivium.core.faults import Fault

NO_START_TIME_MS = -1
ANY_DURATION = -1


@command
class InitTransactions(Command[NewProducer]):
    """Give the producer of a transactional id its id and epoch, and fence whoever had them before.

    A producer that says its present id and epoch goes on after an error (KIP-360): it is not fenced by
    itself. With ``keeps_prepared`` the transaction that it has left open stays open, to be decided by it
    (KIP-939).
    """

    ROW: ClassVar[Row] = on_transactional_id(Operation.WRITE)
    transactional_id: str
    timeout_ms: int
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    is_two_phase: bool = False
    """Somebody else decides about its transactions: they never time out."""
    keeps_prepared: bool = False

    def refused(self, fault: Fault, message: str | None = None) -> NewProducer:
        return NewProducer(fault)


class AddedPart(NamedTuple):
    topic: str
    partition: int
    fault: Fault | None = None


@command
class AddPartitions(Command[list[AddedPart]]):
    """Make partitions a part of the open transaction, which begins with the first of them; all or none."""

    ROW: ClassVar[Row] = on_transactional_id(Operation.WRITE)
    transactional_id: str
    producer_id: int
    producer_epoch: int
    partitions: Sequence[tuple[str, int]]
    verifies_only: bool = False
    """Only say whether they are a part of it already."""

    def refused(self, fault: Fault, message: str | None = None) -> list[AddedPart]:
        return [AddedPart(topic, partition, fault) for topic, partition in self.partitions]


class AddedBatch(NamedTuple):
    fault: Fault | None = None
    """If nothing of the whole batch was looked at."""
    parts: Sequence[Sequence[AddedPart]] = ()
    """For each transaction, in the order of the command."""


@command
class AddPartitionsInBatch(Command[AddedBatch]):
    """The same for many transactions, by a broker on behalf of its clients (KIP-890)."""

    ROW: ClassVar[Row] = on_cluster(Operation.CLUSTER_ACTION)
    transactions: Sequence[AddPartitions]

    def refused(self, fault: Fault, message: str | None = None) -> AddedBatch:
        return AddedBatch(fault)


@command
class AddOffsets(Command[Fault | None]):
    """Make the offsets of a group a part of the open transaction."""

    ROW: ClassVar[Row] = on_transactional_id(Operation.WRITE)
    transactional_id: str
    producer_id: int
    producer_epoch: int
    group_id: str

    def refused(self, fault: Fault, message: str | None = None) -> Fault | None:
        return fault


@command
class CommitInTransaction(Command[list[CommittedPart]]):
    """Store offsets of a group that count once the transaction is committed."""

    ROW: ClassVar[Row] = on_transactional_id(Operation.WRITE)
    transactional_id: str
    producer_id: int
    producer_epoch: int
    group_id: str
    parts: Sequence[OffsetToCommit]
    member_id: str = NO_MEMBER_ID
    instance_id: str | None = None
    generation: int = NO_GENERATION
    joins: bool = False
    """The group becomes a part of the transaction by this, without ``AddOffsets`` (KIP-890)."""

    def refused(self, fault: Fault, message: str | None = None) -> list[CommittedPart]:
        return [CommittedPart(part.topic, part.partition, fault) for part in self.parts]


class Ended(NamedTuple):
    """With what the producer goes on."""

    fault: Fault | None = None
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH


@command
class EndTransaction(Command[Ended]):
    """Commit or abort. It is decided when the reply comes, whatever happens after it."""

    ROW: ClassVar[Row] = on_transactional_id(Operation.WRITE)
    transactional_id: str
    producer_id: int
    producer_epoch: int
    commits: bool
    renews_epoch: bool = False
    """The next transaction has an epoch of its own, so that nothing that is late can get into it (KIP-890,
    ``transaction.version`` 2)."""

    def refused(self, fault: Fault, message: str | None = None) -> Ended:
        return Ended(fault)


class MarkersToWrite(NamedTuple):
    producer_id: int
    producer_epoch: int
    commits: bool
    coordinator_epoch: int
    partitions: Sequence[tuple[str, int]]
    is_strict: bool = False
    """Its epoch must be newer than everything that the producer has written (KIP-1228)."""


@command
class WriteMarkers(Command[list[Sequence[AddedPart]]]):
    """End transactions in partitions by hand: what a coordinator does to others, and an administrator to
    transactions that no coordinator knows.
    """

    ROW: ClassVar[Row] = on_cluster(Operation.ALTER)
    markers: Sequence[MarkersToWrite]

    def refused(self, fault: Fault, message: str | None = None) -> list[Sequence[AddedPart]]:
        return [
            [AddedPart(topic, partition, fault) for topic, partition in marker.partitions]
            for marker in self.markers
        ]


class DescribedTransaction(NamedTuple):
    transactional_id: str
    fault: Fault | None = None
    state: str = ""
    timeout_ms: int = 0
    started_at_ms: int = 0
    producer_id: int = 0
    producer_epoch: int = 0
    partitions: Sequence[tuple[str, int]] = ()


@command
class DescribeTransactions(Command[list[DescribedTransaction]]):
    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE, Resource.TRANSACTIONAL_ID)
    transactional_ids: Sequence[str]

    def refused(self, fault: Fault, message: str | None = None) -> list[DescribedTransaction]:
        return [DescribedTransaction(each, fault) for each in self.transactional_ids]


class ListedTransaction(NamedTuple):
    transactional_id: str
    producer_id: int
    state: str


class ListedTransactions(NamedTuple):
    fault: Fault | None = None
    unknown_states: Sequence[str] = ()
    transactions: Sequence[ListedTransaction] = ()


@command
class ListTransactions(Command[ListedTransactions]):
    """All transactions, or those that every filter lets through; an empty filter lets all through."""

    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE, Resource.TRANSACTIONAL_ID)
    states: Sequence[str] = ()
    producer_ids: Sequence[int] = ()
    duration_ms: int = ANY_DURATION
    """Only those that have been running for longer."""
    id_pattern: str = ""
    """A regular expression that the whole transactional id must match."""

    def refused(self, fault: Fault, message: str | None = None) -> ListedTransactions:
        return ListedTransactions(fault)
