"""Making a log durable: what one sync has to do, and that no two of them do it side by side.

A group commit syncs in a thread. A checkpoint, a truncation or a stop may want the same log durable
meanwhile, from the thread that appends. The operating system reports pages that it could not write to one
caller only: the other of two that overlap, or one that comes later, would be told that all is well. So syncs
of a log take turns, and after one that failed there is no other (R4).
"""

import errno
from collections import deque
from collections.abc import Callable
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING

from trivium.log.files import Files
from trivium.log.names import offset_file
from trivium.log.segment import Segment

if TYPE_CHECKING:
    from trivium.log.partition_log import PartitionLog


class SyncTurn:
    """Around every sync of one log. Waits for the one before; if that one failed, so does this."""

    __slots__ = ("_failure", "_lent", "_lock", "_settle", "_waiting")

    def __init__(self) -> None:
        self._lock = Lock()
        self._failure: OSError | None = None
        self._lent = 0
        self._settle: Callable[[], None] | None = None
        self._waiting: deque[None] = deque()
        """One for each thread that waits: a number that they can change side by side."""

    def lend(self, settle: Callable[[], None]) -> bool:
        """Give the turn to somebody who syncs the log's file where Python does not see it, one sync after the
        other; each is given back. False if the turn is another's or others wait for it.

        The thread that lends it gives it back, too. If it is the one to wait for it, it would wait for
        ever: ``settle`` then waits for the syncs that are under way and gives back what they had.
        """
        if self._failure is not None or self._waiting:
            return False
        if not self._lent and not self._lock.acquire(blocking=False):
            return False
        self._lent += 1
        self._settle = settle
        return True

    def give_back(self, error: OSError | None) -> None:
        if error is not None:
            self._failure = error
        self._lent -= 1
        if not self._lent:
            self._lock.release()

    def __enter__(self) -> None:
        self._waiting.append(None)
        try:
            if self._lent and self._settle is not None:
                self._settle()
            self._lock.acquire()
        finally:
            self._waiting.pop()
        if self._failure is not None:
            self._lock.release()
            # Whatever it was: a sync that failed for want of room is no less final.
            raise OSError(errno.EIO, f"an earlier sync failed: {self._failure.strerror}")

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if isinstance(error, OSError):
            self._failure = error
        self._lock.release()


class PendingSync:
    """What one sync has to make durable. ``run`` touches files and nothing else of the log."""

    __slots__ = (
        "_active",
        "_files",
        "_log",
        "_names_too",
        "birth",
        "epochs",
        "names",
        "offset_end",
        "sealed",
        "truncations",
    )

    def __init__(self, files: Files, log: "PartitionLog", sealed: list[Segment], *, names_too: bool) -> None:
        self._files = files
        self._log = log
        self._active = log.active
        self._names_too = names_too
        self.birth = log.birth
        self.epochs = log.epochs.unwritten
        self.sealed = sealed
        self.offset_end = log.log_end_offset
        self.names = log.names_changed
        self.truncations = log.truncations
        for segment in (*sealed, self._active):
            segment.pin()

    @property
    def descriptor(self) -> int:
        """Of the file that has grown; of a log that could be lent."""
        descriptor = self._active.file.descriptor
        assert descriptor is not None
        return descriptor

    def run(self) -> None:
        """Blocks until everything up to ``offset_end`` is durable; ``OSError`` if it never will be."""
        with self._log.sync_turn:
            try:
                self._sync()
            except FileNotFoundError:
                # The partition was deleted in the meantime; there is nothing left to be made durable.
                if not self._log.is_abandoned:
                    raise

    def _sync(self) -> None:
        """Older segments first: what a reader finds after a crash has no hole before it."""
        for segment in self.sealed:
            segment.sync()
            segment.sync_indexes()
            self._sync_snapshot(segment)
        self._active.sync()
        if self.epochs is not None and not self._log.is_abandoned:
            self._log.epochs.write(self.epochs)
        if self._names_too:
            self._files.sync_directory(self._log.directory)
        if self.birth is not None:
            self.birth()

    def _sync_snapshot(self, segment: Segment) -> None:
        """The producers as of the segment's end, written when it was sealed; retention relies on it."""
        if segment.offset_limit is None:
            return
        try:
            file = self._files.open(f"{self._log.directory}/{offset_file(segment.offset_limit, '.snapshot')}")
        except FileNotFoundError:
            # A recovered segment has none, and the one of a dropped segment is gone.
            return
        try:
            file.sync()
        finally:
            file.close()

    def release(self, *, durable: bool) -> None:
        """Let go of the segments. Indexes of those that are sealed and durable need no memory now."""
        for segment in (*self.sealed, self._active):
            segment.unpin()
        if durable:
            for segment in self.sealed:
                segment.forget_indexes()
