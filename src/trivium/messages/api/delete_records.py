"""DeleteRecords (key 21): move the start of partitions forward.

0   first version
1   same bytes; a throttled answer is sent at once, and the client waits
2   flexible
"""

from trivium.messages.schema import Request, Response, Struct
from trivium.messages.types import Int16, Int32, Int64, String


class DeleteRecordsPartition(Struct):
    partition_index: Int32
    offset: Int64


class DeleteRecordsTopic(Struct):
    name: String
    partitions: list[DeleteRecordsPartition]


class DeleteRecordsRequest(Request, key=21, versions="0-2", flexible="2+"):
    topics: list[DeleteRecordsTopic]
    timeout_ms: Int32


class DeleteRecordsPartitionResult(Struct):
    partition_index: Int32
    low_watermark: Int64
    error_code: Int16


class DeleteRecordsTopicResult(Struct):
    name: String
    partitions: list[DeleteRecordsPartitionResult]


class DeleteRecordsResponse(Response, key=21, versions="0-2", flexible="2+"):
    throttle_time_ms: Int32
    topics: list[DeleteRecordsTopicResult]
