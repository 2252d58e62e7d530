"""Carrying partitions from one log directory to another (AlterReplicaLogDirs) while they are at work.

::

    copy        into ``topic-0.<id>-future`` of the other directory, in a thread, segment by segment
    catch up    what was written meanwhile, in a thread, until little is missing
    switch      on the loop, in one go: the rest, the copy gets the live name and is at work from now on
    leave       once the copy has been synced, in a thread, the old one is deleted

A crash before the switch leaves a ``-future`` directory, which the next start removes. A crash after it may
leave both under the live name; the one with more records has all that anybody was promised, and the next
start sets the other aside (``log.store``).
"""

from collections.abc import Callable
from functools import partial
from uuid import uuid4

from trivium.core.behalf import on_behalf, tell_all
from trivium.core.ports import Clock, FutureFacts
from trivium.log.checkpoint import TopicPartition
from trivium.log.directory import LogDirectory
from trivium.log.faults import LogError
from trivium.log.files import Files
from trivium.log.future import FutureLog, Stretch
from trivium.log.partition_log import PartitionLog
from trivium.log.store import LogStore
from trivium.server.errand import Errand, report
from trivium.server.event_log import events
from trivium.server.housekeeping import Housekeeping
from trivium.server.worker import Worker

SWITCH_BYTES_MAX = 1 << 20
"""If no more than that is missing, the rest is copied on the loop, from page cache to page cache."""

Moved = Callable[[PartitionLog | None, LogError | None], None]
"""Told once: the log in its new place, or why it stays where it is."""


