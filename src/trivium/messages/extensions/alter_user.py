"""AlterUser (key 16387): make or remove a user of the node, or give it another password.

0   first version, flexible
"""

from enum import IntEnum

from trivium.messages.schema import Request, Response
from trivium.messages.types import Int8, Int16, Int32, String


class UserAction(IntEnum):
    CREATE = 0
    REMOVE = 1
    SET_PASSWORD = 2


class AlterUserRequest(Request, key=16_387, versions="0", flexible="0+"):
    action: Int8
    username: String
    password: String | None
    """The new one; none to remove."""
    current_password: String | None
    """To give oneself another. Others get one without it, from those who may alter users."""
    rights: Int32
    """Of a new user, everywhere: one bit for each of Iggy's global permissions, in their order; -1: none."""


class AlterUserResponse(Response, key=16_387, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None
