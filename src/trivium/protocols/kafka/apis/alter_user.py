"""AlterUser (key 16387, our own): make or remove a user, or give it another password (ADR 11, 13).

Served: 0.
"""

from trivium.core.commands.users import (
    ChangePassword,
    CreateUser,
    DeleteUser,
    DescribedUser,
    ResetPassword,
)
from trivium.core.faults import Fault
from trivium.core.users.permissions import GlobalPermissions, Permissions
from trivium.messages.errors import ErrorCode
from trivium.messages.extensions import ExtensionKey
from trivium.messages.extensions.alter_user import AlterUserRequest, AlterUserResponse, UserAction
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

AlterUserCommand = CreateUser | DeleteUser | ChangePassword | ResetPassword

_SENTENCES = {
    Fault.USER_EXISTS: "There is a user of that name already.",
    Fault.UNKNOWN_USER: "There is no user of that name.",
    Fault.INVALID_USERNAME: "A user name has 3 to 50 bytes.",
    Fault.INVALID_PASSWORD: "A password has 3 to 100 bytes.",
    Fault.INVALID_CREDENTIALS: "The current password is another one.",
    Fault.ROOT_CANNOT_BE_DELETED: "The first user of a node stays.",
    Fault.NOT_AUTHORIZED_USER: "You may not do this to users.",
}


def to_command(request: AlterUserRequest, call: Call) -> AlterUserCommand | AlterUserResponse:
    username, password = request.username, request.password
    if request.action == UserAction.REMOVE:
        return DeleteUser(username)
    if password is None or request.action not in tuple(UserAction):
        return AlterUserResponse(
            throttle_time_ms=0,
            error_code=ErrorCode.INVALID_REQUEST,
            error_message="There is no such thing to be done to a user.",
        )
    if request.action == UserAction.CREATE:
        return CreateUser(username, password, permissions=permissions_of(request.rights))
    if request.current_password is not None:
        return ChangePassword(username, request.current_password, password)
    return ResetPassword(username, password)


def to_response(result: DescribedUser | Fault | None, call: Call) -> AlterUserResponse:
    fault = result.fault if isinstance(result, DescribedUser) else result
    message = None if fault is None else _SENTENCES.get(fault)
    return AlterUserResponse(throttle_time_ms=0, error_code=code_of(fault), error_message=message)


def permissions_of(rights: int) -> Permissions | None:
    if rights < 0:
        return None
    count = len(GlobalPermissions._fields)
    return Permissions(GlobalPermissions(*(bool(rights >> number & 1) for number in range(count))))


def rights_of(permissions: Permissions | None) -> int:
    if permissions is None:
        return -1
    return sum(1 << number for number, right in enumerate(permissions.everywhere) if right)


API = Api(ExtensionKey.ALTER_USER, 0, 0, to_command, to_response)
