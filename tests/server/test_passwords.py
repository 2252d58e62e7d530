"""Passwords are hashed in a thread, addresses in turn, and nobody learns which users exist (S8, S15, S17)."""

import asyncio
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import pytest

from tests.core.mistakes import Mistakes, asking, loose
from trivium.core.metadata_access import ScramMechanism
from trivium.core.ports import Asker, HashedPassword
from trivium.server import passwords as module
from trivium.server.password_queue import INSIDE, PasswordQueue
from trivium.server.passwords import TOKEN_BYTES, ArgonPasswords, new_token
from trivium.server.worker import Worker

CHEAP: dict[str, Any] = {"memory_kib": 8, "passes": 1}
ANN = Asker("ann", "192.0.2.1")
SECONDS_MAX = 60

T = TypeVar("T")


class Desk:
    """Passwords with a thread that can be held up."""

    def __init__(self, **bounds: int) -> None:
        self.loop = asyncio.get_running_loop()
        self.worker = Worker(self.loop, "passwords")
        self.queue = PasswordQueue(self.loop, self.worker, **bounds)
        self.passwords = ArgonPasswords(self.queue, **CHEAP)
        self._gate = threading.Event()

    def hold_up(self) -> None:
        self._gate.clear()
        self.queue.run(INSIDE, lambda: self._gate.wait(SECONDS_MAX), lambda _went_on: None)

    def go_on(self) -> None:
        self._gate.set()

    async def hash(self, password: str, username: str = "somebody else") -> str:
        hashed: asyncio.Future[HashedPassword] = self.loop.create_future()
        self.passwords.hash(password, username, hashed.set_result)
        return (await hashed).text

    def begin(self, stored: str | None, password: str, asker: Asker = ANN) -> "asyncio.Future[bool | None]":
        verified: asyncio.Future[bool | None] = self.loop.create_future()
        self.passwords.verify(stored, password, asker, verified.set_result)
        return verified


def at_a_desk(scenario: Callable[[Desk], Awaitable[T]], **bounds: int) -> T:
    async def run() -> T:
        desk = Desk(**bounds)
        try:
            return await asyncio.wait_for(scenario(desk), SECONDS_MAX)
        finally:
            desk.go_on()
            desk.worker.close()

    return asyncio.run(run())


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, int]]:
    """Parameters and length of each hash that something was compared with."""
    import argon2

    verify = argon2.PasswordHasher.verify
    done: list[tuple[object, int]] = []

    def counted(self: argon2.PasswordHasher, stored: str, password: str) -> bool:
        done.append((argon2.extract_parameters(stored), len(stored)))
        return verify(self, stored, password)

    monkeypatch.setattr(argon2.PasswordHasher, "verify", counted)
    return done


def test_password_is_right_or_wrong_and_nobodys_never_right() -> None:
    async def scenario(desk: Desk) -> list[bool | None]:
        stored = await desk.hash("secret")
        assert stored.startswith("$argon2id$")
        assert "secret" not in stored
        return [
            await desk.begin(stored, "secret"),
            await desk.begin(stored, "Secret"),
            await desk.begin(None, "secret"),
            await desk.begin(None, ""),
        ]

    assert at_a_desk(scenario) == [True, False, False, False]


def test_stored_text_that_is_no_hash_lets_nobody_in() -> None:
    async def scenario(desk: Desk) -> bool | None:
        return await desk.begin("no hash", "secret")

    assert at_a_desk(scenario) is False


def test_checking_somebody_and_nobody_is_the_same_work(hashed: list[tuple[object, int]]) -> None:
    """One verification each, by hashes of one form; one that the library cannot read would be quicker."""

    async def scenario(desk: Desk) -> None:
        stored = await desk.hash("secret")
        await desk.begin(None, "wrong")
        await desk.begin(stored, "wrong")

    at_a_desk(scenario)
    assert len(hashed) == 2
    assert hashed[0] == hashed[1]


def test_password_that_was_right_is_recalled_until_it_is_changed(hashed: list[tuple[object, int]]) -> None:
    """Who was let in before comes in again however many wait, and nobody else does (S17)."""

    async def scenario(desk: Desk) -> list[bool]:
        stored, recalls = await desk.hash("secret"), desk.passwords.recalls
        before = recalls(stored, "secret", "ann")
        await desk.begin(stored, "secret")
        await desk.begin(stored, "wrong")
        renewed = await desk.hash("secret")
        return [
            before,
            recalls(stored, "secret", "ann"),
            recalls(stored, "wrong", "ann"),
            recalls(stored, "secret", "ben"),
            recalls(renewed, "secret", "ann"),
            recalls(None, "secret", "ann"),
        ]

    assert at_a_desk(scenario) == [False, True, False, False, False, False]


def test_password_that_was_just_given_is_recalled_for_its_user() -> None:
    """Who makes a user logs in as that user at once."""

    async def scenario(desk: Desk) -> list[bool]:
        stored = await desk.hash("secret", "ann")
        recalls = desk.passwords.recalls
        return [
            recalls(stored, "secret", "ann"),
            recalls(stored, "Secret", "ann"),
            recalls(stored, "secret", "ben"),
        ]

    assert at_a_desk(scenario) == [True, False, False]


def test_passwords_that_were_right_are_forgotten_when_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "REMEMBERED_MAX", 2)

    async def scenario(desk: Desk) -> list[bool]:
        hashes = [await desk.hash(name) for name in "abc"]
        for name, stored in zip("ab", hashes, strict=False):
            await desk.begin(stored, name)
        assert desk.passwords.recalls(hashes[0], "a", "ann")
        await desk.begin(hashes[2], "c")
        return [desk.passwords.recalls(h, n, "ann") for n, h in zip("abc", hashes, strict=True)]

    assert at_a_desk(scenario) == [True, False, True]


