"""Vote (key 52): a candidate asks voters of the metadata quorum for their vote.

0   first version, flexible
1   request gains voter_id, replica_directory_id, voter_directory_id; response gains node_endpoints
    (KIP-853)
2   request gains pre_vote
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bool, Int16, Int32, Int64, String, UInt16, Uuid
from trivium.wire.uuid_text import ZERO_UUID


class VoteRequestPartitionData(Struct):
    partition_index: Int32
    replica_epoch: Int32
    replica_id: Int32
    replica_directory_id: Uuid = field("1+", default=ZERO_UUID, ignorable=True)
    voter_directory_id: Uuid = field("1+", default=ZERO_UUID, ignorable=True)
    last_offset_epoch: Int32
    last_offset: Int64
    pre_vote: Bool = field("2+", default=False)


class VoteRequestTopicData(Struct):
    topic_name: String
    partitions: list[VoteRequestPartitionData]


class VoteRequest(Request, key=52, versions="0-2", flexible="0+"):
    cluster_id: String | None = None
    voter_id: Int32 = field("1+", default=-1, ignorable=True)
    topics: list[VoteRequestTopicData]


class VoteResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32
    vote_granted: Bool


class VoteResponseTopicData(Struct):
    topic_name: String
    partitions: list[VoteResponsePartitionData]


class NodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: UInt16


class VoteResponse(Response, key=52, versions="0-2", flexible="0+"):
    error_code: Int16
    topics: list[VoteResponseTopicData]
    node_endpoints: list[NodeEndpoint] = field("1+", default_factory=list, tag=0)
