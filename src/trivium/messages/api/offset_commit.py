"""OffsetCommit (key 8): store how far a group has read.

0   first version
1   request gains generation_id_or_member_epoch, member_id, commit_timestamp
2   request gains retention_time_ms; loses commit_timestamp
3   response gains throttle_time_ms
4   same bytes; a throttled answer is sent at once, and the client waits
5   request loses retention_time_ms
6   request gains committed_leader_epoch (KIP-320)
7   request gains group_instance_id (KIP-345)
8   flexible
9   same bytes; consumer groups may use it, and an answer may say STALE_MEMBER_EPOCH (KIP-848)
10  request gains topic_id; loses name; response gains topic_id; loses name (KIP-848)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int16, Int32, Int64, String, Uuid
from trivium.wire.uuid_text import ZERO_UUID


class OffsetCommitRequestPartition(Struct):
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = field("6+", default=-1, ignorable=True)
    commit_timestamp: Int64 = field("1", default=-1)
    committed_metadata: String | None


class OffsetCommitRequestTopic(Struct):
    name: String = field("0-9", default="", ignorable=True)
    topic_id: Uuid = field("10+", default=ZERO_UUID, ignorable=True)
    partitions: list[OffsetCommitRequestPartition]


class OffsetCommitRequest(Request, key=8, versions="0-10", flexible="8+"):
    group_id: String
    generation_id_or_member_epoch: Int32 = field("1+", default=-1, ignorable=True)
    member_id: String = field("1+", default="", ignorable=True)
    group_instance_id: String | None = field("7+", default=None)
    retention_time_ms: Int64 = field("2-4", default=-1, ignorable=True)
    topics: list[OffsetCommitRequestTopic]


class OffsetCommitResponsePartition(Struct):
    partition_index: Int32
    error_code: Int16


class OffsetCommitResponseTopic(Struct):
    name: String = field("0-9", default="", ignorable=True)
    topic_id: Uuid = field("10+", default=ZERO_UUID, ignorable=True)
    partitions: list[OffsetCommitResponsePartition]


class OffsetCommitResponse(Response, key=8, versions="0-10", flexible="8+"):
    throttle_time_ms: Int32 = field("3+", default=0, ignorable=True)
    topics: list[OffsetCommitResponseTopic]
