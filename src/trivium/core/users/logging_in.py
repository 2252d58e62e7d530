"""Proving who one is: by password, by a token, or by a certificate that TLS has checked.

A wrong name and a wrong password are one answer and take one time, so that nobody learns which names exist.
Whether a user is active is told only to those who know the password. Addresses that have failed too often are
``THROTTLED``, whatever they say (``attempts``).
"""

from collections.abc import Callable
from hashlib import sha256

from trivium.core.caller import Caller
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.users import (
    LoggedIn,
    LogIn,
    LogInByCertificate,
    LogInWithToken,
    LogOut,
)
from trivium.core.faults import Fault
from trivium.core.ports import Asker, Clock, Passwords
from trivium.core.users.attempts import Attempts
from trivium.core.users.directory import UserDirectory
from trivium.core.users.user import User, UserStatus

SessionChanged = Callable[[Caller, int | None], None]
"""Told which user the connection of a caller belongs to from now on."""


def token_hash(token: str) -> bytes:
    """Tokens are long and random: one quick hash protects them as well as a slow one."""
    return sha256(token.encode()).digest()


class LoggingIn:
    def __init__(
        self,
        users: UserDirectory,
        passwords: Passwords,
        attempts: Attempts,
        clock: Clock,
        session_changed: SessionChanged,
    ) -> None:
        self._users = users
        self._passwords = passwords
        self._attempts = attempts
        self._clock = clock
        self._session_changed = session_changed
        self.routes: Routes = {
            LogIn: self.log_in,
            LogInWithToken: self.log_in_with_token,
            LogInByCertificate: self.log_in_by_certificate,
            LogOut: self.log_out,
        }

    def log_in(self, command: LogIn, caller: Caller, reply: Reply[LoggedIn]) -> None:
        user = self._users.find(command.username)
        username, password = command.username, command.password
        stored = None if user is None else user.password_hash
        if self._passwords.recalls(stored, password, username) and user is not None:
            reply(self._welcome(user, caller))
            return
        if self._attempts.are_used_up(caller.host):
            reply(LoggedIn(Fault.THROTTLED))
            return

        def verified(is_right: bool | None) -> None:
            now = self._users.find(username)
            if is_right is None:
                reply(LoggedIn(Fault.THROTTLED))
            elif not is_right or user is None or now is None or now.password_hash != user.password_hash:
                self._attempts.failed(caller.host)
                reply(LoggedIn(Fault.INVALID_CREDENTIALS))
            else:
                reply(self._welcome(now, caller))

        self._passwords.verify(stored, password, Asker(username, caller.host), verified)

    def log_in_with_token(self, command: LogInWithToken, caller: Caller, reply: Reply[LoggedIn]) -> None:
        token = self._users.token_with(token_hash(command.token))
        user = None if token is None else self._users.find(token.user_id)
        if token is None or user is None:
            reply(LoggedIn(Fault.UNKNOWN_TOKEN))
        elif token.is_expired(self._clock.wall_ms() * 1000):
            reply(LoggedIn(Fault.TOKEN_EXPIRED))
        else:
            reply(self._welcome(user, caller))

    def log_in_by_certificate(
        self, command: LogInByCertificate, caller: Caller, reply: Reply[LoggedIn]
    ) -> None:
        reply(self.welcome(command.username, caller))

    def welcome(self, username: str, caller: Caller) -> LoggedIn:
        """Somebody has proven its name."""
        user = self._users.find(username)
        return LoggedIn(username=username) if user is None else self._welcome(user, caller)

    def _welcome(self, user: User, caller: Caller) -> LoggedIn:
        if user.status is not UserStatus.ACTIVE:
            return LoggedIn(Fault.USER_INACTIVE)
        self._session_changed(caller, user.user_id)
        return LoggedIn(None, user.user_id, user.username)

    def log_out(self, command: LogOut, caller: Caller, reply: Reply[Fault | None]) -> None:
        if caller.user_id is None:
            reply(Fault.NOT_AUTHENTICATED)
            return
        self._session_changed(caller, None)
        reply(None)
