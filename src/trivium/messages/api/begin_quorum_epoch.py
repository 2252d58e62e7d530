"""BeginQuorumEpoch (key 53): a new leader of the metadata quorum presents itself.

0   first version
1   flexible; request gains voter_id, voter_directory_id, leader_endpoints; response gains
    node_endpoints (KIP-853)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int16, Int32, String, UInt16, Uuid
from trivium.wire.uuid_text import ZERO_UUID


class BeginQuorumEpochRequestPartitionData(Struct):
    partition_index: Int32
    voter_directory_id: Uuid = field("1+", default=ZERO_UUID, ignorable=True)
    leader_id: Int32
    leader_epoch: Int32


class BeginQuorumEpochRequestTopicData(Struct):
    topic_name: String
    partitions: list[BeginQuorumEpochRequestPartitionData]


class LeaderEndpoint(Struct):
    name: String
    host: String
    port: UInt16


class BeginQuorumEpochRequest(Request, key=53, versions="0-1", flexible="1+"):
    cluster_id: String | None = None
    voter_id: Int32 = field("1+", default=-1, ignorable=True)
    topics: list[BeginQuorumEpochRequestTopicData]
    leader_endpoints: list[LeaderEndpoint] = field("1+", default_factory=list, ignorable=True)


class BeginQuorumEpochResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32


class BeginQuorumEpochResponseTopicData(Struct):
    topic_name: String
    partitions: list[BeginQuorumEpochResponsePartitionData]


class NodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: UInt16


class BeginQuorumEpochResponse(Response, key=53, versions="0-1", flexible="1+"):
    error_code: Int16
    topics: list[BeginQuorumEpochResponseTopicData]
    node_endpoints: list[NodeEndpoint] = field("1+", default_factory=list, tag=0)
