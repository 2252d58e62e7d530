"""InitializeShareGroupState (key 83): the group coordinator sets up the state of share partitions.

0   first version, flexible
"""

from trivium.messages.schema import Request, Response, Struct
from trivium.messages.types import Int16, Int32, Int64, String, Uuid


class PartitionData(Struct):
    partition: Int32
    state_epoch: Int32
    start_offset: Int64


class InitializeStateData(Struct):
    topic_id: Uuid
    partitions: list[PartitionData]


class InitializeShareGroupStateRequest(Request, key=83, versions="0", flexible="0+"):
    group_id: String
    topics: list[InitializeStateData]


class PartitionResult(Struct):
    partition: Int32
    error_code: Int16
    error_message: String | None = None


class InitializeStateResult(Struct):
    topic_id: Uuid
    partitions: list[PartitionResult]


class InitializeShareGroupStateResponse(Response, key=83, versions="0", flexible="0+"):
    results: list[InitializeStateResult]
