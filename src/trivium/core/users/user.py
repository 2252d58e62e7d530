"""A user as plain state, and the rules for what it may be called."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from trivium.core.faults import Fault, Refused
from trivium.core.users.permissions import Permissions

ROOT_USER_ID: Final = 0
"""The first user of a node: it may do everything, and cannot be removed."""

USERNAME_BYTES: Final = range(3, 50 + 1)
PASSWORD_BYTES: Final = range(3, 100 + 1)
TOKEN_NAME_BYTES: Final = range(3, 30 + 1)
"""All three are Iggy's limits, which its clients know."""

USERS_MAX: Final = 100_000
"""All users are held in memory: a script that makes them without end is stopped here."""
TOKENS_PER_USER_MAX: Final = 100


class UserStatus(Enum):
    ACTIVE = 1
    INACTIVE = 2


class Token(NamedTuple):
    user_id: int
    name: str
    token_hash: bytes
    expires_at_us: int
    """0 for never."""

    def is_expired(self, now_us: int) -> bool:
        return 0 < self.expires_at_us <= now_us


@dataclass(frozen=True, slots=True)
class User:
    user_id: int
    username: str
    status: UserStatus
    created_at_us: int
    password_hash: str = field(repr=False)
    permissions: Permissions | None

    @property
    def is_root(self) -> bool:
        return self.user_id == ROOT_USER_ID


def check_username(username: str) -> None:
    if len(username.encode()) not in USERNAME_BYTES:
        raise Refused(Fault.INVALID_USERNAME, _sentence("A username", USERNAME_BYTES))


def check_password(password: str) -> None:
    if len(password.encode()) not in PASSWORD_BYTES:
        raise Refused(Fault.INVALID_PASSWORD, _sentence("A password", PASSWORD_BYTES))


def check_token_name(name: str) -> None:
    if len(name.encode()) not in TOKEN_NAME_BYTES:
        raise Refused(Fault.INVALID_TOKEN_NAME, _sentence("The name of a token", TOKEN_NAME_BYTES))


def _sentence(what: str, sizes: range) -> str:
    return f"{what} has {sizes[0]} to {sizes[-1]} bytes."
