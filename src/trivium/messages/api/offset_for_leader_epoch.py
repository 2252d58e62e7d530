"""OffsetForLeaderEpoch (key 23): where a leader epoch ends in the log.

0   first version
1   response gains leader_epoch
2   request gains current_leader_epoch; response gains throttle_time_ms
3   request gains replica_id
4   flexible
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int16, Int32, Int64, String


class OffsetForLeaderPartition(Struct):
    partition: Int32
    current_leader_epoch: Int32 = field("2+", default=-1, ignorable=True)
    leader_epoch: Int32


class OffsetForLeaderTopic(Struct):
    topic: String
    partitions: list[OffsetForLeaderPartition]


class OffsetForLeaderEpochRequest(Request, key=23, versions="0-4", flexible="4+"):
    replica_id: Int32 = field("3+", default=-2, ignorable=True)
    topics: list[OffsetForLeaderTopic]


class EpochEndOffset(Struct):
    error_code: Int16
    partition: Int32
    leader_epoch: Int32 = field("1+", default=-1, ignorable=True)
    end_offset: Int64 = -1


class OffsetForLeaderTopicResult(Struct):
    topic: String
    partitions: list[EpochEndOffset]


class OffsetForLeaderEpochResponse(Response, key=23, versions="0-4", flexible="4+"):
    throttle_time_ms: Int32 = field("2+", default=0, ignorable=True)
    topics: list[OffsetForLeaderTopicResult]
