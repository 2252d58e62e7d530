"""Writing and reading records.

These two are made for every request of the hot path, so they are not frozen: that would cost a microsecond.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Resource, Row, on_each
from trivium.core.commands.command import Command, TopicRef, command
from trivium.core.faults import Fault
from trivium.core.ports import Aborted
from trivium.records.header import BatchHeader
from trivium.wire.buffer import Buffer

NO_OFFSET = -1
NO_TIMESTAMP = -1
NO_REPLICA = -1


class ProducePart(NamedTuple):
    """Batches for one partition. Their bytes may be written to: offsets are stamped in place."""

    topic: TopicRef
    partition: int
    records: Buffer | None
    batches: Sequence[tuple[int, BatchHeader]] | None = None
    """Where each begins, and its header, from somebody who has made them itself; None: they have yet to be
    found and checked."""
    wrong: tuple[Fault, str] | None = None
    """What is wrong with the records at first sight: told once it is known that there is such a partition."""


class RecordError(NamedTuple):
    """Which record of a batch is at fault, counted from 0."""

    record_index: int
    message: str | None


class ProducedPart(NamedTuple):
    topic: TopicRef
    partition: int
    fault: Fault | None = None
    message: str | None = None
    base_offset: int = NO_OFFSET
    log_append_time_ms: int = NO_TIMESTAMP
    log_start_offset: int = NO_OFFSET
    record_errors: Sequence[RecordError] = ()


@command
class Produce(Command[list[ProducedPart]]):
    """Append batches, each partition for itself. ``acks``: 0 nothing, 1 written, -1 durable."""

    ROW: ClassVar[Row] = on_each(Operation.WRITE, Resource.TOPIC)
    parts: Sequence[ProducePart]
    acks: int
    timeout_ms: int
    transactional_id: str | None = None
    joins_transaction: bool = False
    """A partition becomes a part of the transaction by being written to (KIP-890)."""

    def refused(self, fault: Fault, message: str | None = None) -> list[ProducedPart]:
        return [ProducedPart(part.topic, part.partition, fault, message) for part in self.parts]


class FetchPart(NamedTuple):
    topic: TopicRef
    partition: int
    offset: int
    max_bytes: int
    current_leader_epoch: int = -1
    """The epoch that the client believes in; -1 says nothing."""
    last_fetched_epoch: int = -1


class Leader(NamedTuple):
    """Who leads a partition, and since which epoch."""

    node_id: int
    leader_epoch: int


class FetchedPart(NamedTuple):
    topic: TopicRef
    partition: int
    fault: Fault | None = None
    high_watermark: int = NO_OFFSET
    last_stable_offset: int = NO_OFFSET
    log_start_offset: int = NO_OFFSET
    runs: Sequence[memoryview] = ()
    """Whole batches, side by side."""
    aborted: Sequence[Aborted] | None = None
    """Aborted transactions among the records; None unless only committed ones were asked for."""
    diverging: tuple[int, int] | None = None
    """Epoch and its end, when the client has followed a history that is not ours."""
    leader: Leader | None = None
    """Whom to ask instead, when the fault is about that."""
    compression: str = "producer"
    """The topic's ``compression.type``: an old client may be unable to read what it prescribes."""


@command
class Fetch(Command[list[FetchedPart]]):
    """Read batches. Waits up to ``max_wait_ms`` for at least ``min_bytes``."""

    ROW: ClassVar[Row] = on_each(Operation.READ, Resource.TOPIC)
    parts: Sequence[FetchPart]
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    committed: bool = False
    replica_id: int = NO_REPLICA
    """A broker that wants to follow; readers have none."""

    def refused(self, fault: Fault, message: str | None = None) -> list[FetchedPart]:
        return [FetchedPart(part.topic, part.partition, fault) for part in self.parts]
