"""Group commit at work: who waits is told after a sync, and the loop goes on meanwhile.

Whoever waits in one turn of the loop shares a round. It begins at the end of the turn, so that everything
that came in together is synced together, and goes one of two ways:

- Files that only grew stand in line (``SyncLine``), any number of rounds at a time. The thread there goes on
  from one sync to the next by itself.
- Everything else (new names, sealed segments, files of a fake disk) is done by a thread of Python, one round
  at a time: while it runs, the next collects.
"""

import asyncio
import errno
from collections import deque
from collections.abc import Callable
from functools import partial
from threading import get_ident
from time import perf_counter

from trivium.core.behalf import on_behalf
from trivium.log.commit import GroupCommit, Round, Waiter
from trivium.log.partition_log import PartitionLog
from trivium.server.errand import Errand, report
from trivium.server.metrics import Durations
from trivium.server.sync_line import REQUESTS_MAX, SyncLine
from trivium.server.worker import Worker


class Committer:
    def __init__(self, loop: asyncio.AbstractEventLoop, commit: GroupCommit, name: str) -> None:
        self._loop = loop
        self._loop_thread = get_ident()
        self._commit = commit
        self._name = name
        self._worker = Worker(loop, f"sync {name}")
        self._line: SyncLine | None = None
        self._line_failed = False
        self._in_line: deque[Round] = deque()
        self._requests_in_line = 0
        self._number = 0
        """Of the round that was put in line last."""
        self._answered: deque[tuple[Round, OSError | None]] = deque()
        self._scheduled = False
        self._running = False
        self._idle: list[Callable[[], None]] = []
        self.durations = Durations()

    def wait_for(self, log: PartitionLog, waiter: Waiter) -> None:
        self._commit.wait_for(log, on_behalf(waiter))
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._begin)

    def _begin(self) -> None:
        self._scheduled = False
        room = REQUESTS_MAX - self._requests_in_line
        if not self._line_failed and (round_ := self._commit.lend(room, self._settle)) is not None:
            self._put_in_line(round_)
        elif (round_ := self._commit.begin()) is not None:
            self._running = True
            errand = Errand(partial(self._broken_off, round_))
            errand.go(self._worker.run, partial(self._run, round_), partial(self._finish, errand, round_))

    # -- in line ---------------------------------------------------------------------------------

    def _put_in_line(self, round_: Round) -> None:
        if not round_.descriptors:
            # All of it has been made durable meanwhile.
            round_.give_back(None)
            round_.finish(None)
            return
        if self._line is None:
            self._line = SyncLine(f"sync line {self._name}")
            self._loop.add_reader(self._line.replies, self._hear)
        self._in_line.append(round_)
        self._requests_in_line += len(round_.descriptors)
        self._number += 1
        self._line.put(round_.descriptors, self._number)

    def _hear(self) -> None:
        self._take_replies()
        self._tell()

    def _take_replies(self) -> None:
        assert self._line is not None
        for number, failure, seconds in self._line.progress():
            self.durations.add(seconds)
            while self._number - len(self._in_line) < number:
                self._leave_line(None)
            while failure is not None and self._in_line:
                self._line_failed = True
                self._leave_line(failure)

    def _leave_line(self, failure: OSError | None) -> None:
        round_ = self._in_line.popleft()
        self._requests_in_line -= len(round_.descriptors)
        round_.give_back(failure)
        self._answered.append((round_, failure))

    def _tell(self) -> None:
        try:
            while self._answered:
                round_, failure = self._answered.popleft()
                round_.finish(failure)
        finally:
            if self._answered:  # a mistake of one who was told
                self._loop.call_soon(self._tell)
            self._rest()

    def _settle(self) -> None:
        """The loop's own thread waits here for what is in line; other threads have the loop for that."""
        if get_ident() != self._loop_thread:
            return
        while self._in_line and self._line is not None:
            self._line.wait()
            self._take_replies()
        self._loop.call_soon(self._tell)

    # -- in a thread of Python -------------------------------------------------------------------

    def _run(self, round_: Round) -> OSError | None:
        begun = perf_counter()
        error = round_.run()
        self.durations.add(perf_counter() - begun)
        return error

    def _broken_off(self, round_: Round, error: Exception) -> None:
        """Nobody knows what is on disk, as after a sync that has failed, and no second one would tell."""
        report("a sync", error, "after the next start, which recovers the directory", directory=self._name)
        self._close_round(round_, OSError(errno.EIO, f"a mistake in Trivium: {error!r}"))

    def _finish(self, errand: Errand, round_: Round, error: OSError | None) -> None:
        errand.end()
        self._close_round(round_, error)

    def _close_round(self, round_: Round, error: OSError | None) -> None:
        self._running = False
        try:
            self._commit.finish(round_, error)
        finally:
            self._begin()
            self._rest()

    # -- coming to rest --------------------------------------------------------------------------

    @property
    def _is_busy(self) -> bool:
        return self._running or bool(self._in_line) or bool(self._answered)

    def _rest(self) -> None:
        if not self._is_busy:
            idle, self._idle = self._idle, []
            for call in idle:
                call()

    async def drain(self) -> None:
        """Until nothing is being synced: no sync of anybody else may run beside a round."""
        while self._is_busy or self._scheduled:
            done = self._loop.create_future()
            if self._is_busy:
                self._idle.append(lambda done=done: done.set_result(None))  # type: ignore[misc]
            else:
                self._loop.call_soon(done.set_result, None)
            await done

    def close(self) -> None:
        self._worker.close()
        if self._line is not None:
            self._loop.remove_reader(self._line.replies)
            self._line.close()
