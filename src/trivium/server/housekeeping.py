"""Slow work on directories that the loop orders and does not wait for: checkpoints, changes that are durable
step by step, removing what is deleted, which waits for ``file.delete.delay.ms`` as in Kafka.

One checkpoint of a directory is written at a time. Whoever asks for one meanwhile shares the next: what
counts is that it was gathered after the question.
"""

from collections.abc import Callable, Sequence
from functools import partial

from trivium.core.behalf import on_behalf
from trivium.core.timers import Timers
from trivium.log.checkpoints import PendingCheckpoints
from trivium.log.directory import LogDirectory
from trivium.log.faults import LogError
from trivium.log.partition_log import PartitionLog
from trivium.log.shortening import remove_dropped
from trivium.log.staged import Staged, outcome
from trivium.server.event_log import events
from trivium.server.worker import Worker

Written = Callable[[LogError | None], None]
"""Told once: None when it is on disk for good, else why it is not."""


class Housekeeping:
    def __init__(self, worker: Worker, timers: Timers) -> None:
        self._worker = worker
        self._timers = timers
        self._waiting: dict[LogDirectory, list[Written]] = {}
        self._writing: set[LogDirectory] = set()

    def write_checkpoints(self, home: LogDirectory, written: Written) -> None:
        """Write down what is durable in a directory now."""
        self._waiting.setdefault(home, []).append(on_behalf(written))
        if home not in self._writing:
            self._begin(home)

    def _begin(self, home: LogDirectory) -> None:
        waiting = self._waiting.pop(home, [])
        if not waiting:
            return
        try:
            pending = home.begin_checkpoints()
        except LogError as error:
            for written in waiting:
                written(error)
            return
        self._writing.add(home)
        self._worker.run(
            partial(outcome, pending.run), lambda error: self._finish(home, pending, waiting, error)
        )

    def _finish(
        self, home: LogDirectory, pending: PendingCheckpoints, waiting: list[Written], error: OSError | None
    ) -> None:
        self._writing.remove(home)
        failure: LogError | None = None
        try:
            home.finish_checkpoints(pending, error)
        except LogError as fault:
            failure = fault
            events.seldom("checkpoint not written", home.path, path=home.path, reason=str(fault))
        for written in waiting:
            written(failure)
        self._begin(home)

    def carry_out(self, staged: Staged[None], done: Written, error: OSError | None = None) -> None:
        """Take the steps of a change here, and wait for each of them in a thread."""
        try:
            wait = next(staged) if error is None else staged.throw(error)
        except StopIteration:
            done(None)
        except LogError as fault:
            done(fault)
        else:
            self._worker.run(partial(outcome, wait), partial(self.carry_out, staged, done))

    def remove(self, home: LogDirectory, doomed: str, delay_ms: int) -> None:
        """Remove the files of a deleted partition."""
        self._later(delay_ms, partial(_remove, home, doomed))

    def remove_segments(self, log: PartitionLog, base_offsets: Sequence[int]) -> None:
        """Remove the files of segments that the log has dropped or replaced."""
        self._later(log.settings.file_delete_delay_ms, partial(_remove_segments, log, base_offsets))

    def _later(self, delay_ms: int, job: Callable[[], None]) -> None:
        """Not at all, if the node stops before: the next start finds what is left, and removes it."""
        run = partial(self._worker.run, job, lambda _none: None)
        if delay_ms > 0:
            self._timers.after(delay_ms, run)
        else:
            run()


def _remove(home: LogDirectory, doomed: str) -> None:
    try:
        home.remove_doomed(doomed)
    except LogError as error:
        # The next start finishes it.
        events.warning("deletion not finished", path=home.path, name=doomed, reason=str(error))


def _remove_segments(log: PartitionLog, base_offsets: Sequence[int]) -> None:
    try:
        for base_offset in base_offsets:
            remove_dropped(log, base_offset)
    except LogError as error:
        events.warning("deletion not finished", path=log.directory, reason=str(error))
