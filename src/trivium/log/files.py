"""The only module that touches the operating system, behind a port that a fake disk also implements. (A
descriptor that it lends is synced elsewhere, too: ``records.kernel.sync_line``.)

The port is what a log needs and no more: flat files read and written at positions, names that are
created, renamed and removed, and the two syncs that make either durable. Rules that every
implementation keeps, and every caller relies on:

- ``write`` takes all bytes or raises; after an error an unknown prefix may be in the file.
- ``sync`` makes the file's content and size durable; ``sync_directory`` makes the names in a
  directory durable (creates, renames, removes). Nothing else is durable, ever.
- A ``sync`` that failed is final: the kernel may have dropped the pages, a second one proves nothing.
- Errors are ``OSError``; nobody below catches them.

Paths are ``str``: a log directory holds thousands of names and this is on the way of each.
"""

import errno
import fcntl
import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import ClassVar, NamedTuple, Protocol, cast

from trivium.wire.buffer import Buffer


class File(Protocol):
    """One open file. Positions are explicit; there is no cursor to share."""

    path: str

    @property
    def descriptor(self) -> int | None:
        """By which others may sync it; None if ``sync`` is the only way."""

    def size(self) -> int: ...

    def read(self, size_bytes: int, position: int) -> bytes:
        """Up to that many bytes: fewer only where the file ends."""

    def is_near(self, size_bytes: int, position: int) -> bool:
        """Whether a read there finds its bytes in memory, as far as samples tell. Any thread may read."""

    def write(self, data: Buffer, position: int) -> None: ...

    def reserve(self, size_bytes: int) -> None:
        """The file is about to grow to so much. Room that the system can set aside has no part in the file's
        size, and is given back by ``truncate``; no room is no error.
        """

    def truncate(self, size_bytes: int) -> None: ...

    def sync(self) -> None: ...

    def close(self) -> None: ...


class Space(NamedTuple):
    """How much a file system holds, and how much of it is left for us."""

    total_bytes: int
    usable_bytes: int


class Lock(Protocol):
    """A directory held by this process."""

    def release(self) -> None: ...


class Files(Protocol):
    """What the log asks of an operating system."""

    def open(self, path: str, *, create: bool = False) -> File:
        """Open for reading and writing. ``create``: make it if it is not there; otherwise it must be."""

    def open_to_read(self, path: str) -> File:
        """Open an existing file that need not be writable; the writing methods then fail."""

    def exists(self, path: str) -> bool: ...

    def size(self, path: str) -> int: ...

    def list(self, path: str) -> Sequence[str]:
        """The names in a directory, sorted."""

    def is_directory(self, path: str) -> bool: ...

    def make_directory(self, path: str) -> None:
        """Make one directory; it is no error if it is there."""

    def rename(self, old: str, new: str) -> None:
        """Replace ``new`` by ``old`` in one step."""

    def remove(self, path: str) -> None: ...

    def remove_directory(self, path: str) -> None: ...

    def sync_directory(self, path: str) -> None: ...

    def space(self, path: str) -> "Space":
        """Of the file system that the path lies in."""

    def lock(self, path: str) -> Lock | None:
        """Hold the lock file for this process until released or dead; None if another holds it."""


SAMPLE_EVERY_BYTES = 256 << 10
"""One byte of so many shows whether they are in memory: the system brings in and drops whole stretches."""
_WITHOUT_WAITING = getattr(os, "RWF_NOWAIT", None)
_KEEP_SIZE = 1
"""FALLOC_FL_KEEP_SIZE: what is set aside lies behind the end of the file."""


@cache
def _allocating() -> Callable[[int, int, int, int], int] | None:
    """Linux' fallocate, which Python has only in a form that makes files longer; None where there is none."""
    import ctypes  # Here, because most starts never come to need it.

    try:
        allocate = ctypes.CDLL(None).fallocate64
    except (AttributeError, OSError):
        return None
    allocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    return cast(Callable[[int, int, int, int], int], allocate)


