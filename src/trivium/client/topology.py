"""What a cluster looks like from outside: nodes, topics, partitions, and who leads them.

Values only, filled from Metadata answers. Whom to ask, and when to ask again, is ``cluster``'s business.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from trivium.client.address import Address
from trivium.messages.api.metadata import MetadataResponse, MetadataResponseTopic
from trivium.messages.errors import ErrorCode


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class Node:
    """A broker, where it says that clients find it."""

    node_id: int
    address: Address
    rack: str | None


@dataclass(frozen=True, slots=True)
class Partition:
    index: int
    leader_id: int
    """-1 while it has none."""

    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    topic_id: bytes
    is_internal: bool
    partitions: tuple[Partition, ...]
    """In the order of their index, which is also their place."""

    def partition_keys(self) -> list[TopicPartition]:
        return [TopicPartition(self.name, partition.index) for partition in self.partitions]


@dataclass(slots=True)
class Topology:
    """The last that was heard of a cluster."""

    cluster_id: str | None = None
    controller_id: int = -1
    nodes: dict[int, Node] = field(default_factory=dict)
    topics: dict[str, Topic] = field(default_factory=dict)

    def learn(self, answer: MetadataResponse) -> None:
        """Take over what an answer says. Topics that it does not mention stay as they were."""
        self.cluster_id = answer.cluster_id
        self.controller_id = answer.controller_id
        self.nodes = {
            broker.node_id: Node(broker.node_id, Address(broker.host, broker.port), broker.rack)
            for broker in answer.brokers
        }
        for described in answer.topics:
            if described.name is None:
                continue
            if described.error_code == ErrorCode.NONE:
                self.topics[described.name] = topic_of(described)
            else:
                self.topics.pop(described.name, None)

    def forget(self, topics: Iterable[str]) -> None:
        for name in topics:
            self.topics.pop(name, None)


def topic_of(described: MetadataResponseTopic) -> Topic:
    partitions = [
        Partition(
            partition.partition_index,
            partition.leader_id,
            partition.leader_epoch,
            tuple(partition.replica_nodes),
            tuple(partition.isr_nodes),
            tuple(partition.offline_replicas),
        )
        for partition in described.partitions
    ]
    partitions.sort(key=lambda partition: partition.index)
    return Topic(described.name or "", described.topic_id, described.is_internal, tuple(partitions))
