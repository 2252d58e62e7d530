"""CreatePartitions (key 37): add partitions to topics.

0   first version
1   same bytes; a throttled answer is sent at once, and the client waits
2   flexible
3   same bytes; an answer may say THROTTLING_QUOTA_EXCEEDED (KIP-599)
"""

from trivium.messages.schema import Request, Response, Struct
from trivium.messages.types import Bool, Int16, Int32, String


class CreatePartitionsAssignment(Struct):
    broker_ids: list[Int32]


class CreatePartitionsTopic(Struct):
    name: String
    count: Int32
    assignments: list[CreatePartitionsAssignment] | None


class CreatePartitionsRequest(Request, key=37, versions="0-3", flexible="2+"):
    topics: list[CreatePartitionsTopic]
    timeout_ms: Int32
    validate_only: Bool


class CreatePartitionsTopicResult(Struct):
    name: String
    error_code: Int16
    error_message: String | None = None


class CreatePartitionsResponse(Response, key=37, versions="0-3", flexible="2+"):
    throttle_time_ms: Int32
    results: list[CreatePartitionsTopicResult]