class RealFile:
    """A file descriptor."""

    __slots__ = ("_fd", "path")

    def __init__(self, path: str, fd: int) -> None:
        self.path = path
        self._fd = fd

    @property
    def descriptor(self) -> int | None:
        return self._fd

    def size(self) -> int:
        return os.fstat(self._fd).st_size

    def read(self, size_bytes: int, position: int) -> bytes:
        data = os.pread(self._fd, size_bytes, position)
        if len(data) == size_bytes or not data:
            return data
        return self._read_on(data, size_bytes, position)

    def _read_on(self, data: bytes, size_bytes: int, position: int) -> bytes:
        # A single read gives at most 2 GiB, and a signal may cut it short; neither is the file's end.
        parts, got = [data], len(data)
        while got < size_bytes and (data := os.pread(self._fd, size_bytes - got, position + got)):
            parts.append(data)
            got += len(data)
        return b"".join(parts)

    def is_near(self, size_bytes: int, position: int) -> bool:
        if _WITHOUT_WAITING is None:
            return True
        end, sample = position + size_bytes, [bytearray(1)]
        try:
            for at in (*range(position, end, SAMPLE_EVERY_BYTES), end - 1):
                os.preadv(self._fd, sample, at, _WITHOUT_WAITING)
        except BlockingIOError:
            return False
        except OSError:
            # Not every file system can tell. Whether the file can be read at all, a read tells.
            return True
        return True

    def write(self, data: Buffer, position: int) -> None:
        written = os.pwrite(self._fd, data, position)
        while written < len(data):
            # A short write is how a nearly full disk begins; the next one says why.
            more = os.pwrite(self._fd, memoryview(data)[written:], position + written)
            if more == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
            written += more

    def reserve(self, size_bytes: int) -> None:
        allocate = _allocating()
        if allocate is not None and size_bytes > (end := self.size()):
            allocate(self._fd, _KEEP_SIZE, end, size_bytes - end)

    def truncate(self, size_bytes: int) -> None:
        os.ftruncate(self._fd, size_bytes)

    def sync(self) -> None:
        os.fdatasync(self._fd)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class RealLock:
    """A record lock. The operating system keeps other processes out, ``_held`` keeps us out."""

    __slots__ = ("_fd", "_path")

    _held: ClassVar[set[str]] = set()

    def __init__(self, path: str, fd: int) -> None:
        self._path = path
        self._fd = fd
        self._held.add(path)

    @classmethod
    def is_held(cls, path: str) -> bool:
        return path in cls._held

    def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._held.discard(self._path)
            self._fd = -1


class RealFiles:
    """The operating system itself."""

    def open(self, path: str, *, create: bool = False) -> RealFile:
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        return RealFile(path, os.open(path, flags, 0o644))

    def open_to_read(self, path: str) -> RealFile:
        return RealFile(path, os.open(path, os.O_RDONLY | os.O_CLOEXEC))

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def size(self, path: str) -> int:
        return os.stat(path).st_size

    def list(self, path: str) -> Sequence[str]:
        return sorted(os.listdir(path))

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(path)

    def make_directory(self, path: str) -> None:
        try:
            os.mkdir(path)
        except FileExistsError:
            if not os.path.isdir(path):
                raise

    def rename(self, old: str, new: str) -> None:
        os.replace(old, new)

    def remove(self, path: str) -> None:
        os.unlink(path)

    def remove_directory(self, path: str) -> None:
        os.rmdir(path)

    def sync_directory(self, path: str) -> None:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def space(self, path: str) -> Space:
        found = os.statvfs(path)
        return Space(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize)

    def lock(self, path: str) -> RealLock | None:
        path = os.path.realpath(path)
        if RealLock.is_held(path):
            return None
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            # Kafka locks this file through Java, which uses the same kind of record lock: a running
            # Kafka broker on the directory keeps us out, and the other way round.
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(fd)
            if error.errno in (errno.EACCES, errno.EAGAIN):
                return None
            raise
        return RealLock(path, fd)
