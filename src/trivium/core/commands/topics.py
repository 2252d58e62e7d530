"""Topics: what is there, making them and taking them away, and more partitions for them."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Resource, Row, on_each
from trivium.core.commands.command import Command, TopicRef, command
from trivium.core.config.description import Entry
from trivium.core.faults import Fault
from trivium.core.metadata_topics import Partition


class Node(NamedTuple):
    """A broker. Without a host it is this one, at whatever address its client has dialled."""

    node_id: int
    host: str | None = None
    port: int | None = None
    rack: str | None = None
    is_fenced: bool = False
    """Registered, and not at work."""


# -- looking -------------------------------------------------------------------------------------


class StreamPlace(NamedTuple):
    """Where a topic is in the view that has streams (``commands.streams``)."""

    stream_id: int
    stream: str
    topic_id: int
    """Its number in the stream."""
    topic: str
    """Its name there."""


class DescribedTopic(NamedTuple):
    topic: TopicRef
    fault: Fault | None = None
    message: str | None = None
    name: str | None = None
    topic_id: bytes = bytes(16)
    is_internal: bool = False
    partitions: Mapping[int, Partition] = {}
    offline: frozenset[int] = frozenset()
    """Partitions whose log directory has failed."""
    operations: frozenset[Operation] | None = None
    """What the caller may do to it; None if nobody asked."""
    place: StreamPlace | None = None
    """Told page by page only; None while nobody uses streams, too."""


class DescribedTopics(NamedTuple):
    topics: Sequence[DescribedTopic]
    nodes: Sequence[Node] = ()
    controller_id: int = -1
    cluster_id: str | None = None
    cluster_operations: frozenset[Operation] | None = None


@command
class DescribeTopics(Command[DescribedTopics]):
    """Topics with their partitions, and the cluster they are in. None asks for all topics."""

    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE, Resource.TOPIC)
    topics: Sequence[TopicRef] | None
    may_create: bool = False
    """Whether a missing topic may be made, if the broker allows that at all."""
    with_operations: bool = False
    with_cluster_operations: bool = False

    def refused(self, fault: Fault, message: str | None = None) -> DescribedTopics:
        return DescribedTopics([DescribedTopic(topic, fault, message) for topic in self.topics or ()])


class Cursor(NamedTuple):
    """Where a page of topics begins."""

    topic: str
    partition: int


class TopicsPage(NamedTuple):
    topics: Sequence[DescribedTopic]
    cursor_next: Cursor | None = None


@command
class DescribeTopicsPage(Command[TopicsPage]):
    """Topics in the order of their names, at most so many partitions at once. None asks for all topics."""

    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE, Resource.TOPIC)
    topics: Sequence[str] | None
    partitions_max: int
    cursor: Cursor | None = None

    def refused(self, fault: Fault, message: str | None = None) -> TopicsPage:
        return TopicsPage([DescribedTopic(topic, fault, message) for topic in self.topics or ()])


# -- making --------------------------------------------------------------------------------------


class NewTopic(NamedTuple):
    """-1 for the broker's default. ``assignments`` names the replicas of partitions by hand."""

    name: str
    partitions: int = -1
    replication_factor: int = -1
    configs: Mapping[str, str | None] = {}
    assignments: Sequence[tuple[int, Sequence[int]]] = ()


class CreatedTopic(NamedTuple):
    name: str
    fault: Fault | None = None
    message: str | None = None
    topic_id: bytes = bytes(16)
    partitions: int = -1
    replication_factor: int = -1
    configs: Sequence[Entry] | None = None
    """The settings in force; None if the caller may not know them."""


@command
class CreateTopics(Command[list[CreatedTopic]]):
    ROW: ClassVar[Row] = on_each(Operation.CREATE, Resource.TOPIC)
    topics: Sequence[NewTopic]
    validate_only: bool = False
    timeout_ms: int | None = None
    refuses_debtors: bool = False
    """Whether who has used up its budget is refused, and not made to wait afterwards."""

    def refused(self, fault: Fault, message: str | None = None) -> list[CreatedTopic]:
        return [CreatedTopic(topic.name, fault, message) for topic in self.topics]


class NewPartitions(NamedTuple):
    """``assignments`` names the replicas of each new partition by hand; None leaves that to the broker."""

    topic: str
    partitions: int
    """How many the topic shall have then."""
    assignments: Sequence[Sequence[int]] | None = None


class CreatedPartitions(NamedTuple):
    topic: str
    fault: Fault | None = None
    message: str | None = None


@command
class CreatePartitions(Command[list[CreatedPartitions]]):
    ROW: ClassVar[Row] = on_each(Operation.ALTER, Resource.TOPIC)
    topics: Sequence[NewPartitions]
    validate_only: bool = False
    timeout_ms: int | None = None
    refuses_debtors: bool = False
    """Whether who has used up its budget is refused, and not made to wait afterwards."""

    def refused(self, fault: Fault, message: str | None = None) -> list[CreatedPartitions]:
        return [CreatedPartitions(topic.topic, fault, message) for topic in self.topics]


# -- taking away ---------------------------------------------------------------------------------


class DeletedTopic(NamedTuple):
    """``name`` and ``topic_id`` as far as they are known and the caller may know them."""

    name: str | None
    topic_id: bytes = bytes(16)
    fault: Fault | None = None
    message: str | None = None


@command
class DeleteTopics(Command[list[DeletedTopic]]):
    ROW: ClassVar[Row] = on_each(Operation.DELETE, Resource.TOPIC)
    topics: Sequence[TopicRef]
    timeout_ms: int | None = None
    refuses_debtors: bool = False
    """Whether who has used up its budget is refused, and not made to wait afterwards."""

    def refused(self, fault: Fault, message: str | None = None) -> list[DeletedTopic]:
        return [
            DeletedTopic(ref, fault=fault, message=message)
            if isinstance(ref, str)
            else DeletedTopic(None, ref, fault, message)
            for ref in self.topics
        ]


HIGH_WATERMARK = -1
"""The offset that stands for all records there are."""


class DeleteRecordsPart(NamedTuple):
    topic: str
    partition: int
    offset: int
    """The first to be kept, or ``HIGH_WATERMARK``."""


class DeletedRecordsPart(NamedTuple):
    topic: str
    partition: int
    fault: Fault | None = None
    low_watermark: int = -1


@command
class DeleteRecords(Command[list[DeletedRecordsPart]]):
    """Take away everything before an offset, in each partition for itself."""

    ROW: ClassVar[Row] = on_each(Operation.DELETE, Resource.TOPIC)
    parts: Sequence[DeleteRecordsPart]
    timeout_ms: int | None = None

    def refused(self, fault: Fault, message: str | None = None) -> list[DeletedRecordsPart]:
        return [DeletedRecordsPart(part.topic, part.partition, fault) for part in self.parts]
