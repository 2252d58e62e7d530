"""Threads for what takes long beside the loop: compaction, checkpoints, deletions, snapshots.

A job runs in a thread and touches nothing that the loop changes; what comes of it is taken in on the loop, on
behalf of whoever has asked for it. A job that raises is a bug and is told to the loop, which reports it and
ends the connection of who has asked; errors of a disk are results.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from trivium.core.behalf import on_behalf

Result = TypeVar("Result")


class Worker:
    def __init__(
        self, loop: asyncio.AbstractEventLoop, name: str, threads: int = 1, niceness: int = 0
    ) -> None:
        """``niceness`` is by how much its threads stand back behind the loop, where threads can."""
        self._loop = loop
        self._threads = ThreadPoolExecutor(
            threads, thread_name_prefix=name, initializer=_stand_back, initargs=(niceness,)
        )
        self._running = 0
        self._idle: list[asyncio.Future[None]] = []

    def run(self, job: Callable[[], Result], then: Callable[[Result], None]) -> None:
        """Run ``job`` in a thread, and ``then`` with its result on the loop."""
        order = _Order()
        self._running += 1
        try:
            self._threads.submit(self._run, order, job, on_behalf(then), on_behalf(_fail))
        except RuntimeError:
            # No thread could be started, and yet the job is in line for one that others may get.
            order.is_withdrawn = True
            self._ended()
            raise

    def _run(
        self,
        order: "_Order",
        job: Callable[[], Result],
        then: Callable[[Result], None],
        fail: Callable[[BaseException], None],
    ) -> None:
        if order.is_withdrawn:
            return
        try:
            result = job()
        except BaseException as error:  # noqa: BLE001  (passed on, to where somebody looks)
            self._loop.call_soon_threadsafe(self._done, fail, error)
        else:
            self._loop.call_soon_threadsafe(self._done, then, result)

    def _done(self, then: Callable[[Result], None], result: Result) -> None:
        try:
            then(result)
        finally:
            self._ended()

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

    def close(self, *, wait: bool = True) -> None:
        """No further jobs. Without ``wait``, what comes of the one that runs is nobody's business."""
        self._threads.shutdown(wait=wait)


class _Order:
    """Of a job: whoever gave it may hear that nothing will come of it."""

    __slots__ = ("is_withdrawn",)

    def __init__(self) -> None:
        self.is_withdrawn = False


def _fail(error: BaseException) -> None:
    raise error


def _stand_back(niceness: int) -> None:
    """On Linux a thread has a priority of its own; elsewhere it is the process's, and stays as it is."""
    if niceness and sys.platform == "linux":
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + niceness)
