"""DescribeUsers (key 16388, our own): the users of the node (ADR 11, 13).

Served: 0.
"""

from trivium.core.commands.users import ListedUsers, ListUsers, UserStatus
from trivium.core.users.user import ROOT_USER_ID
from trivium.messages.extensions import ExtensionKey
from trivium.messages.extensions.describe_users import (
    DescribeUsersRequest,
    DescribeUsersResponse,
    UserData,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.apis.alter_user import rights_of
from trivium.protocols.kafka.faults import code_of


def to_command(request: DescribeUsersRequest, call: Call) -> ListUsers:
    return ListUsers()


def to_response(result: ListedUsers, call: Call) -> DescribeUsersResponse:
    return DescribeUsersResponse(
        throttle_time_ms=0,
        error_code=code_of(result.fault),
        users=[
            UserData(
                user_id=user.user_id,
                username=user.username,
                is_active=user.status is UserStatus.ACTIVE,
                created_at_us=user.created_at_us,
                rights=rights_of(user.permissions),
                is_first=user.user_id == ROOT_USER_ID,
            )
            for user in result.users
        ],
    )


API = Api(ExtensionKey.DESCRIBE_USERS, 0, 0, to_command, to_response)
