"""Whether a log directory may still be trusted. One failure is final (promise R4).

After a failed sync the kernel may have dropped the pages it could not write and call the next sync
a success, so nothing short of reading the disk again tells what is there. Hence the rule: the first
error other than a full disk takes the whole directory offline; the next start recovers it.
"""

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from trivium.log.faults import DirectoryOffline, DiskFull, LogError

_FULL = (errno.ENOSPC, errno.EDQUOT)


class Health:
    """Shared by a log directory and every log in it."""

    __slots__ = ("directory", "reason", "when_failed")

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.reason: str | None = None
        self.when_failed: Callable[[], None] = lambda: None
        """Called once, in whatever thread it was that failed."""

    def check(self) -> None:
        if self.reason is not None:
            raise DirectoryOffline(self.directory, self.reason)

    def fail(self, error: OSError, doing: str) -> DirectoryOffline:
        """Take the directory offline; the first reason stays."""
        if self.reason is None:
            self.reason = f"{doing} failed ({error.strerror or error})"
            self.when_failed()
        return DirectoryOffline(self.directory, self.reason)

    @contextmanager
    def guard(self, doing: str) -> Iterator[None]:
        """Run something that touches the disk. A full disk is survivable, all else is final."""
        self.check()
        try:
            yield
        except OSError as error:
            raise self.judge(error, doing) from error

    def judge(self, error: OSError, doing: str) -> LogError:
        """What an error of the operating system means; ``guard`` spelled out, for the hot path."""
        if error.errno in _FULL:
            return DiskFull(self.directory)
        return self.fail(error, doing)
