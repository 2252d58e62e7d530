"""Heartbeat (key 12): a member of a classic group says that it lives.

0   first version
1   response gains throttle_time_ms
2   same bytes; a throttled answer is sent at once, and the client waits
3   request gains group_instance_id (KIP-345)
4   flexible
"""

from trivium.messages.schema import Request, Response, field
from trivium.messages.types import Int16, Int32, String


class HeartbeatRequest(Request, key=12, versions="0-4", flexible="4+"):
    group_id: String
    generation_id: Int32
    member_id: String
    group_instance_id: String | None = field("3+", default=None)


class HeartbeatResponse(Response, key=12, versions="0-4", flexible="4+"):
    throttle_time_ms: Int32 = field("1+", default=0, ignorable=True)
    error_code: Int16