def test_same_claim_made_at_once_is_checked_once_and_another_for_itself(
    hashed: list[tuple[object, int]],
) -> None:
    """As when all clients of a program come back together. Names that nobody has are claims of their own."""

    async def scenario(desk: Desk) -> None:
        stored = await desk.hash("secret")
        desk.hold_up()
        same = [desk.begin(stored, "secret") for _ in range(50)]
        others = [desk.begin(None, "secret", Asker(name, ANN.address)) for name in ("ben", "eve")]
        desk.go_on()
        assert await asyncio.gather(*same) == [True] * 50
        assert await asyncio.gather(*others) == [False] * 2

    at_a_desk(scenario)
    assert len(hashed) == 3


def test_who_does_not_fit_in_line_is_refused_at_once_and_others_are_not() -> None:
    """S17: a bound for each address, and one for all of them."""

    async def scenario(desk: Desk) -> None:
        desk.hold_up()
        waiting = [desk.begin(None, f"{n}") for n in range(3)]
        waiting += [desk.begin(None, f"{n}", Asker("ben", "192.0.2.2")) for n in range(2)]
        refused = [
            desk.begin(None, "4th of its address"),
            desk.begin(None, "the 6th of all", Asker("eve", "192.0.2.3")),
        ]
        assert [each.done() and each.result() is None for each in refused] == [True, True]
        salted: list[object] = []
        desk.passwords.salt(ScramMechanism.SCRAM_SHA_256, "", b"salt", ANN, salted.append)
        assert salted == [None]
        inside = asyncio.ensure_future(desk.hash("of an administrator"))
        desk.go_on()
        assert await asyncio.gather(*waiting) == [False] * 5
        assert (await inside).startswith("$argon2id$")
        assert await desk.begin(None, "now there is room") is False

    at_a_desk(scenario, waiting_max=5, waiting_per_address_max=3)


def test_addresses_take_turns() -> None:
    async def scenario(desk: Desk) -> list[str]:
        order: list[str] = []
        desk.hold_up()
        for address, names in (("a", ("a1", "a2", "a3")), ("b", ("b1", "b2")), ("c", ("c1",))):
            for name in names:
                desk.queue.run(address, partial(order.append, name), lambda _none: None)
        desk.go_on()
        await desk.worker.drain()
        return order

    assert at_a_desk(scenario) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_queue_goes_on_after_a_job_that_failed() -> None:
    async def scenario(desk: Desk) -> bool | None:
        failures: list[object] = []
        desk.loop.set_exception_handler(lambda _loop, context: failures.append(context["exception"]))
        desk.queue.run("a", lambda: 1 // 0, lambda _never: None)
        result = await desk.begin(None, "secret")
        assert [type(each) for each in failures] == [ZeroDivisionError]
        return result

    assert at_a_desk(scenario) is False


def test_mistake_in_a_job_that_had_to_wait_ends_who_has_asked_for_it() -> None:
    async def scenario(desk: Desk) -> list[list[tuple[str, str]]]:
        first, second = Mistakes(), Mistakes()
        desk.hold_up()
        for caller in (first, second):
            with asking(caller, "LogIn"):
                desk.queue.run("a", loose, lambda _never: None)
        desk.go_on()
        await desk.worker.drain()
        return [first.found, second.found]

    assert at_a_desk(scenario) == [[("LogIn", "a bolt is loose")]] * 2


def test_mistake_in_a_check_is_told_to_all_who_wait_for_it_although_one_of_them_has_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ArgonPasswords, "_verify", lambda *_: loose())

    async def scenario(desk: Desk) -> list[tuple[str, str]]:
        failures: list[object] = []
        desk.loop.set_exception_handler(lambda _loop, context: failures.append(context["exception"]))
        gone, stays = Mistakes(), Mistakes()
        gone.presence.forget()
        desk.hold_up()
        for caller in (gone, stays):
            with asking(caller, "LogIn"):
                desk.begin(None, "secret")
        desk.go_on()
        await desk.worker.drain()
        assert [str(each) for each in failures] == ["a bolt is loose"]
        return stays.found

    assert at_a_desk(scenario) == [("LogIn", "a bolt is loose")]


def test_node_that_stops_checks_nothing_more() -> None:
    async def scenario(desk: Desk) -> int:
        ran: list[int] = []
        desk.hold_up()
        for number in range(10):
            desk.queue.run("a", partial(ran.append, number), lambda _none: None)
        desk.queue.clear()
        desk.go_on()
        await desk.worker.drain()
        return len(ran)

    assert at_a_desk(scenario) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="threads have a priority of their own on Linux only")
def test_thread_that_hashes_stands_back() -> None:
    async def scenario() -> int:
        loop = asyncio.get_running_loop()
        worker = Worker(loop, "passwords", niceness=3)
        told: asyncio.Future[int] = loop.create_future()
        worker.run(lambda: os.getpriority(os.PRIO_PROCESS, threading.get_native_id()), told.set_result)
        niceness = await asyncio.wait_for(told, SECONDS_MAX)
        worker.close()
        return niceness - os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    assert asyncio.run(scenario()) == 3


def test_tokens_are_long_and_never_the_same() -> None:
    assert new_token() != new_token()
    assert len(new_token()) == (TOKEN_BYTES + 2) // 3 * 4
