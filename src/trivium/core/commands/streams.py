"""Streams, and the topics in them: the view of the same log that has two levels of names, and numbers.

A topic belongs to one stream for ever, and has one name there and one in the flat world of Kafka
(``LocatedTopic.topic``). All numbers begin at 0, are given once and never again. A door that counts
from 1 converts.
"""

from collections.abc import Sequence
from typing import ClassVar, Final, NamedTuple

from trivium.core.access import Operation, Resource, Row, on_each
from trivium.core.commands.command import Act, Command, command
from trivium.core.faults import Fault

StreamRef = int | str
"""A stream by number, or by name."""
StreamTopicRef = int | str
"""A topic of a stream, by its number there, or by its name there."""

DEFAULT_STREAM = "default"
"""It is always there: topics that belong to no other are in it."""
SERVER_DEFAULT = 0
"""For ``message_expiry_us`` and ``size_bytes_max``: what this broker has set for all topics."""
UNLIMITED = (1 << 64) - 1
"""For the same two: never, and without end."""


# -- streams ---------------------------------------------------------------------------------------


class StreamFacts(NamedTuple):
    stream_id: int
    name: str
    created_at_us: int
    topics_count: int
    size_bytes: int
    messages_count: int


class StreamTopicFacts(NamedTuple):
    topic_id: int
    name: str
    topic: str
    """Its name in Kafka."""
    created_at_us: int
    partitions_count: int
    message_expiry_us: int
    """``UNLIMITED`` for never. What is in force, whoever has set it."""
    compression: int
    """As it was given: 1 none, 2 gzip. The broker does not act on it."""
    size_bytes_max: int
    replication_factor: int
    size_bytes: int
    messages_count: int


class DescribedStream(NamedTuple):
    fault: Fault | None = None
    stream: StreamFacts | None = None
    topics: Sequence[StreamTopicFacts] = ()
    """By number."""


@command
class DescribeStream(Command[DescribedStream]):
    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE, Resource.STREAM)
    stream: StreamRef

    def refused(self, fault: Fault, message: str | None = None) -> DescribedStream:
        return DescribedStream(fault)


class ListedStreams(NamedTuple):
    fault: Fault | None = None
    streams: Sequence[StreamFacts] = ()


def _all_streams(_command: object) -> str:
    return ""


@command
class ListStreams(Command[ListedStreams]):
    ROW: ClassVar[Row] = Row(Operation.DESCRIBE, Resource.STREAM, _all_streams)

    def refused(self, fault: Fault, message: str | None = None) -> ListedStreams:
        return ListedStreams(fault)


@command
class CreateStream(Command[DescribedStream]):
    ROW: ClassVar[Row] = Row(Operation.CREATE, Resource.STREAM, _all_streams)
    name: str
    stream_id: int | None = None
    """The number it shall have; None leaves that to the broker."""

    def refused(self, fault: Fault, message: str | None = None) -> DescribedStream:
        return DescribedStream(fault)


@command
class UpdateStream(Act):
    """Another name. Topics that are in it keep the one they have in Kafka."""

    ROW: ClassVar[Row] = on_each(Operation.ALTER, Resource.STREAM)
    stream: StreamRef
    name: str


@command
class DeleteStream(Act):
    """With all its topics."""

    ROW: ClassVar[Row] = on_each(Operation.DELETE, Resource.STREAM)
    stream: StreamRef


@command
class PurgeStream(Act):
    """Empty all its topics (``PurgeStreamTopic``)."""

    ROW: ClassVar[Row] = on_each(Operation.DELETE, Resource.STREAM)
    stream: StreamRef


# -- topics ----------------------------------------------------------------------------------------


class PartitionFacts(NamedTuple):
    partition: int
    created_at_us: int
    segments_count: int
    offset_last: int
    """Of the last record; 0 also if there is none."""
    size_bytes: int
    messages_count: int


