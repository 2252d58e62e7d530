"""The first user of a node. It is made once; what is configured later changes nothing about it."""

from collections.abc import Callable
from typing import Final

from trivium.core.faults import Refused
from trivium.core.ports import Asker, Clock, Done, HashedPassword, Passwords
from trivium.core.trivium_log import TriviumLog
from trivium.core.users.credentials import ScramStore
from trivium.core.users.directory import UserDirectory
from trivium.core.users.permissions import EVERYTHING
from trivium.core.users.user import ROOT_USER_ID, User, UserStatus, check_password, check_username

_THE_NODE_ITSELF: Final = ""
"""In the place of an address."""


class Founding:
    def __init__(
        self,
        users: UserDirectory,
        log: TriviumLog,
        passwords: Passwords,
        credentials: ScramStore,
        clock: Clock,
    ) -> None:
        self._users = users
        self._log = log
        self._passwords = passwords
        self._credentials = credentials
        self._clock = clock

    @property
    def is_needed(self) -> bool:
        """``Refused`` if ``__trivium`` cannot be read."""
        self._log.load()
        return ROOT_USER_ID not in self._users.by_id

    def ask_whether_still(self, username: str, password: str, reply: Callable[[bool], None]) -> None:
        """Whether the first user is called that and has that password. ``Refused`` as above."""
        self._log.load()
        root = self._users.by_id.get(ROOT_USER_ID)
        if root is None or root.username != username:
            reply(False)
        else:
            asker = Asker(username, _THE_NODE_ITSELF)
            self._passwords.verify(
                root.password_hash, password, asker, lambda is_right: reply(bool(is_right))
            )

    def found(self, username: str, password: str, done: Done) -> None:
        """``done`` when the first user is there for good. ``Refused`` if it cannot be called that."""
        check_username(username)
        check_password(password)
        self._passwords.hash(password, username, self._hashed(username, done))

    def _hashed(self, username: str, done: Done) -> Callable[[HashedPassword], None]:
        def hashed(password: HashedPassword) -> None:
            now_us = self._clock.wall_ms() * 1000
            root = User(ROOT_USER_ID, username, UserStatus.ACTIVE, now_us, password.text, EVERYTHING)
            give = self._credentials.giving(username, password.scram, done)
            try:
                self._log.commit(self._users.added(root), give)
            except Refused as refused:
                done(refused.fault)

        return hashed
