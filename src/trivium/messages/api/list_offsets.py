"""ListOffsets (key 2): find offsets by timestamp or by name (earliest, latest).

0   first version
1   request loses max_num_offsets; response gains timestamp, offset; loses old_style_offsets
2   request gains isolation_level; response gains throttle_time_ms (KIP-98)
3   same bytes; a throttled answer is sent at once, and the client waits
4   request gains current_leader_epoch; response gains leader_epoch (KIP-320)
5   same bytes; an answer may say OFFSET_NOT_AVAILABLE
6   flexible
7   same bytes; timestamp -3 asks for the largest timestamp (KIP-734)
8   same bytes; timestamp -4 asks for the local log start (KIP-405)
9   same bytes; timestamp -5 asks for the last tiered offset (KIP-1005)
10  request gains timeout_ms (KIP-1075)
11  same bytes; timestamp -6 asks for the earliest offset not yet uploaded (KIP-1023)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int8, Int16, Int32, Int64, String


class ListOffsetsPartition(Struct):
    partition_index: Int32
    current_leader_epoch: Int32 = field("4+", default=-1, ignorable=True)
    timestamp: Int64
    max_num_offsets: Int32 = field("0", default=1)


class ListOffsetsTopic(Struct):
    name: String
    partitions: list[ListOffsetsPartition]


class ListOffsetsRequest(Request, key=2, versions="0-11", flexible="6+"):
    replica_id: Int32
    isolation_level: Int8 = field("2+", default=0)
    topics: list[ListOffsetsTopic]
    timeout_ms: Int32 = field("10+", default=0, ignorable=True)


class ListOffsetsPartitionResponse(Struct):
    partition_index: Int32
    error_code: Int16
    old_style_offsets: list[Int64] = field("0", default_factory=list)
    timestamp: Int64 = field("1+", default=-1)
    offset: Int64 = field("1+", default=-1)
    leader_epoch: Int32 = field("4+", default=-1)


class ListOffsetsTopicResponse(Struct):
    name: String
    partitions: list[ListOffsetsPartitionResponse]


class ListOffsetsResponse(Response, key=2, versions="0-11", flexible="6+"):
    throttle_time_ms: Int32 = field("2+", default=0, ignorable=True)
    topics: list[ListOffsetsTopicResponse]
