"""Threads for what takes long beside the loop: compaction, checkpoints, deletions, snapshots.

A job runs in a thread and touches nothing that the loop changes; what comes of it is taken in on the loop.
A job that raises is a bug and is told to the loop, which reports it; errors of a disk are results.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


class Worker:
    def __init__(self, loop: asyncio.AbstractEventLoop, name: str, threads: int = 1) -> None:
        self._loop = loop
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._running = 0
        self._idle: list[asyncio.Future[None]] = []

    def run(self, job: Callable[[], Result], then: Callable[[Result], None]) -> None:
        """Run ``job`` in a thread, and ``then`` with its result on the loop."""
        self._running += 1
        self._threads.submit(self._run, job, then)

    def _run(self, job: Callable[[], Result], then: Callable[[Result], None]) -> None:
        try:
            result = job()
        except BaseException as error:  # noqa: BLE001  (passed on, to where somebody looks)
            self._loop.call_soon_threadsafe(self._failed, error)
        else:
            self._loop.call_soon_threadsafe(self._done, then, result)

    def _done(self, then: Callable[[Result], None], result: Result) -> None:
        try:
            then(result)
        finally:
            self._ended()

    def _failed(self, error: BaseException) -> None:
        self._ended()
        raise error

    def _ended(self) -> None:
        self._running -= 1
        if not self._running:
            idle, self._idle = self._idle, []
            for waiting in idle:
                waiting.set_result(None)

    async def drain(self) -> None:
        """Until every job has ended and its result has been taken in."""
        while self._running:
            waiting: asyncio.Future[None] = self._loop.create_future()
            self._idle.append(waiting)
            await waiting

    def close(self) -> None:
        self._threads.shutdown()
