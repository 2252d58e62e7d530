"""Fetch (key 1): read record batches from partitions, as a consumer or as a replica.

0   first version
1   response gains throttle_time_ms
2   same bytes; records may be of format 1
3   request gains max_bytes (KIP-74)
4   request gains isolation_level; response gains last_stable_offset, aborted_transactions (KIP-98)
5   request gains log_start_offset; response gains log_start_offset (KIP-107)
6   same bytes; an answer may say KAFKA_STORAGE_ERROR
7   request gains session_id, session_epoch, forgotten_topics_data; response gains error_code,
    session_id (KIP-227)
8   same bytes; a throttled answer is sent at once, and the client waits
9   request gains current_leader_epoch (KIP-320)
10  same bytes; records may be compressed by zstd (KIP-110)
11  request gains rack_id; response gains preferred_read_replica (KIP-392)
12  flexible; request gains cluster_id, last_fetched_epoch; response gains diverging_epoch,
    current_leader, snapshot_id (KIP-595)
13  request gains topic_id; loses topic; response gains topic_id; loses topic (KIP-516)
14  same bytes; an answer may say OFFSET_MOVED_TO_TIERED_STORAGE (KIP-405)
15  request gains replica_state; loses replica_id (KIP-903)
16  response gains node_endpoints (KIP-951)
17  request gains replica_directory_id (KIP-853)
18  request gains high_watermark (KIP-1166)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int8, Int16, Int32, Int64, Records, String, Uuid
from trivium.wire.uuid_text import ZERO_UUID


class ReplicaState(Struct):
    replica_id: Int32 = -1
    replica_epoch: Int64 = -1


class FetchPartition(Struct):
    partition: Int32
    current_leader_epoch: Int32 = field("9+", default=-1, ignorable=True)
    fetch_offset: Int64
    last_fetched_epoch: Int32 = field("12+", default=-1)
    log_start_offset: Int64 = field("5+", default=-1, ignorable=True)
    partition_max_bytes: Int32
    replica_directory_id: Uuid = field("17+", default=ZERO_UUID, tag=0, ignorable=True)
    high_watermark: Int64 = field("18+", default=0x7FFF_FFFF_FFFF_FFFF, tag=1, ignorable=True)


class FetchTopic(Struct):
    topic: String = field("0-12", default="", ignorable=True)
    topic_id: Uuid = field("13+", default=ZERO_UUID, ignorable=True)
    partitions: list[FetchPartition]


class ForgottenTopic(Struct):
    topic: String = field("7-12", default="", ignorable=True)
    topic_id: Uuid = field("13+", default=ZERO_UUID, ignorable=True)
    partitions: list[Int32]


class FetchRequest(Request, key=1, versions="0-18", flexible="12+"):
    cluster_id: String | None = field("12+", default=None, tag=0, ignorable=True)
    replica_id: Int32 = field("0-14", default=-1)
    replica_state: ReplicaState = field("15+", default_factory=ReplicaState, tag=1)
    max_wait_ms: Int32
    min_bytes: Int32
    max_bytes: Int32 = field("3+", default=0x7FFF_FFFF, ignorable=True)
    isolation_level: Int8 = field("4+", default=0, ignorable=True)
    session_id: Int32 = field("7+", default=0, ignorable=True)
    session_epoch: Int32 = field("7+", default=-1, ignorable=True)
    topics: list[FetchTopic]
    forgotten_topics_data: list[ForgottenTopic] = field("7+", default_factory=list)
    rack_id: String = field("11+", default="", ignorable=True)


class EpochEndOffset(Struct):
    epoch: Int32 = -1
    end_offset: Int64 = -1


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1


class SnapshotId(Struct):
    end_offset: Int64 = -1
    epoch: Int32 = -1


class AbortedTransaction(Struct):
    producer_id: Int64
    first_offset: Int64


class PartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    high_watermark: Int64
    last_stable_offset: Int64 = field("4+", default=-1, ignorable=True)
    log_start_offset: Int64 = field("5+", default=-1, ignorable=True)
    diverging_epoch: EpochEndOffset = field("12+", default_factory=EpochEndOffset, tag=0)
    current_leader: LeaderIdAndEpoch = field("12+", default_factory=LeaderIdAndEpoch, tag=1)
    snapshot_id: SnapshotId = field("12+", default_factory=SnapshotId, tag=2)
    aborted_transactions: list[AbortedTransaction] | None = field("4+", default_factory=list, ignorable=True)
    preferred_read_replica: Int32 = field("11+", default=-1)
    records: Records | None


class FetchableTopicResponse(Struct):
    topic: String = field("0-12", default="", ignorable=True)
    topic_id: Uuid = field("13+", default=ZERO_UUID, ignorable=True)
    partitions: list[PartitionData]


class NodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: Int32
    rack: String | None = None


class FetchResponse(Response, key=1, versions="0-18", flexible="12+"):
    throttle_time_ms: Int32 = field("1+", default=0, ignorable=True)
    error_code: Int16 = field("7+", default=0, ignorable=True)
    session_id: Int32 = field("7+", default=0)
    responses: list[FetchableTopicResponse]
    node_endpoints: list[NodeEndpoint] = field("16+", default_factory=list, tag=0)
