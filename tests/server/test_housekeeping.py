"""Who waits for a checkpoint hears of it, whatever goes wrong for others who wait or while it is written."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import cast

from tests.core.fakes import FakeClock
from tests.core.mistakes import Mistakes, asking, loose
from trivium.core.timers import Timers
from trivium.log.directory import LogDirectory
from trivium.log.faults import LogError
from trivium.server.housekeeping import Housekeeping
from trivium.server.worker import Worker

SECONDS_MAX = 60


class Home:
    """A directory whose checkpoints take until ``gate`` opens. ``broken`` are those that a mistake spoils,
    ``unbegun`` is one that it does not even let begin.
    """

    path = "/data"

    def __init__(self, *broken: int, unbegun: int = 0) -> None:
        self.gate = threading.Event()
        self.begun = 0
        self._broken = broken
        self._unbegun = unbegun

    @property
    def as_directory(self) -> LogDirectory:
        return cast(LogDirectory, self)

    def begin_checkpoints(self) -> "Pending":
        self.begun += 1
        if self.begun == self._unbegun:
            loose()
        return Pending(self.gate, is_broken=self.begun in self._broken)

    def finish_checkpoints(self, pending: "Pending", error: OSError | None) -> None:
        pass


class Pending:
    def __init__(self, gate: threading.Event, *, is_broken: bool) -> None:
        self._gate = gate
        self._is_broken = is_broken

    def run(self) -> None:
        self._gate.wait(SECONDS_MAX)
        if self._is_broken:
            loose()


class Desk:
    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.worker = Worker(self.loop, "housekeeping")
        self.housekeeping = Housekeeping(self.worker, Timers(FakeClock()))
        self.raised: list[str] = []
        self.loop.set_exception_handler(lambda _loop, context: self.raised.append(str(context["exception"])))
        self.heard: list[LogError | None] = []

    def ask(self, home: Home, caller: Mistakes, written: Callable[[LogError | None], None]) -> None:
        with asking(caller, "DeleteRecords"):
            self.housekeeping.write_checkpoints(home.as_directory, written)


def at_a_desk(scenario: Callable[[Desk], Awaitable[None]]) -> None:
    async def run() -> None:
        desk = Desk()
        try:
            await asyncio.wait_for(scenario(desk), SECONDS_MAX)
        finally:
            desk.worker.close()

    asyncio.run(run())


def test_mistake_while_a_checkpoint_is_written_ends_all_who_wait_for_that_one_and_nobody_else() -> None:
    async def scenario(desk: Desk) -> None:
        home, first, second, third = Home(2), Mistakes(), Mistakes(), Mistakes()
        desk.ask(home, first, desk.heard.append)
        for caller in (second, third):
            desk.ask(home, caller, desk.heard.append)
        home.gate.set()
        await desk.worker.drain()
        told = [("DeleteRecords", "a bolt is loose")]
        assert [first.found, second.found, third.found] == [[], told, told]
        desk.ask(home, first, desk.heard.append)
        await desk.worker.drain()
        assert desk.heard == [None, None]

    at_a_desk(scenario)


def test_mistake_of_one_who_is_told_of_a_checkpoint_keeps_it_from_nobody_else() -> None:
    async def scenario(desk: Desk) -> None:
        home, gone, stays = Home(), Mistakes(), Mistakes()
        gone.presence.forget()
        desk.ask(home, stays, desk.heard.append)
        desk.ask(home, gone, lambda _error: loose())
        desk.ask(home, stays, desk.heard.append)
        home.gate.set()
        await desk.worker.drain()
        assert desk.heard == [None, None]
        assert (desk.raised, stays.found) == (["a bolt is loose"], [])

    at_a_desk(scenario)


def test_mistake_before_a_checkpoint_is_gathered_ends_all_who_wait_for_it() -> None:
    async def scenario(desk: Desk) -> None:
        home, first, second, third = Home(unbegun=2), Mistakes(), Mistakes(), Mistakes()
        for caller in (first, second, third):
            desk.ask(home, caller, desk.heard.append)
        home.gate.set()
        await desk.worker.drain()
        told = [("DeleteRecords", "a bolt is loose")]
        assert (first.found, second.found, third.found, desk.heard) == ([], told, told, [None])
        desk.ask(home, first, desk.heard.append)
        await desk.worker.drain()
        assert desk.heard == [None, None]

    at_a_desk(scenario)
