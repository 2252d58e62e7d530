"""Passwords by Argon2id, and salted for SCRAM, in a thread of their own: one takes tens of milliseconds, and
the loop cannot wait.

The parameters are those that OWASP recommends for little memory: 19 MiB, two passes, one lane. One thread, so
that many logins at once wait for each other and not for memory. Hashes name their parameters: raising these
later leaves every stored one valid.
"""

import base64
import os
import uuid
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Final

from trivium.core.metadata_access import ScramCredential, ScramMechanism
from trivium.core.ports import HashedPassword
from trivium.core.users.people import Chance
from trivium.core.users.scram import ITERATIONS, credential_of
from trivium.core.users.scram import SALT_BYTES as SCRAM_SALT_BYTES
from trivium.server.worker import Worker

if TYPE_CHECKING:
    from argon2 import PasswordHasher

MEMORY_KIB: Final = 19 * 1024
PASSES: Final = 2
LANES: Final = 1
SALT_BYTES: Final = 16
DIGEST_BYTES: Final = 32

NONCE_BYTES: Final = 24
DECOY_KEY_BYTES: Final = 32

TOKEN_BYTES: Final = 50
"""Of chance in a personal access token, as Iggy has them: 68 characters."""


class ArgonPasswords:
    """The core's port ``Passwords``. The library is loaded when it is first needed, in the thread."""

    def __init__(self, worker: Worker, *, memory_kib: int = MEMORY_KIB, passes: int = PASSES) -> None:
        self._worker = worker
        self._memory_kib = memory_kib
        self._passes = passes

    def hash(self, password: str, done: Callable[[HashedPassword], None]) -> None:
        self._worker.run(lambda: HashedPassword(self._hasher.hash(password), _salted(password)), done)

    def salt(
        self, mechanism: ScramMechanism, password: str, salt: bytes, done: Callable[[ScramCredential], None]
    ) -> None:
        self._worker.run(lambda: _credential(mechanism, password, salt), done)

    def verify(self, stored: str | None, password: str, done: Callable[[bool], None]) -> None:
        self._worker.run(lambda: self._verify(stored, password), done)

    @cached_property
    def _hasher(self) -> "PasswordHasher":
        from argon2 import PasswordHasher

        return PasswordHasher(
            time_cost=self._passes,
            memory_cost=self._memory_kib,
            parallelism=LANES,
            salt_len=SALT_BYTES,
            hash_len=DIGEST_BYTES,
        )

    @cached_property
    def _nobodys_hash(self) -> str:
        """What users that do not exist are checked against. Its digest is chance: nobody has a password for
        it, and none had to be hashed.
        """
        salt, digest = (
            base64.b64encode(os.urandom(size)).decode("ascii").rstrip("=")
            for size in (SALT_BYTES, DIGEST_BYTES)
        )
        return f"$argon2id$v=19$m={self._memory_kib},t={self._passes},p={LANES}${salt}${digest}"

    def _verify(self, stored: str | None, password: str) -> bool:
        from argon2.exceptions import InvalidHashError, VerificationError

        try:
            return self._hasher.verify(stored or self._nobodys_hash, password) and stored is not None
        except (VerificationError, InvalidHashError):
            return False


def _salted(password: str) -> dict[ScramMechanism, ScramCredential]:
    return {each: _credential(each, password, os.urandom(SCRAM_SALT_BYTES)) for each in ScramMechanism}


def _credential(mechanism: ScramMechanism, password: str, salt: bytes) -> ScramCredential:
    from hashlib import pbkdf2_hmac

    salted = pbkdf2_hmac(mechanism.hash_name, password.encode(), salt, ITERATIONS)
    return credential_of(mechanism, salted, salt, ITERATIONS)


def chance() -> Chance:
    return Chance(new_token, new_nonce, lambda: str(uuid.uuid4()), os.urandom(DECOY_KEY_BYTES))


def new_nonce() -> str:
    """Of one exchange, never seen before and not to be guessed."""
    return base64.b64encode(os.urandom(NONCE_BYTES)).decode("ascii")


def new_token() -> str:
    return base64.b64encode(os.urandom(TOKEN_BYTES)).decode("ascii")
