"""LeaveGroup (key 13): members leave a classic group.

0   first version
1   response gains throttle_time_ms
2   same bytes; a throttled answer is sent at once, and the client waits
3   request gains members; loses member_id; response gains members (KIP-345)
4   flexible
5   request gains reason (KIP-800)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int16, Int32, String


class MemberIdentity(Struct):
    member_id: String
    group_instance_id: String | None = None
    reason: String | None = field("5+", default=None, ignorable=True)


class LeaveGroupRequest(Request, key=13, versions="0-5", flexible="4+"):
    group_id: String
    member_id: String = field("0-2", default="")
    members: list[MemberIdentity] = field("3+", default_factory=list)


class MemberResponse(Struct):
    member_id: String
    group_instance_id: String | None
    error_code: Int16


class LeaveGroupResponse(Response, key=13, versions="0-5", flexible="4+"):
    throttle_time_ms: Int32 = field("1+", default=0, ignorable=True)
    error_code: Int16
    members: list[MemberResponse] = field("3+", default_factory=list)
