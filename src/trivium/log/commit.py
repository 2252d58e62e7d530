"""Group commit: many appends, one sync, then all their acks.

The rounds overlap as far as correctness lets them: while one sync runs (in a thread of the caller),
appends go on and wait for the next round. Nothing here knows threads; the caller does::

    round = commit.begin()              on the loop
    error = round.run()                 anywhere
    commit.finish(round, error)         on the loop: calls every waiter back

Where files only grew, their descriptors are all that it takes, and any number of rounds may be under way::

    round = commit.lend(...)            on the loop
    ...                                 somebody syncs ``round.descriptors``, one round after the other
    round.give_back(error)              on the loop: others may sync these logs
    round.finish(error)                 on the loop: calls every waiter back

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

    __slots__ = ("_lent", "_syncs", "_waiters", "descriptors")

    def __init__(self, syncs: list[tuple[PartitionLog, PendingSync]], waiters: list[Waiter]) -> None:
        self._syncs = syncs
        self._waiters = waiters
        self._lent: list[PartitionLog] = []
        self.descriptors: list[int] = []
        """To be synced, of a round that was lent."""

    def lend(self, logs: list[PartitionLog]) -> None:
        self._lent = logs
        self.descriptors = [pending.descriptor for _log, pending in self._syncs]

    def give_back(self, error: OSError | None) -> None:
        """What was lent has been synced, or never will be."""
        for log in self._lent:
            log.sync_turn.give_back(error)

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
        _tell(self._waiters, failure)


def _tell(waiters: list[Waiter], failure: LogError | None) -> None:
    """All of them: what one raises is raised when everybody has been told."""
    mistakes: list[Exception] = []
    for waiter in waiters:
        try:
            waiter(failure)
        except Exception as mistake:  # noqa: BLE001  (raised below)
            mistakes.append(mistake)
    if mistakes:
        raise mistakes[0] if len(mistakes) == 1 else ExceptionGroup("several who were told", mistakes)


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
        if self._running:
            return None
        round_ = self._collect()
        self._running = round_ is not None
        return round_

    def lend(self, descriptors_max: int, settle: Callable[[], None]) -> Round | None:
        """A round for somebody who syncs descriptors; it may run beside others. None if nobody waits, or
        somebody for more than that: then ``begin``. For ``settle`` see ``SyncTurn.lend``.
        """
        if len(self._dirty) > descriptors_max:
            return None
        lent: list[PartitionLog] = []
        for log in self._dirty:
            if not log.lend_sync(settle):
                break
            lent.append(log)
        if lent and len(lent) == len(self._dirty) and (round_ := self._collect()) is not None:
            round_.lend(lent)
            return round_
        for log in lent:
            log.sync_turn.give_back(None)
        return None

    def _collect(self) -> Round | None:
        """A round of all who wait; None if there is nobody, or it cannot be and they were told why."""
        if not self._waiters:
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
            _tell(waiters, fault)
            return None
        return Round(syncs, waiters)

    def finish(self, round_: Round, error: OSError | None) -> None:
        self._running = False
        round_.finish(error)
