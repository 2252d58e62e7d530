"""DescribeUsers (key 16388): the users of the node, without anything they prove themselves by.

0   first version, flexible
"""

from trivium.messages.schema import Request, Response, Struct
from trivium.messages.types import Bool, Int16, Int32, Int64, String


class DescribeUsersRequest(Request, key=16_388, versions="0", flexible="0+"):
    pass


class UserData(Struct):
    user_id: Int32
    username: String
    is_active: Bool
    created_at_us: Int64
    rights: Int32
    """Everywhere: one bit for each of Iggy's global permissions, in their order; -1: none."""
    is_first: Bool
    """The first user of the node, who may do everything."""


class DescribeUsersResponse(Response, key=16_388, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    users: list[UserData]
