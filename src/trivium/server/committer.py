"""Group commit at work: one thread per log directory that syncs, and the loop that goes on meanwhile.

Whoever waits in one turn of the loop shares a round; while it runs, the next collects. A round begins at
the end of the turn, so that everything that came in together is synced together.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

from trivium.log.commit import GroupCommit, Round, Waiter
from trivium.log.partition_log import PartitionLog
from trivium.server.metrics import Durations


class Committer:
    def __init__(self, loop: asyncio.AbstractEventLoop, commit: GroupCommit, name: str) -> None:
        self._loop = loop
        self._commit = commit
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"sync {name}")
        self._scheduled = False
        self._running = False
        self._idle: list[Callable[[], None]] = []
        self.durations = Durations()

    def wait_for(self, log: PartitionLog, waiter: Waiter) -> None:
        self._commit.wait_for(log, waiter)
        if not self._scheduled and not self._running:
            self._scheduled = True
            self._loop.call_soon(self._begin)

    def _begin(self) -> None:
        self._scheduled = False
        round_ = self._commit.begin()
        if round_ is None:
            return
        self._running = True
        self._thread.submit(self._run, round_)

    def _run(self, round_: Round) -> None:
        begun = perf_counter()
        error = round_.run()
        self.durations.add(perf_counter() - begun)
        self._loop.call_soon_threadsafe(self._finish, round_, error)

    def _finish(self, round_: Round, error: OSError | None) -> None:
        self._running = False
        self._commit.finish(round_, error)
        self._begin()
        if not self._running:
            idle, self._idle = self._idle, []
            for call in idle:
                call()

    async def drain(self) -> None:
        """Until nothing is being synced: no sync of anybody else may run beside a round."""
        while self._running or self._scheduled:
            done = self._loop.create_future()
            if self._running:
                self._idle.append(lambda done=done: done.set_result(None))  # type: ignore[misc]
            else:
                self._loop.call_soon(done.set_result, None)
            await done

    def close(self) -> None:
        self._thread.shutdown()
