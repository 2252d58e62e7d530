"""Passwords by Argon2id, and salted for SCRAM, in a thread of their own: one takes tens of milliseconds, and
the loop cannot wait.

The parameters are those that OWASP recommends for little memory: 19 MiB, two passes, one lane. One thread, so
that many logins at once wait for each other and not for memory (``password_queue``). Hashes name their
parameters: raising these later leaves every stored one valid.

- A password that was just given to a user, or was right, is remembered by a keyed digest, in memory only: who
  comes with it need not wait, however many others try theirs. The key is made anew at each start; another
  hash is another password.
- The same claim made many times at once is checked once.
"""

import base64
import os
import uuid
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property, partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from trivium.core.behalf import on_behalf, tell_all
from trivium.core.metadata_access import ScramCredential, ScramMechanism
from trivium.core.ports import Asker, HashedPassword
from trivium.core.users.people import Chance
from trivium.core.users.scram import ITERATIONS, credential_of
from trivium.core.users.scram import SALT_BYTES as SCRAM_SALT_BYTES
from trivium.server.password_queue import INSIDE, PasswordQueue

if TYPE_CHECKING:
    from argon2 import PasswordHasher

MEMORY_KIB: Final = 19 * 1024
PASSES: Final = 2
LANES: Final = 1
SALT_BYTES: Final = 16
DIGEST_BYTES: Final = 32

REMEMBERED_MAX: Final = 10_000
"""Passwords that are right; with more, the one that was not used for longest is forgotten."""

NONCE_BYTES: Final = 24
DECOY_KEY_BYTES: Final = 32

TOKEN_BYTES: Final = 50
"""Of chance in a personal access token, as Iggy has them: 68 characters."""


class ArgonPasswords:
    """The core's port ``Passwords``. The library is loaded when it is first needed, in the thread."""

    def __init__(self, queue: PasswordQueue, *, memory_kib: int = MEMORY_KIB, passes: int = PASSES) -> None:
        self._queue = queue
        self._memory_kib = memory_kib
        self._passes = passes
        self._key = os.urandom(blake2b.MAX_KEY_SIZE)
        self._right: OrderedDict[bytes, None] = OrderedDict()
        self._checking: dict[bytes, list[Callable[[bool | Exception], None]]] = {}
        """Who waits to hear of a claim."""

    def hash(self, password: str, username: str, done: Callable[[HashedPassword], None]) -> None:
        def hashed(new: HashedPassword) -> None:
            self._remember(self._claim(new.text, password, username))
            done(new)

        self._queue.run(
            INSIDE, lambda: HashedPassword(self._hasher.hash(password), _salted(password)), hashed
        )

    def salt(
        self,
        mechanism: ScramMechanism,
        password: str,
        salt: bytes,
        asker: Asker,
        done: Callable[[ScramCredential | None], None],
    ) -> None:
        if not self._queue.run(asker.address, lambda: _credential(mechanism, password, salt), done):
            done(None)

    def recalls(self, stored: str | None, password: str, username: str) -> bool:
        claim = self._claim(stored, password, username)
        is_known = claim in self._right
        if is_known:
            self._right.move_to_end(claim)
        return is_known

    def verify(
        self, stored: str | None, password: str, asker: Asker, done: Callable[[bool | None], None]
    ) -> None:
        claim = self._claim(stored, password, asker.username)
        judged = on_behalf(partial(_judge, done))
        if claim in self._checking:
            self._checking[claim].append(judged)
        elif self._queue.run(
            asker.address,
            lambda: self._verify_or_fail(stored, password),
            lambda verdict: self._verified(claim, verdict),
        ):
            self._checking[claim] = [judged]
        else:
            done(None)

    def _verified(self, claim: bytes, verdict: bool | Exception) -> None:
        if verdict is True:
            self._remember(claim)
        tell_all(self._checking.pop(claim), verdict)

    def _remember(self, claim: bytes) -> None:
        self._right[claim] = None
        if len(self._right) > REMEMBERED_MAX:
            self._right.popitem(last=False)

    def _claim(self, stored: str | None, password: str, username: str) -> bytes:
        digest = blake2b(key=self._key)
        for part in (stored or self._nobodys_hash, username, password):
            text = part.encode()
            digest.update(len(text).to_bytes(8, "big"))
            digest.update(text)
        return digest.digest()

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

    def _verify_or_fail(self, stored: str | None, password: str) -> bool | Exception:
        """A mistake is a verdict, too: everybody who waits for this one has to hear of it."""
        try:
            return self._verify(stored, password)
        except Exception as mistake:  # noqa: BLE001  (raised by ``_judge``)
            return mistake

    def _verify(self, stored: str | None, password: str) -> bool:
        from argon2.exceptions import InvalidHashError, VerificationError

        try:
            return self._hasher.verify(stored or self._nobodys_hash, password) and stored is not None
        except (VerificationError, InvalidHashError):
            return False


def _judge(done: Callable[[bool | None], None], verdict: bool | Exception) -> None:
    if isinstance(verdict, Exception):
        raise verdict
    done(verdict)


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
