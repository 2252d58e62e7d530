"""Users: coming in and going out, who there is, and what each may do.

A session that has logged in goes on with a caller of its new name and number (``Caller.user_id``); everything
else that it asks is decided by that. Times are microseconds since 1970.
"""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Resource, Row, for_everybody, on_each
from trivium.core.caller import Caller
from trivium.core.commands.command import Act, Command, command
from trivium.core.faults import Fault
from trivium.core.users.permissions import Permissions
from trivium.core.users.user import UserStatus as UserStatus

UserRef = int | str
"""A user by number, or by name."""
NEVER_US = 0
"""The expiry of a token that has none."""


# -- coming in -------------------------------------------------------------------------------------


class LoggedIn(NamedTuple):
    fault: Fault | None = None
    user_id: int = -1
    """Below 0: somebody who is no user of this node."""
    username: str = ""
    is_by_token: bool = False

    def become(self, caller: Caller) -> Caller:
        """The caller from now on."""
        user_id = self.user_id if self.user_id >= 0 else None
        return replace(
            caller, principal=f"User:{self.username}", user_id=user_id, is_by_token=self.is_by_token
        )


@command
class LogIn(Command[LoggedIn]):
    """Answered later: checking a password takes its time, and the same time if there is no such user."""

    ROW: ClassVar[Row] = for_everybody("this is how one becomes somebody")
    SECRET: ClassVar[frozenset[str]] = frozenset({"password"})
    username: str
    password: str

    def refused(self, fault: Fault, message: str | None = None) -> LoggedIn:
        return LoggedIn(fault)


@command
class LogInWithToken(Command[LoggedIn]):
    ROW: ClassVar[Row] = for_everybody("this is how one becomes somebody")
    SECRET: ClassVar[frozenset[str]] = frozenset({"token"})
    token: str

    def refused(self, fault: Fault, message: str | None = None) -> LoggedIn:
        return LoggedIn(fault)


@command
class LogInByCertificate(Command[LoggedIn]):
    """A certificate has proven the name already. Whoever is no user of this node goes by that name alone."""

    ROW: ClassVar[Row] = for_everybody("this is how one becomes somebody")
    username: str

    def refused(self, fault: Fault, message: str | None = None) -> LoggedIn:
        return LoggedIn(fault)


@command
class LogOut(Act):
    """The caller is nobody again. It stays a member of its groups."""

    ROW: ClassVar[Row] = for_everybody("everybody may go")


# -- who there is ----------------------------------------------------------------------------------


class UserFacts(NamedTuple):
    user_id: int
    username: str
    status: UserStatus
    created_at_us: int
    permissions: Permissions | None
    """None: it may do nothing but look after itself."""


class DescribedUser(NamedTuple):
    fault: Fault | None = None
    user: UserFacts | None = None


@command
class DescribeUser(Command[DescribedUser]):
    """Everybody may look at itself."""

    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE, Resource.USER)
    user: UserRef

    def refused(self, fault: Fault, message: str | None = None) -> DescribedUser:
        return DescribedUser(fault)


class ListedUsers(NamedTuple):
    fault: Fault | None = None
    users: Sequence[UserFacts] = ()
    """By number."""


def _everyone(_command: object) -> str:
    return ""


@command
class ListUsers(Command[ListedUsers]):
    ROW: ClassVar[Row] = Row(Operation.DESCRIBE, Resource.USER, _everyone)

    def refused(self, fault: Fault, message: str | None = None) -> ListedUsers:
        return ListedUsers(fault)


# -- changing users --------------------------------------------------------------------------------


@command
class CreateUser(Command[DescribedUser]):
    ROW: ClassVar[Row] = Row(Operation.CREATE, Resource.USER, attrgetter("username"))
    SECRET: ClassVar[frozenset[str]] = frozenset({"password"})
    username: str
    password: str
    status: UserStatus = UserStatus.ACTIVE
    permissions: Permissions | None = None

    def refused(self, fault: Fault, message: str | None = None) -> DescribedUser:
        return DescribedUser(fault)


@command
class DeleteUser(Act):
    """Its tokens go with it, and its sessions may do nothing from then on."""

    ROW: ClassVar[Row] = Row(Operation.DELETE, Resource.USER, _everyone)
    user: UserRef


@command
class UpdateUser(Act):
    """None leaves as it is."""

    ROW: ClassVar[Row] = Row(Operation.ALTER, Resource.USER, _everyone)
    user: UserRef
    username: str | None = None
    status: UserStatus | None = None


@command
class UpdatePermissions(Act):
    ROW: ClassVar[Row] = Row(Operation.ALTER, Resource.USER, _everyone)
    user: UserRef
    permissions: Permissions | None


@command
class ChangePassword(Act):
    """Everybody may change its own; the old one is asked for in any case."""

    ROW: ClassVar[Row] = on_each(Operation.ALTER, Resource.USER)
    SECRET: ClassVar[frozenset[str]] = frozenset({"current", "new"})
    user: UserRef
    current: str
    new: str


@command
class ResetPassword(Act):
    """Of another user, by somebody who may alter users; not of the first one, who would be robbed by it."""

    ROW: ClassVar[Row] = Row(Operation.ALTER, Resource.USER, _everyone)
    SECRET: ClassVar[frozenset[str]] = frozenset({"new"})
    user: UserRef
    new: str


# -- tokens ----------------------------------------------------------------------------------------


class CreatedToken(NamedTuple):
    fault: Fault | None = None
    token: str = ""
    """Shown this once; the broker keeps a hash."""

    def __repr__(self) -> str:
        return f"CreatedToken(fault={self.fault})"


@command
class CreateToken(Command[CreatedToken]):
    """A token of the caller's own, to log in with instead of a password."""

    ROW: ClassVar[Row] = for_everybody("it is the caller's own")
    name: str
    lifetime_us: int = NEVER_US

    def refused(self, fault: Fault, message: str | None = None) -> CreatedToken:
        return CreatedToken(fault)


class TokenFacts(NamedTuple):
    name: str
    expires_at_us: int
    """``NEVER_US`` for one that does not."""


class ListedTokens(NamedTuple):
    fault: Fault | None = None
    tokens: Sequence[TokenFacts] = ()


@command
class ListTokens(Command[ListedTokens]):
    ROW: ClassVar[Row] = for_everybody("they are the caller's own")

    def refused(self, fault: Fault, message: str | None = None) -> ListedTokens:
        return ListedTokens(fault)


@command
class DeleteToken(Act):
    ROW: ClassVar[Row] = for_everybody("it is the caller's own")
    name: str
