"""DeleteTopics (key 20): delete topics, by name or by id.

0   first version
1   response gains throttle_time_ms
2   same bytes; a throttled answer is sent at once, and the client waits
3   same bytes; an answer may say TOPIC_DELETION_DISABLED
4   flexible
5   response gains error_message (KIP-599)
6   request gains topics; loses topic_names; response gains topic_id; name may be null (KIP-516)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int16, Int32, String, Uuid
from trivium.wire.uuid_text import ZERO_UUID


class DeleteTopicState(Struct):
    name: String | None = None
    topic_id: Uuid


class DeleteTopicsRequest(Request, key=20, versions="0-6", flexible="4+"):
    topics: list[DeleteTopicState] = field("6+", default_factory=list)
    topic_names: list[String] = field("0-5", default_factory=list, ignorable=True)
    timeout_ms: Int32


class DeletableTopicResult(Struct):
    name: String | None = field(nullable="6+")
    topic_id: Uuid = field("6+", default=ZERO_UUID, ignorable=True)
    error_code: Int16
    error_message: String | None = field("5+", default=None, ignorable=True)


class DeleteTopicsResponse(Response, key=20, versions="0-6", flexible="4+"):
    throttle_time_ms: Int32 = field("1+", default=0, ignorable=True)
    responses: list[DeletableTopicResult]
