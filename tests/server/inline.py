"""Threads that are none: jobs and syncs happen at once, so that a test on a fake disk has one history."""

from collections.abc import Callable
from typing import Any, cast

from trivium.core.behalf import on_behalf
from trivium.core.ports import Clock
from trivium.core.timers import Timers
from trivium.log.directory import LogDirectory
from trivium.log.faults import LogError
from trivium.log.partition_log import PartitionLog
from trivium.server.committer import Committer
from trivium.server.housekeeping import Housekeeping
from trivium.server.stored_log import StoredLog
from trivium.server.worker import Worker


class InlineWorker:
    """Runs a job where it is ordered. ``hold`` keeps jobs back until ``release``."""

    def __init__(self) -> None:
        self.holds = False
        self._held: list[Callable[[], None]] = []

    @property
    def as_worker(self) -> Worker:
        return cast(Worker, self)

    def run(self, job: Callable[[], Any], then: Callable[[Any], None]) -> None:
        if self.holds:
            self._held.append(on_behalf(lambda: then(job())))
        else:
            then(job())

    def step(self) -> None:
        """Run the next of those held back, if there is one; what it orders is held back, too."""
        if self._held:
            self._held.pop(0)()

    def release(self) -> None:
        """Run what was held back, job by job."""
        self.holds = False
        while self._held:
            self._held.pop(0)()


class InlineCommitter:
    """Syncs at once. ``holds`` keeps syncs back until ``release``."""

    def __init__(self) -> None:
        self.holds = False
        self._held: list[tuple[PartitionLog, Callable[[LogError | None], None]]] = []

    @property
    def as_committer(self) -> Committer:
        return cast(Committer, self)

    def wait_for(self, log: PartitionLog, waiter: Callable[[LogError | None], None]) -> None:
        if self.holds:
            self._held.append((log, waiter))
            return
        try:
            log.sync()
        except LogError as error:
            waiter(error)
        else:
            waiter(None)

    def release(self) -> None:
        self.holds = False
        held, self._held = self._held, []
        for log, waiter in held:
            self.wait_for(log, waiter)


def stored_log(
    log: PartitionLog, home: LogDirectory, clock: Clock, worker: InlineWorker, committer: InlineCommitter
) -> StoredLog:
    """A log as a node would have it, without threads."""
    timers = Timers(clock)
    housekeeping = Housekeeping(worker.as_worker, timers)
    return StoredLog(log, home, committer.as_committer, housekeeping, worker.as_worker, clock, timers)
