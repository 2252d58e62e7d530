"""Finding offsets: by time, by name, and by the end of a leader's epoch."""

from collections.abc import Sequence
from enum import Enum, auto
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Resource, Row, on_each
from trivium.core.commands.command import Command, TopicRef, command
from trivium.core.commands.records import NO_OFFSET, NO_TIMESTAMP
from trivium.core.faults import Fault

NO_EPOCH = -1


class Spot(Enum):
    """A place in a partition that has a name instead of a time."""

    EARLIEST = auto()
    LATEST = auto()
    """The end of what the reader may see."""
    YOUNGEST = auto()
    """The record with the largest timestamp."""
    TIERED = auto()
    """What was moved to remote storage, or waits for it; nothing is, here."""


class OffsetQuery(NamedTuple):
    topic: TopicRef
    partition: int
    at: Spot | int
    """A spot, or milliseconds since 1970: then the first record that is not older is looked for."""
    current_leader_epoch: int = NO_EPOCH


class FoundOffset(NamedTuple):
    """Offset -1 if there is no such record."""

    topic: TopicRef
    partition: int
    fault: Fault | None = None
    offset: int = NO_OFFSET
    timestamp_ms: int = NO_TIMESTAMP
    leader_epoch: int = NO_EPOCH
    log_start_offset: int = NO_OFFSET
    high_watermark: int = NO_OFFSET


@command
class FindOffsets(Command[list[FoundOffset]]):
    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE, Resource.TOPIC)
    queries: Sequence[OffsetQuery]
    committed: bool = False
    """Nothing at or after the first open transaction is found."""

    def refused(self, fault: Fault, message: str | None = None) -> list[FoundOffset]:
        return [FoundOffset(query.topic, query.partition, fault) for query in self.queries]


class EpochQuery(NamedTuple):
    topic: TopicRef
    partition: int
    leader_epoch: int
    current_leader_epoch: int = NO_EPOCH


class EpochEnd(NamedTuple):
    """The largest epoch not above the one asked for, and the offset where it ends."""

    topic: TopicRef
    partition: int
    fault: Fault | None = None
    leader_epoch: int = NO_EPOCH
    offset_end: int = NO_OFFSET


@command
class FindEpochEnds(Command[list[EpochEnd]]):
    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE, Resource.TOPIC)
    queries: Sequence[EpochQuery]

    def refused(self, fault: Fault, message: str | None = None) -> list[EpochEnd]:
        return [EpochEnd(query.topic, query.partition, fault) for query in self.queries]
