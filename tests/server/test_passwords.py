"""Passwords are hashed in a thread, and nobody is told whether a user exists (S8, S15)."""

import asyncio
from typing import Any

import pytest

from trivium.core.ports import HashedPassword
from trivium.server.passwords import TOKEN_BYTES, ArgonPasswords, new_token
from trivium.server.worker import Worker

CHEAP: dict[str, Any] = {"memory_kib": 8, "passes": 1}


def results(*questions: tuple[str | None, str]) -> list[bool]:
    """Whether each password is right for the password that was hashed, or for nobody."""

    async def scenario() -> list[bool]:
        loop = asyncio.get_running_loop()
        worker = Worker(loop, "passwords")
        passwords = ArgonPasswords(worker, **CHEAP)
        answers = []
        for original, tried in questions:
            stored = None
            if original is not None:
                hashed: asyncio.Future[HashedPassword] = loop.create_future()
                passwords.hash(original, hashed.set_result)
                stored = (await hashed).text
                assert stored.startswith("$argon2id$")
                assert original not in stored
            verified: asyncio.Future[bool] = loop.create_future()
            passwords.verify(stored, tried, verified.set_result)
            answers.append(await verified)
        worker.close()
        return answers

    return asyncio.run(scenario())


def test_password_is_right_or_wrong_and_nobodys_never_right() -> None:
    assert results(("secret", "secret"), ("secret", "Secret"), (None, "secret"), (None, "")) == [
        True,
        False,
        False,
        False,
    ]


def test_stored_text_that_is_no_hash_lets_nobody_in() -> None:
    async def scenario() -> bool:
        loop = asyncio.get_running_loop()
        worker = Worker(loop, "passwords")
        verified: asyncio.Future[bool] = loop.create_future()
        ArgonPasswords(worker, **CHEAP).verify("no hash", "secret", verified.set_result)
        result = await verified
        worker.close()
        return result

    assert asyncio.run(scenario()) is False


def test_checking_somebody_and_nobody_is_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """One verification each, by hashes of one form; one that the library cannot read would be quicker."""
    import argon2

    verify, done = argon2.PasswordHasher.verify, []

    def counted(self: argon2.PasswordHasher, stored: str, password: str) -> bool:
        try:
            return verify(self, stored, password)
        except argon2.exceptions.VerifyMismatchError:
            return False
        finally:
            done.append((argon2.extract_parameters(stored), len(stored)))

    monkeypatch.setattr(argon2.PasswordHasher, "verify", counted)
    results((None, "secret"), ("secret", "secret"))
    assert len(done) == 2
    assert done[0] == done[1]


def test_tokens_are_long_and_never_the_same() -> None:
    assert new_token() != new_token()
    assert len(new_token()) == (TOKEN_BYTES + 2) // 3 * 4
