"""Group commit: many appends, one sync, then all their acks.

The rounds overlap as far as correctness lets them: while one sync runs (in a thread of the caller),
appends go on and wait for the next round. Nothing here knows threads; the caller does::

    round = commit.begin()              on the loop
    error = round.run()                 anywhere
    commit.finish(round, error)         on the loop: calls every waiter back

One ``GroupCommit`` serves one log directory, because a failed sync is final for just that.
"""

from collections.abc import Callable

from trivium.log.faults import LogError
from trivium.log.partition_log import PartitionLog
from trivium.log.sync import PendingSync

Waiter = Callable[[LogError | None], None]
"""Told once: None when the records are durable, else why they never will be."""


class Round:
    """One sync of everything that waits."""

    __slots__ = ("_syncs", "_waiters")

    def __init__(self, syncs: list[tuple[PartitionLog, PendingSync]], waiters: list[Waiter]) -> None:
        self._syncs = syncs
        self._waiters = waiters

    def run(self) -> OSError | None:
        """Blocks. Stops at the first error: nothing after it may be acknowledged anyway."""
        try:
            for _log, pending in self._syncs:
                pending.run()
        except OSError as error:
            return error
        return None

    def finish(self, error: OSError | None) -> None:
        failure: LogError | None = None
        for log, pending in self._syncs:
            try:
                log.finish_sync(pending, error)
            except LogError as fault:
                failure = fault
        for waiter in self._waiters:
            waiter(failure)


class GroupCommit:
    """Collects logs to be synced and those who wait for it."""

    __slots__ = ("_dirty", "_running", "_waiters")

    def __init__(self) -> None:
        self._dirty: dict[PartitionLog, None] = {}
        self._waiters: list[Waiter] = []
        self._running = False

    def wait_for(self, log: PartitionLog, waiter: Waiter) -> None:
        """Call ``waiter`` when everything that ``log`` holds now is durable."""
        self._dirty[log] = None
        self._waiters.append(waiter)

    def begin(self) -> Round | None:
        """The next round, or None while one is running or nobody waits."""
        if self._running or not self._waiters:
            return None
        dirty, self._dirty = self._dirty, {}
        waiters, self._waiters = self._waiters, []
        syncs: list[tuple[PartitionLog, PendingSync]] = []
        try:
            for log in dirty:
                if (pending := log.begin_sync()) is not None:
                    syncs.append((log, pending))
        except LogError as fault:
            for _log, pending in syncs:
                pending.release(durable=False)
            for waiter in waiters:
                waiter(fault)
            return None
        self._running = True
        return Round(syncs, waiters)

    def finish(self, round_: Round, error: OSError | None) -> None:
        self._running = False
        round_.finish(error)
