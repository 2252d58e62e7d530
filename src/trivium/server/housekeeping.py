"""Slow work on directories that the loop orders and does not wait for: checkpoints, changes that are durable
step by step, removing what is deleted, which waits for ``file.delete.delay.ms`` as in Kafka.

One checkpoint of a directory is written at a time. Whoever asks for one meanwhile shares the next: what
counts is that it was gathered after the question.
"""

from collections.abc import Callable, Sequence
from functools import partial

from trivium.core.behalf import act_for, on_behalf, tell_all
from trivium.core.timers import Timers
from trivium.log.checkpoints import PendingCheckpoints
from trivium.log.directory import LogDirectory
from trivium.log.faults import LogError
from trivium.log.partition_log import PartitionLog
from trivium.log.shortening import remove_dropped
from trivium.log.staged import Staged, Wait, outcome
from trivium.server.event_log import events
from trivium.server.worker import Worker

Written = Callable[[LogError | None], None]
"""Told once: None when it is on disk for good, else why it is not."""

_Verdict = Callable[[Exception | None], None]
"""Told the same, or which mistake of ours has kept it from being known."""


class Housekeeping:
    def __init__(self, worker: Worker, timers: Timers) -> None:
        self._worker = worker
        self._timers = timers
        self._waiting: dict[LogDirectory, list[_Verdict]] = {}
        self._writing: set[LogDirectory] = set()

    def write_checkpoints(self, home: LogDirectory, written: Written) -> None:
        """Write down what is durable in a directory now."""
        self._waiting.setdefault(home, []).append(on_behalf(partial(_judge, written)))
        if home not in self._writing:
            self._begin(home)

    def _begin(self, home: LogDirectory) -> None:
        waiting = self._waiting.pop(home, [])
        if not waiting:
            return
        try:
            pending = home.begin_checkpoints()
        except Exception as error:  # noqa: BLE001  (a mistake is raised by ``_judge``)
            tell_all(waiting, error)
            return
        self._writing.add(home)
        # For all who wait, and not for whoever has asked first, or for the one before.
        act_for(
            None,
            self._worker.run,
            partial(_outcome_or_mistake, pending.run),
            lambda found: self._finish(home, pending, waiting, found),
        )

    def _finish(
        self,
        home: LogDirectory,
        pending: PendingCheckpoints,
        waiting: list[_Verdict],
        found: Exception | None,
    ) -> None:
        self._writing.remove(home)
        try:
            tell_all(waiting, self._verdict(home, pending, found))
        finally:
            self._begin(home)

    def _verdict(
        self, home: LogDirectory, pending: PendingCheckpoints, found: Exception | None
    ) -> Exception | None:
        if found is not None and not isinstance(found, OSError):
            return found
        try:
            home.finish_checkpoints(pending, found)
        except LogError as fault:
            events.seldom("checkpoint not written", home.path, path=home.path, reason=str(fault))
            return fault
        return None

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


def _judge(written: Written, verdict: Exception | None) -> None:
    if verdict is not None and not isinstance(verdict, LogError):
        raise verdict
    written(verdict)


def _outcome_or_mistake(wait: Wait) -> Exception | None:
    """In the thread. A mistake is an outcome, too: everybody who waits for this one has to hear of it."""
    try:
        return outcome(wait)
    except Exception as mistake:  # noqa: BLE001  (raised by ``_judge``)
        return mistake


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
