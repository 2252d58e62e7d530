"""Users: who there is; making, changing and removing them.

Everybody may look at itself and change its own password. The first user keeps all its rights and stays.
"""

from collections.abc import Callable, Sequence

from trivium.core.access import Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.users import (
    ChangePassword,
    CreateUser,
    DeleteUser,
    DescribedUser,
    DescribeUser,
    ListedUsers,
    ListUsers,
    ResetPassword,
    UpdatePermissions,
    UpdateUser,
    UserFacts,
)
from trivium.core.faults import Fault, Refused
from trivium.core.ports import Asker, Clock, Done, HashedPassword, Passwords
from trivium.core.refusing import refusing, refusing_later
from trivium.core.trivium_log import Change, TriviumLog
from trivium.core.users.credentials import ScramStore
from trivium.core.users.directory import UserDirectory, changed
from trivium.core.users.user import USERS_MAX, User, check_password, check_username


class Accounts:
    def __init__(
        self,
        users: UserDirectory,
        log: TriviumLog,
        passwords: Passwords,
        credentials: ScramStore,
        access: Access,
        clock: Clock,
        company_changed: Callable[[bool], None],
    ) -> None:
        """``company_changed`` is told whether the first user is the only one, when that changes: clients that
        have not logged in may depend on it (``access.Anonymous.AUTO``).
        """
        self._users = users
        self._log = log
        self._passwords = passwords
        self._credentials = credentials
        self._access = access
        self._clock = clock
        self._company_changed = company_changed
        self.routes: Routes = {
            DescribeUser: refusing(self.describe),
            ListUsers: refusing(self.list_users),
            CreateUser: refusing(self.create),
            DeleteUser: refusing(self.delete),
            UpdateUser: refusing(self.update),
            UpdatePermissions: refusing(self.update_permissions),
            ChangePassword: refusing(self.change_password),
            ResetPassword: refusing(self.reset_password),
        }

    # -- looking ---------------------------------------------------------------------------------

    def describe(self, command: DescribeUser, caller: Caller, reply: Reply[DescribedUser]) -> None:
        reply(DescribedUser(None, _facts(self._own_or(Operation.DESCRIBE, command.user, caller))))

    def list_users(self, command: ListUsers, caller: Caller, reply: Reply[ListedUsers]) -> None:
        reply(ListedUsers(None, [_facts(user) for user in self._users]))

    def _own_or(self, operation: Operation, ref: int | str, caller: Caller) -> User:
        """The caller's own user, or one to which it may do this. Whether another one exists is not told to
        those who may not (promise S11).
        """
        user = self._users.find(ref)
        if user is None or user.user_id != caller.user_id:
            name = "" if user is None else user.username
            if not self._access.allows(caller, operation, Resource.USER, name):
                raise Refused(Fault.NOT_AUTHORIZED_USER)
        return self._users.get(ref)

    # -- making ----------------------------------------------------------------------------------

    def create(self, command: CreateUser, caller: Caller, reply: Reply[DescribedUser]) -> None:
        check_username(command.username)
        check_password(command.password)
        self._check_new_name(command.username)
        if len(self._users) >= USERS_MAX:
            raise Refused(Fault.USERS_LIMIT_REACHED)

        def hashed(password: HashedPassword) -> None:
            # Another one may have taken the name meanwhile.
            self._check_new_name(command.username)
            user = User(
                self._users.next_id,
                command.username,
                command.status,
                self._clock.wall_ms() * 1000,
                password.text,
                command.permissions,
            )
            done = self._credentials.giving(
                user.username,
                password.scram,
                lambda fault: reply(DescribedUser(fault, None if fault else _facts(user))),
            )
            self._commit(self._users.added(user), done)

        self._passwords.hash(command.password, command.username, refusing_later(hashed, command, reply))

    def _check_new_name(self, username: str) -> None:
        if self._users.find(username) is not None:
            raise Refused(Fault.USER_EXISTS)

    # -- changing --------------------------------------------------------------------------------

    def delete(self, command: DeleteUser, caller: Caller, reply: Reply[Fault | None]) -> None:
        user = self._users.get(command.user)
        if user.is_root:
            raise Refused(Fault.ROOT_CANNOT_BE_DELETED)

        def gone(fault: Fault | None) -> None:
            if fault is not None:
                raise Refused(fault)
            self._commit(self._users.removed(self._users.get(user.user_id)), reply)

        # First what it could prove itself by: a name without a user must not be left with it.
        self._credentials.take_away(user.username, refusing_later(gone, command, reply))

    def _commit(self, changes: Sequence[Change], done: Done) -> None:
        """Changes of who there is."""
        was_only_root = self._users.is_only_root
        self._log.commit(changes, done)
        if self._users.is_only_root is not was_only_root:
            self._company_changed(self._users.is_only_root)

    def update(self, command: UpdateUser, caller: Caller, reply: Reply[Fault | None]) -> None:
        if command.username is not None and self._users.find(command.user) is None:
            check_username(command.username)  # That it is none is told first.
        user = self._users.get(command.user)
        username = user.username if command.username is None else command.username
        if username != user.username:
            check_username(username)
            self._check_new_name(username)
        status = user.status if command.status is None else command.status
        if user.is_root and status is not user.status:
            # Nobody would be left who could undo it.
            raise Refused(Fault.ROOT_PERMISSIONS_FIXED)
        if username == user.username:
            self._log.commit([changed(user, status=status)], reply)
            return
        credentials = dict(self._credentials.of(user.username))

        def gone(fault: Fault | None) -> None:
            if fault is not None:
                raise Refused(fault)
            now = self._users.get(user.user_id)
            self._check_new_name(username)
            self._log.commit(
                [changed(now, username=username, status=status)],
                self._credentials.giving(username, credentials, reply),
            )

        self._credentials.take_away(user.username, refusing_later(gone, command, reply))

    def update_permissions(
        self, command: UpdatePermissions, caller: Caller, reply: Reply[Fault | None]
    ) -> None:
        user = self._users.get(command.user)
        if user.is_root:
            raise Refused(Fault.ROOT_PERMISSIONS_FIXED)
        self._log.commit([changed(user, permissions=command.permissions)], reply)

    def change_password(self, command: ChangePassword, caller: Caller, reply: Reply[Fault | None]) -> None:
        user = self._own_or(Operation.ALTER, command.user, caller)
        check_password(command.new)

        def verified(is_right: bool | None) -> None:
            if is_right:
                self._passwords.hash(command.new, user.username, refusing_later(hashed, command, reply))
            else:
                reply(Fault.THROTTLED if is_right is None else Fault.INVALID_CREDENTIALS)

        def hashed(password: HashedPassword) -> None:
            now = self._users.get(user.user_id)
            if now.password_hash != user.password_hash:
                # Somebody else was quicker: the old password is not the one that was checked.
                raise Refused(Fault.INVALID_CREDENTIALS)
            self._log.commit(
                [changed(now, password_hash=password.text)],
                self._credentials.giving(now.username, password.scram, reply),
            )

        asker = Asker(user.username, caller.host)
        self._passwords.verify(user.password_hash, command.current, asker, verified)

    def reset_password(self, command: ResetPassword, caller: Caller, reply: Reply[Fault | None]) -> None:
        user = self._users.get(command.user)
        check_password(command.new)
        if user.user_id == caller.user_id:
            raise Refused(Fault.INVALID_CREDENTIALS)  # who sits down at an open session must not keep it
        if user.is_root and caller.user_id is not None:
            raise Refused(Fault.NOT_AUTHORIZED_USER)

        def hashed(password: HashedPassword) -> None:
            now = self._users.get(user.user_id)
            self._log.commit(
                [changed(now, password_hash=password.text)],
                self._credentials.giving(now.username, password.scram, reply),
            )

        self._passwords.hash(command.new, user.username, refusing_later(hashed, command, reply))


def _facts(user: User) -> UserFacts:
    return UserFacts(user.user_id, user.username, user.status, user.created_at_us, user.permissions)
