"""Consumer groups (KIP-848): members say what they want to read and what they do read, the broker decides."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Resource, Row, on_each, on_group
from trivium.core.commands.command import Command, command
from trivium.core.faults import Fault

Partitions = Mapping[bytes, Sequence[int]]
"""Numbers of partitions by topic id."""


class ConsumerBeat(NamedTuple):
    fault: Fault | None = None
    message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Partitions | None = None
    """What the member may read from now on; None as long as that is what it was told last."""


@command
class ConsumerHeartbeat(Command[ConsumerBeat]):
    """Join (epoch 0), live on, leave (-1), or leave for now as a static member (-2). None in any field says
    that it is as it was.
    """

    ROW: ClassVar[Row] = on_group(Operation.READ)
    group_id: str
    member_id: str
    member_epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int | None = None
    topic_names: Sequence[str] | None = None
    topic_regex: str | None = None
    assignor: str | None = None
    owned: Partitions | None = None
    """What the member reads now: what is missing of what it was to give up, it has given up."""
    names_itself: bool = True
    """Members choose their ids themselves (KIP-1082); at first the broker did."""

    def refused(self, fault: Fault, message: str | None = None) -> ConsumerBeat:
        return ConsumerBeat(fault, message)


class MemberKind(Enum):
    """Which protocol a member of a consumer group speaks. The values are those of answers."""

    CLASSIC = 0
    CONSUMER = 1


class NamedPartitions(NamedTuple):
    topic_id: bytes
    topic_name: str
    partitions: Sequence[int]


class DescribedConsumer(NamedTuple):
    member_id: str
    instance_id: str | None
    rack_id: str | None
    member_epoch: int
    client_id: str
    client_host: str
    topic_names: Sequence[str]
    topic_regex: str
    assignment: Sequence[NamedPartitions]
    target: Sequence[NamedPartitions]
    kind: MemberKind


class DescribedConsumerGroup(NamedTuple):
    group_id: str
    fault: Fault | None = None
    message: str | None = None
    state: str = ""
    epoch: int = 0
    assignment_epoch: int = 0
    assignor: str = ""
    members: Sequence[DescribedConsumer] = ()
    operations: frozenset[Operation] | None = None
    """What the caller may do with the group; None if it did not ask."""


@command
class DescribeConsumerGroups(Command[list[DescribedConsumerGroup]]):
    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE, Resource.GROUP)
    group_ids: Sequence[str]
    with_operations: bool = False

    def refused(self, fault: Fault, message: str | None = None) -> list[DescribedConsumerGroup]:
        return [DescribedConsumerGroup(group_id, fault, message) for group_id in self.group_ids]
