"""The cluster: who is in it, and who keeps its metadata."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Row, for_everybody, on_cluster
from trivium.core.commands.command import Command, command
from trivium.core.commands.topics import Node
from trivium.core.faults import Fault


class DescribedCluster(NamedTuple):
    cluster_id: str
    controller_id: int
    nodes: Sequence[Node]
    operations: frozenset[Operation] | None = None
    """What the caller may do to the cluster; None if nobody asked."""


@command
class DescribeCluster(Command[DescribedCluster]):
    ROW: ClassVar[Row] = for_everybody("a client that may connect must know where else to")
    with_operations: bool = False
    with_fenced: bool = False
    """Also brokers that are registered and not at work."""


class Voter(NamedTuple):
    node_id: int
    offset_end: int
    seen_ms: int
    """When it was last known to have everything."""


class DescribedQuorum(NamedTuple):
    topic: str
    partition: int
    fault: Fault | None = None
    message: str | None = None
    leader_id: int = 0
    leader_epoch: int = 0
    high_watermark: int = 0
    voters: Sequence[Voter] = ()


@command
class DescribeQuorum(Command[list[DescribedQuorum]]):
    """Who keeps these partitions by vote: the metadata log is the only one of its kind."""

    ROW: ClassVar[Row] = on_cluster(Operation.DESCRIBE)
    parts: Sequence[tuple[str, int]]

    def refused(self, fault: Fault, message: str | None = None) -> list[DescribedQuorum]:
        return [DescribedQuorum(topic, partition, fault, message) for topic, partition in self.parts]


class Unregistered(NamedTuple):
    fault: Fault | None = None
    message: str | None = None


@command
class UnregisterBroker(Command[Unregistered]):
    """Forget a broker that will not come back."""

    ROW: ClassVar[Row] = on_cluster(Operation.ALTER)
    broker_id: int

    def refused(self, fault: Fault, message: str | None = None) -> Unregistered:
        return Unregistered(fault, message)