class Moving:
    """The moves under way, one at most for each partition."""

    def __init__(self, files: Files, worker: Worker, housekeeping: Housekeeping, clock: Clock) -> None:
        self._files = files
        self._worker = worker
        self._housekeeping = housekeeping
        self._clock = clock
        self._moves: dict[TopicPartition, _Move] = {}
        self._held: set[TopicPartition] = set()

    def begin(self, key: TopicPartition, source: LogDirectory, target: LogDirectory, moved: Moved) -> None:
        """Carry a partition; a move of the same partition that is under way is given up."""
        moved = on_behalf(moved)
        running = self._moves.get(key)
        if running is not None and running.is_switched and source is not target:
            running.then = lambda: self.begin(key, source, target, moved)
            return
        if running is not None and not running.is_switched and running.target is target:
            running.waiting.append(moved)
            return
        if source is target:
            if running is not None and not running.is_switched:
                self.forget(key)
            moved(source.logs[key], None)
            return
        self.forget(key)
        move = _Move(self._files, key, source, target)
        move.errand = Errand(partial(self._broken_off, move))
        move.waiting.append(moved)
        self._moves[key] = move
        if key not in self._held:
            move.errand.go(self._copy, move)

    def hold(self, key: TopicPartition) -> None:
        """Segments of this partition are being exchanged: a move of it begins when they have been."""
        self._held.add(key)

    def go_on(self, key: TopicPartition) -> None:
        self._held.discard(key)
        move = self._moves.get(key)
        if move is not None:
            move.errand.go(self._copy, move)

    def sweep(self, store: LogStore) -> None:
        """At the start: remove copies that a stop left unfinished. The original is where it always was."""
        for directory in store.directories:
            for key, name in directory.unfinished_copies():
                if store.get(*key) is None:
                    continue
                self._worker.run(lambda d=directory, n=name: _swept(d, n), lambda _none: None)  # type: ignore[misc]

    def is_moving(self, key: TopicPartition) -> bool:
        """Then its old segments must stay as they are: compaction waits."""
        return key in self._moves

    def forget(self, key: TopicPartition) -> None:
        """The partition is deleted, or goes elsewhere."""
        move = self._moves.pop(key, None)
        if move is not None:
            move.is_cancelled = True
            if move.is_switched:
                self._leave(move)

    def arriving_in(self, directory: LogDirectory) -> dict[TopicPartition, FutureFacts]:
        return {
            key: FutureFacts(move.future.size_bytes, move.lag)
            for key, move in self._moves.items()
            if move.target is directory and not move.is_switched
        }

    def _copy(self, move: "_Move") -> None:
        try:
            stretch = move.future.next_stretch()
        except LogError as error:
            self._end(move, None, error)
            return
        reading = Errand()
        reading.hold(stretch.release)
        now_ms = self._clock.wall_ms()
        reading.go(
            self._worker.run,
            lambda: _copied(move.future, stretch, now_ms),
            lambda error: self._copied(move, reading, error),
        )

    def _copied(self, move: "_Move", reading: Errand, error: LogError | None) -> None:
        reading.end()
        if move.is_cancelled or error is not None:
            self._give_up(move, error)
        elif move.future.missing_bytes > SWITCH_BYTES_MAX:
            self._copy_on(move)
        elif move.target.checkpoints_name(move.key):
            # It was there before. What the checkpoints say of that must be gone first.
            self._housekeeping.write_checkpoints(
                move.target,
                lambda fault: self._copy_on(move) if fault is None else self._give_up(move, fault),
            )
        else:
            self._switch(move)

    def _copy_on(self, move: "_Move") -> None:
        """On behalf of the move, and not of its last stretch, which is over: stretches may be many."""
        move.errand.go(self._copy, move)

    def _switch(self, move: "_Move") -> None:
        try:
            log = move.future.switch(self._clock.wall_ms())
        except LogError as error:
            self._give_up(move, error)
            return
        move.is_switched = True
        events.info("partition moved", partition=log.name, source=move.source.path, target=move.target.path)
        waiting, move.waiting = move.waiting, []
        tell_all(waiting, log, None)
        self._housekeeping.carry_out(log.syncing(), lambda error: self._synced(move, log, error))

    def _synced(self, move: "_Move", log: PartitionLog, error: LogError | None) -> None:
        """If the copy is not durable the original stays, whoever needs it: the next start looks at both."""
        if error is None:
            self._leave(move)
        self._end(move, log, error)

    def _leave(self, move: "_Move") -> None:
        """Delete the original, unless that has been done."""
        if move.source.logs.get(move.key) is not move.original:
            return
        try:
            doomed = move.source.doom(*move.key, uuid4())
        except LogError as error:
            events.warning("deletion not finished", partition=move.name, reason=str(error))
        else:
            self._housekeeping.remove(move.source, doomed, move.original.settings.file_delete_delay_ms)

    def _give_up(self, move: "_Move", error: LogError | None) -> None:
        self._worker.run(lambda: _discarded(move.future), lambda _none: self._end(move, None, error))

    def _broken_off(self, move: "_Move", error: Exception) -> None:
        """What it leaves behind, copy or original, the next start looks through."""
        report("moving a partition", error, "when it is asked for", partition=move.name)
        self._end(move, None, MoveBrokenOff(move.name))

    def _end(self, move: "_Move", log: PartitionLog | None, error: LogError | None) -> None:
        move.errand.end()
        if self._moves.get(move.key) is move:
            del self._moves[move.key]
        if error is not None:
            events.warning(
                "partition not moved", partition=move.name, target=move.target.path, reason=str(error)
            )
        if not move.is_cancelled:
            tell_all(move.waiting, log, error)
            move.then()


class MoveBrokenOff(LogError):
    def __init__(self, partition: str) -> None:
        super().__init__(f"moving {partition} was broken off by a mistake in Trivium, which its log tells of")


class _Move:
    def __init__(self, files: Files, key: TopicPartition, source: LogDirectory, target: LogDirectory) -> None:
        self.key = key
        self.name = f"{key[0]}-{key[1]}"
        self.source = source
        self.target = target
        self.original = source.logs[key]
        self.future = FutureLog(files, self.original, target, key, source.topic_ids[key], uuid4())
        self.waiting: list[Moved] = []
        self.errand: Errand
        self.is_switched = False
        self.is_cancelled = False
        self.then: Callable[[], None] = lambda: None
        """What was asked for since the switch."""

    @property
    def lag(self) -> int:
        return max(0, self.original.log_end_offset - self.future.offset_end)


def _copied(future: FutureLog, stretch: Stretch, now_ms: int) -> LogError | None:
    try:
        future.copy(stretch, now_ms)
    except LogError as error:
        return error
    return None


def _swept(directory: LogDirectory, name: str) -> None:
    try:
        directory.discard_future(name)
        events.info("unfinished copy removed", path=directory.path, name=name)
    except LogError as error:
        events.warning("copy not removed", reason=str(error))


def _discarded(future: FutureLog) -> None:
    try:
        future.discard()
    except LogError as error:
        # The next start removes it.
        events.warning("copy not removed", reason=str(error))
