"""DeleteShareGroupState (key 86): the group coordinator deletes the state of share partitions.

0   first version, flexible
"""

from trivium.messages.schema import Request, Response, Struct
from trivium.messages.types import Int16, Int32, String, Uuid


class PartitionData(Struct):
    partition: Int32


class DeleteStateData(Struct):
    topic_id: Uuid
    partitions: list[PartitionData]


class DeleteShareGroupStateRequest(Request, key=86, versions="0", flexible="0+"):
    group_id: String
    topics: list[DeleteStateData]


class PartitionResult(Struct):
    partition: Int32
    error_code: Int16
    error_message: String | None = None


class DeleteStateResult(Struct):
    topic_id: Uuid
    partitions: list[PartitionResult]


class DeleteShareGroupStateResponse(Response, key=86, versions="0", flexible="0+"):
    results: list[DeleteStateResult]
