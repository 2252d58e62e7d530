"""DescribeGroups (key 15): state and members of groups.

0   first version
1   response gains throttle_time_ms
2   same bytes; a throttled answer is sent at once, and the client waits
3   request gains include_authorized_operations; response gains authorized_operations (KIP-430)
4   response gains group_instance_id (KIP-345)
5   flexible
6   response gains error_message (KIP-1043)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bool, Bytes, Int16, Int32, String


class DescribeGroupsRequest(Request, key=15, versions="0-6", flexible="5+"):
    groups: list[String]
    include_authorized_operations: Bool = field("3+", default=False)


class DescribedGroupMember(Struct):
    member_id: String
    group_instance_id: String | None = field("4+", default=None, ignorable=True)
    client_id: String
    client_host: String
    member_metadata: Bytes
    member_assignment: Bytes


class DescribedGroup(Struct):
    error_code: Int16
    error_message: String | None = field("6+", default=None)
    group_id: String
    group_state: String
    protocol_type: String
    protocol_data: String
    members: list[DescribedGroupMember]
    authorized_operations: Int32 = field("3+", default=-2147483648)


class DescribeGroupsResponse(Response, key=15, versions="0-6", flexible="5+"):
    throttle_time_ms: Int32 = field("1+", default=0, ignorable=True)
    groups: list[DescribedGroup]
