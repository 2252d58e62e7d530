"""The cluster itself: who belongs to it, and what lies on the disks of its brokers."""

from dataclasses import dataclass

from trivium.client.cluster import Cluster
from trivium.client.errors import Refused
from trivium.client.topology import Node, TopicPartition
from trivium.messages.api.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse
from trivium.messages.errors import ErrorCode


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    cluster_id: str | None
    controller_id: int
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class LogDir:
    """A log directory of a broker; sizes of the volume are -1 where the broker does not tell."""

    node_id: int
    path: str
    sizes_bytes: dict[TopicPartition, int]
    total_bytes: int
    usable_bytes: int
    refusal: Refused | None
    """Why nothing is known about it, such as after a failed disk."""


def describe_cluster(cluster: Cluster) -> ClusterDescription:
    """Who belongs to it now. Metadata says the same as DescribeCluster, and every broker has it."""
    cluster.metadata([])
    known = cluster.topology
    nodes = sorted(known.nodes.values(), key=lambda node: node.node_id)
    return ClusterDescription(known.cluster_id, known.controller_id, tuple(nodes))


def describe_log_dirs(cluster: Cluster) -> list[LogDir]:
    """The log directories of every broker."""
    found = []
    for node_id in (node.node_id for node in describe_cluster(cluster).nodes):
        request = DescribeLogDirsRequest(topics=None)
        answer = cluster.call(cluster.node_of(node_id), request, DescribeLogDirsResponse)
        code = ErrorCode.of(answer.error_code)
        if code is not ErrorCode.NONE:
            raise Refused(code, f"broker {node_id}")
        for each in answer.results:
            each_code = ErrorCode.of(each.error_code)
            sizes = {
                TopicPartition(topic.name, partition.partition_index): partition.partition_size
                for topic in each.topics
                for partition in topic.partitions
            }
            refusal = None if each_code is ErrorCode.NONE else Refused(each_code, f"directory {each.log_dir}")
            found.append(LogDir(node_id, each.log_dir, sizes, each.total_bytes, each.usable_bytes, refusal))
    return found
