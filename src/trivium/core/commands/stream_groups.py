"""Groups of a stream's topic: members by connection, partitions dealt by the broker; and reading with them.

Such a group shares its offsets with the Kafka group of its name, and nothing else. A consumer that is in no
group keeps its offsets under a Kafka group of its own (``consumer_group_id``). Offsets here are the next
to read, as everywhere; a door whose clients mean the last one read converts.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Resource, Row, on_each
from trivium.core.commands.command import Act, Command, command
from trivium.core.commands.streams import StreamRef, StreamTopicRef
from trivium.core.faults import Fault

StreamGroupRef = int | str
"""A group of a topic by its number there, or by name."""


# -- groups ----------------------------------------------------------------------------------------


class StreamGroupMember(NamedTuple):
    member_id: int
    """Its number in the group."""
    client_id: int
    partitions: Sequence[int]


class StreamGroupFacts(NamedTuple):
    group_id: int
    name: str
    partitions_count: int
    members: Sequence[StreamGroupMember]


class DescribedStreamGroup(NamedTuple):
    fault: Fault | None = None
    group: StreamGroupFacts | None = None


@command
class DescribeStreamGroup(Command[DescribedStreamGroup]):
    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE_CONFIGS, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef
    group: StreamGroupRef

    def refused(self, fault: Fault, message: str | None = None) -> DescribedStreamGroup:
        return DescribedStreamGroup(fault)


class ListedStreamGroups(NamedTuple):
    fault: Fault | None = None
    groups: Sequence[StreamGroupFacts] = ()


@command
class ListStreamGroups(Command[ListedStreamGroups]):
    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE_CONFIGS, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef

    def refused(self, fault: Fault, message: str | None = None) -> ListedStreamGroups:
        return ListedStreamGroups(fault)


@command
class CreateStreamGroup(Command[DescribedStreamGroup]):
    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE_CONFIGS, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef
    name: str
    group_id: int | None = None
    """The number it shall have; None leaves that to the broker."""

    def refused(self, fault: Fault, message: str | None = None) -> DescribedStreamGroup:
        return DescribedStreamGroup(fault)


@command
class DeleteStreamGroup(Act):
    """With what has been committed for this topic under its name."""

    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE_CONFIGS, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef
    group: StreamGroupRef


@command
class JoinStreamGroup(Act):
    """The caller is a member until it leaves or its connection ends. Joining twice is joining once."""

    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE_CONFIGS, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef
    group: StreamGroupRef


@command
class LeaveStreamGroup(Act):
    """``UNKNOWN_MEMBER_ID`` if the caller is none."""

    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE_CONFIGS, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef
    group: StreamGroupRef


# -- reading ---------------------------------------------------------------------------------------


class Consumer(NamedTuple):
    """Who reads: a group, of which the caller is a member, or somebody by itself."""

    ref: int | str
    is_group: bool = False


def consumer_group_id(consumer: int | str) -> str:
    """The Kafka group under which a consumer that is in no group keeps its offsets."""
    return f"iggy.consumer.{consumer}"


class PollPlace(NamedTuple):
    fault: Fault | None = None
    topic: str = ""
    """Its name in Kafka."""
    partition: int | None = None
    """None for a member that has no partition: there is nothing to read for it."""
    committed: int | None = None
    """The next offset to read by what was committed; None if nothing was."""
    log_start_offset: int = 0
    offset_end: int = 0
    """Behind the last record that may be read: records of open transactions may not."""
    life: int = 0
    """Which partition of this name it is: made anew it has another one, and other records."""
    is_compacted: bool = False
    """Whether records may go that lie between others."""
    topic_id: bytes = bytes(16)
    """In Kafka: emptied or made anew, a topic has another one."""


@command
class BeginPoll(Command[PollPlace]):
    """Which partition to read, and from where. A member of a group is led through its partitions in turn."""

    ROW: ClassVar[Row] = on_each(Operation.READ, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef
    consumer: Consumer
    partition: int | None = None
    """None leaves it to the group; for a consumer by itself it is the first."""
    must_own: bool = True
    """Whether a partition that is named must be one of the member's (``PARTITION_NOT_OWNED``), and the
    caller a member at all; very old clients expect neither."""
    goes_on: bool = True
    """Whether it is read where the consumer has stopped; else ``PollPlace.committed`` is not looked up."""

    def refused(self, fault: Fault, message: str | None = None) -> PollPlace:
        return PollPlace(fault)


@command
class EndPoll(Act):
    """A member of a group is to be given messages, and stores by itself how far it has come. Until then the
    partition is not handed over to another member; ``PARTITION_NOT_OWNED`` if it was before.
    """

    ROW: ClassVar[Row] = on_each(Operation.READ, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef
    group: StreamGroupRef
    partition: int
    offset: int
    """Behind the last message."""


@command
class StoreConsumerOffset(Act):
    """``OFFSET_OUT_OF_RANGE`` beyond the end of the log. Backwards is allowed."""

    ROW: ClassVar[Row] = on_each(Operation.READ, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef
    consumer: Consumer
    partition: int | None
    """None: the one that the member has polled last, or for a consumer by itself the first."""
    offset: int
    """The next to read."""
    must_own: bool = True


class FoundConsumerOffset(NamedTuple):
    fault: Fault | None = None
    partition: int = 0
    committed: int | None = None
    """The next to read; None if nothing was committed."""
    offset_end: int = 0
    """Behind the last record that may be read."""


@command
class FindConsumerOffset(Command[FoundConsumerOffset]):
    ROW: ClassVar[Row] = on_each(Operation.READ, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef
    consumer: Consumer
    partition: int | None = None

    def refused(self, fault: Fault, message: str | None = None) -> FoundConsumerOffset:
        return FoundConsumerOffset(fault)


@command
class DeleteConsumerOffset(Act):
    """``NO_COMMITTED_OFFSET`` if there is none."""

    ROW: ClassVar[Row] = on_each(Operation.READ, Resource.TOPIC)
    stream: StreamRef
    topic: StreamTopicRef
    consumer: Consumer
    partition: int | None = None
    """As for storing one."""
    must_own: bool = True
