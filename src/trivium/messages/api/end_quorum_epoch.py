"""EndQuorumEpoch (key 54): a leader of the metadata quorum resigns.

0   first version
1   flexible; request gains preferred_candidates, leader_endpoints; loses preferred_successors; response
    gains node_endpoints (KIP-853)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int16, Int32, String, UInt16, Uuid


class ReplicaInfo(Struct):
    candidate_id: Int32
    candidate_directory_id: Uuid


class EndQuorumEpochRequestPartitionData(Struct):
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32
    preferred_successors: list[Int32] = field("0", default_factory=list, ignorable=True)
    preferred_candidates: list[ReplicaInfo] = field("1+", default_factory=list, ignorable=True)


class EndQuorumEpochRequestTopicData(Struct):
    topic_name: String
    partitions: list[EndQuorumEpochRequestPartitionData]


class LeaderEndpoint(Struct):
    name: String
    host: String
    port: UInt16


class EndQuorumEpochRequest(Request, key=54, versions="0-1", flexible="1+"):
    cluster_id: String | None = None
    topics: list[EndQuorumEpochRequestTopicData]
    leader_endpoints: list[LeaderEndpoint] = field("1+", default_factory=list, ignorable=True)


class EndQuorumEpochResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32


class EndQuorumEpochResponseTopicData(Struct):
    topic_name: String
    partitions: list[EndQuorumEpochResponsePartitionData]


class NodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: UInt16


class EndQuorumEpochResponse(Response, key=54, versions="0-1", flexible="1+"):
    error_code: Int16
    topics: list[EndQuorumEpochResponseTopicData]
    node_endpoints: list[NodeEndpoint] = field("1+", default_factory=list, tag=0)
