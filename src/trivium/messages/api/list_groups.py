"""ListGroups (key 16): the groups of one broker.

0   first version
1   response gains throttle_time_ms
2   same bytes; a throttled answer is sent at once, and the client waits
3   flexible
4   request gains states_filter; response gains group_state (KIP-518)
5   request gains types_filter; response gains group_type (KIP-848)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int16, Int32, String


class ListGroupsRequest(Request, key=16, versions="0-5", flexible="3+"):
    states_filter: list[String] = field("4+", default_factory=list)
    types_filter: list[String] = field("5+", default_factory=list)


class ListedGroup(Struct):
    group_id: String
    protocol_type: String
    group_state: String = field("4+", default="", ignorable=True)
    group_type: String = field("5+", default="", ignorable=True)


class ListGroupsResponse(Response, key=16, versions="0-5", flexible="3+"):
    throttle_time_ms: Int32 = field("1+", default=0, ignorable=True)
    error_code: Int16
    groups: list[ListedGroup]
