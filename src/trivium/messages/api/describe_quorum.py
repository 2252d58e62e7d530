"""DescribeQuorum (key 55): voters, observers and offsets of the metadata quorum.

0   first version, flexible
1   response gains last_fetch_timestamp, last_caught_up_timestamp (KIP-836)
2   response gains error_message, replica_directory_id, nodes (KIP-853)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int16, Int32, Int64, String, UInt16, Uuid
from trivium.wire.uuid_text import ZERO_UUID


class DescribeQuorumRequestPartitionData(Struct):
    partition_index: Int32


class DescribeQuorumRequestTopicData(Struct):
    topic_name: String
    partitions: list[DescribeQuorumRequestPartitionData]


class DescribeQuorumRequest(Request, key=55, versions="0-2", flexible="0+"):
    topics: list[DescribeQuorumRequestTopicData]


class ReplicaState(Struct):
    replica_id: Int32
    replica_directory_id: Uuid = field("2+", default=ZERO_UUID)
    log_end_offset: Int64
    last_fetch_timestamp: Int64 = field("1+", default=-1, ignorable=True)
    last_caught_up_timestamp: Int64 = field("1+", default=-1, ignorable=True)


class DescribeQuorumResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    error_message: String | None = field("2+", default="", ignorable=True)
    leader_id: Int32
    leader_epoch: Int32
    high_watermark: Int64
    current_voters: list[ReplicaState]
    observers: list[ReplicaState]


class DescribeQuorumResponseTopicData(Struct):
    topic_name: String
    partitions: list[DescribeQuorumResponsePartitionData]


class Listener(Struct):
    name: String
    host: String
    port: UInt16


class Node(Struct):
    node_id: Int32
    listeners: list[Listener]


class DescribeQuorumResponse(Response, key=55, versions="0-2", flexible="0+"):
    error_code: Int16
    error_message: String | None = field("2+", default="", ignorable=True)
    topics: list[DescribeQuorumResponseTopicData]
    nodes: list[Node] = field("2+", default_factory=list)