class DescribedStreamTopic(NamedTuple):
    fault: Fault | None = None
    topic: StreamTopicFacts | None = None
    partitions: Sequence[PartitionFacts] = ()


@command
class DescribeStreamTopic(Command[DescribedStreamTopic]):
    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE_CONFIGS, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef

    def refused(self, fault: Fault, message: str | None = None) -> DescribedStreamTopic:
        return DescribedStreamTopic(fault)


class ListedStreamTopics(NamedTuple):
    fault: Fault | None = None
    topics: Sequence[StreamTopicFacts] = ()


@command
class ListStreamTopics(Command[ListedStreamTopics]):
    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE_CONFIGS, Resource.TOPIC)
    stream: StreamRef

    def refused(self, fault: Fault, message: str | None = None) -> ListedStreamTopics:
        return ListedStreamTopics(fault)


class TopicOptions(NamedTuple):
    """What a topic of a stream is given. Expiry and size become settings of the Kafka topic."""

    compression: int = 1
    message_expiry_us: int = SERVER_DEFAULT
    size_bytes_max: int = SERVER_DEFAULT
    replication_factor: int = 0
    """0 for none given; it is kept and shown, and there is one replica."""


NO_OPTIONS: Final = TopicOptions()


@command
class CreateStreamTopic(Command[DescribedStreamTopic]):
    ROW: ClassVar[Row] = on_each(Operation.CREATE, Resource.TOPIC)
    stream: StreamRef
    name: str
    partitions_count: int
    options: TopicOptions = NO_OPTIONS
    topic_id: int | None = None
    """The number it shall have; None leaves that to the broker."""
    batch_bytes_max: int = 0
    """The largest batch that it takes (``max.message.bytes``), where the broker's own limit is lower."""

    def refused(self, fault: Fault, message: str | None = None) -> DescribedStreamTopic:
        return DescribedStreamTopic(fault)


@command
class UpdateStreamTopic(Act):
    """Another name, for this view only, and other options."""

    ROW: ClassVar[Row] = on_each(Operation.ALTER, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef
    name: str
    options: TopicOptions = NO_OPTIONS


@command
class DeleteStreamTopic(Act):
    ROW: ClassVar[Row] = on_each(Operation.DELETE, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef


@command
class PurgeStreamTopic(Act):
    """Take away all records and all that anybody has committed: the next record has offset 0."""

    ROW: ClassVar[Row] = on_each(Operation.DELETE, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef


@command
class AddPartitions(Act):
    ROW: ClassVar[Row] = on_each(Operation.ALTER, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef
    count: int


@command
class DropPartitions(Act):
    """The highest ones go, with their records. ``INVALID_PARTITIONS`` if there are not so many."""

    ROW: ClassVar[Row] = on_each(Operation.ALTER, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef
    count: int


@command
class DeleteSegments(Act):
    """The oldest ones that nobody writes to any more, at most so many."""

    ROW: ClassVar[Row] = on_each(Operation.ALTER, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef
    partition: int
    count: int


# -- records ---------------------------------------------------------------------------------------


class LocatedTopic(NamedTuple):
    fault: Fault | None = None
    topic: str = ""
    """Its name in Kafka: what ``Produce``, ``Fetch`` and ``ListOffsets`` take."""
    partitions_count: int = 0
    turn: int = 0
    """The next number of the topic's own count, modulo the partitions, if the command takes one."""


@command
class LocateTopic(Command[LocatedTopic]):
    """Where to write to. Whether the caller may, the write itself is asked."""

    ROW: ClassVar[Row] = on_each(Operation.WRITE, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef
    takes_turn: bool = False

    def refused(self, fault: Fault, message: str | None = None) -> LocatedTopic:
        return LocatedTopic(fault)


@command
class FlushPartition(Act):
    """Answered when everything that the partition holds now is on disk."""

    ROW: ClassVar[Row] = on_each(Operation.WRITE, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef
    partition: int
