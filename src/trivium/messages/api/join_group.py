"""JoinGroup (key 11): become a member of a classic group.

0   first version
1   request gains rebalance_timeout_ms
2   response gains throttle_time_ms
3   same bytes; a throttled answer is sent at once, and the client waits
4   same bytes; a new member is told its id and has to join again with it (KIP-394)
5   request gains group_instance_id; response gains group_instance_id (KIP-345)
6   flexible
7   response gains protocol_type; protocol_name may be null (KIP-559)
8   request gains reason (KIP-800)
9   response gains skip_assignment (KIP-814)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bool, Bytes, Int16, Int32, String


class JoinGroupRequestProtocol(Struct):
    name: String
    metadata: Bytes


class JoinGroupRequest(Request, key=11, versions="0-9", flexible="6+"):
    group_id: String
    session_timeout_ms: Int32
    rebalance_timeout_ms: Int32 = field("1+", default=-1, ignorable=True)
    member_id: String
    group_instance_id: String | None = field("5+", default=None)
    protocol_type: String
    protocols: list[JoinGroupRequestProtocol]
    reason: String | None = field("8+", default=None, ignorable=True)


class JoinGroupResponseMember(Struct):
    member_id: String
    group_instance_id: String | None = field("5+", default=None, ignorable=True)
    metadata: Bytes


class JoinGroupResponse(Response, key=11, versions="0-9", flexible="6+"):
    throttle_time_ms: Int32 = field("2+", default=0, ignorable=True)
    error_code: Int16
    generation_id: Int32 = -1
    protocol_type: String | None = field("7+", default=None, ignorable=True)
    protocol_name: String | None = field(nullable="7+")
    leader: String
    skip_assignment: Bool = field("9+", default=False)
    member_id: String
    members: list[JoinGroupResponseMember]
