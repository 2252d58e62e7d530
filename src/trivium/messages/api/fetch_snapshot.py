"""FetchSnapshot (key 59): read a snapshot of the metadata log.

0   first version, flexible
1   request gains replica_directory_id; response gains node_endpoints (KIP-853)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int16, Int32, Int64, Records, String, UInt16, Uuid
from trivium.wire.uuid_text import ZERO_UUID


class SnapshotId(Struct):
    end_offset: Int64
    epoch: Int32


class FetchSnapshotRequestPartitionSnapshot(Struct):
    partition: Int32
    current_leader_epoch: Int32
    snapshot_id: SnapshotId
    position: Int64
    replica_directory_id: Uuid = field("1+", default=ZERO_UUID, tag=0, ignorable=True)


class FetchSnapshotRequestTopicSnapshot(Struct):
    name: String
    partitions: list[FetchSnapshotRequestPartitionSnapshot]


class FetchSnapshotRequest(Request, key=59, versions="0-1", flexible="0+"):
    cluster_id: String | None = field(default=None, tag=0)
    replica_id: Int32 = -1
    max_bytes: Int32 = 0x7FFF_FFFF
    topics: list[FetchSnapshotRequestTopicSnapshot]


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0


class FetchSnapshotResponsePartitionSnapshot(Struct):
    index: Int32
    error_code: Int16
    snapshot_id: SnapshotId
    current_leader: LeaderIdAndEpoch = field(default_factory=LeaderIdAndEpoch, tag=0)
    size: Int64
    position: Int64
    unaligned_records: Records


class FetchSnapshotResponseTopicSnapshot(Struct):
    name: String
    partitions: list[FetchSnapshotResponsePartitionSnapshot]


class NodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: UInt16


class FetchSnapshotResponse(Response, key=59, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    topics: list[FetchSnapshotResponseTopicSnapshot]
    node_endpoints: list[NodeEndpoint] = field("1+", default_factory=list, tag=0)
