"""LOGIN_, LOGOUT_, GET_, CREATE_, DELETE_, UPDATE_USER, GET_USERS, UPDATE_PERMISSIONS, CHANGE_PASSWORD.

How long a name or a password may be is said here for those who log in and who change a password, when all of
the body has been read; who makes or changes users is asked for its rights first, and the core knows the same
bounds.
"""

from dataclasses import replace

from trivium.core.caller import ANONYMOUS
from trivium.core.commands.users import (
    ChangePassword,
    CreateUser,
    DeleteUser,
    DescribeUser,
    ListUsers,
    LoggedIn,
    LogIn,
    LogOut,
    UpdatePermissions,
    UpdateUser,
    UserStatus,
)
from trivium.core.faults import Fault
from trivium.core.users.user import PASSWORD_BYTES, USERNAME_BYTES
from trivium.protocols.iggy.body import Body
from trivium.protocols.iggy.exchange import EMPTY, Call, Exchange, ask, carry_out
from trivium.protocols.iggy.layout import U32, user, user_details
from trivium.protocols.iggy.permissions_layout import read_permissions
from trivium.protocols.iggy.status import Rejected, Status


def _bounded(text: str, sizes: range, status: Status) -> None:
    if len(text.encode()) not in sizes:
        raise Rejected(status)


def _status(number: int) -> UserStatus:
    try:
        return UserStatus(number)
    except ValueError:
        raise Rejected(Status.INVALID_COMMAND) from None


# -- coming in and going out -----------------------------------------------------------------------


def login_user(body: Body, call: Call) -> Exchange:
    username, password = body.name(), body.text()
    # Clients before 0.5 say neither what they are nor which version.
    version, context = (body.long_text(), body.long_text()) if body.remaining else ("", "")
    _bounded(username, USERNAME_BYTES, Status.INVALID_USERNAME)
    _bounded(password, PASSWORD_BYTES, Status.INVALID_PASSWORD)
    return become((yield from ask(LogIn(username, password))), call, version, context)


def become(logged_in: LoggedIn, call: Call, version: str = "", context: str = "") -> bytes:
    """The session goes on as this user; whoever it was before has gone."""
    call.require(logged_in.fault)
    client = call.client
    client.foresight.forget()
    client.dialect.introduced(version, context)
    client.caller = replace(
        client.caller,
        principal=f"User:{logged_in.username}",
        user_id=logged_in.user_id,
        software_name=context or client.caller.software_name,
        software_version=version or client.caller.software_version,
    )
    return U32.pack(call.shown(logged_in.user_id))


def logout_user(_body: Body, call: Call) -> Exchange:
    call.require((yield from ask(LogOut())))
    call.client.foresight.forget()
    call.client.caller = replace(call.client.caller, principal=ANONYMOUS, user_id=None)
    return EMPTY


# -- who there is ----------------------------------------------------------------------------------


def get_user(body: Body, call: Call) -> Exchange:
    described = yield from ask(DescribeUser(call.user(body.identifier())))
    call.require_or_hide(described.fault, Fault.UNKNOWN_USER)
    return EMPTY if described.user is None else user_details(described.user, call)


def get_users(_body: Body, call: Call) -> Exchange:
    listed = yield from ask(ListUsers())
    call.require(listed.fault)
    return b"".join(user(each, call) for each in listed.users)


# -- changing users --------------------------------------------------------------------------------


def create_user(body: Body, call: Call) -> Exchange:
    username, password, status = body.name(), body.text(), body.uint8()
    permissions = read_permissions(body, call)
    created = yield from ask(CreateUser(username, password, _status(status), permissions))
    call.require(created.fault)
    return EMPTY if created.user is None else user_details(created.user, call)


def delete_user(body: Body, call: Call) -> Exchange:
    return (yield from carry_out(DeleteUser(call.user(body.identifier())), call))


def update_user(body: Body, call: Call) -> Exchange:
    who = call.user(body.identifier())
    username = body.name() if body.flag() else None
    status = _status(body.uint8()) if body.flag() else None
    return (yield from carry_out(UpdateUser(who, username, status), call))


def update_permissions(body: Body, call: Call) -> Exchange:
    who = call.user(body.identifier())
    return (yield from carry_out(UpdatePermissions(who, read_permissions(body, call)), call))


def change_password(body: Body, call: Call) -> Exchange:
    who = call.user(body.identifier())
    current, new = body.text(), body.text()
    for each in (current, new):
        _bounded(each, PASSWORD_BYTES, Status.INVALID_PASSWORD)
    return (yield from carry_out(ChangePassword(who, current, new), call))
