"""SyncGroup (key 14): the leader of a classic group hands out the assignment, each member fetches its part.

0   first version
1   response gains throttle_time_ms
2   same bytes; a throttled answer is sent at once, and the client waits
3   request gains group_instance_id (KIP-345)
4   flexible
5   request gains protocol_type, protocol_name; response gains protocol_type, protocol_name (KIP-559)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bytes, Int16, Int32, String


class SyncGroupRequestAssignment(Struct):
    member_id: String
    assignment: Bytes


class SyncGroupRequest(Request, key=14, versions="0-5", flexible="4+"):
    group_id: String
    generation_id: Int32
    member_id: String
    group_instance_id: String | None = field("3+", default=None)
    protocol_type: String | None = field("5+", default=None, ignorable=True)
    protocol_name: String | None = field("5+", default=None, ignorable=True)
    assignments: list[SyncGroupRequestAssignment]


class SyncGroupResponse(Response, key=14, versions="0-5", flexible="4+"):
    throttle_time_ms: Int32 = field("1+", default=0, ignorable=True)
    error_code: Int16
    protocol_type: String | None = field("5+", default=None, ignorable=True)
    protocol_name: String | None = field("5+", default=None, ignorable=True)
    assignment: Bytes
