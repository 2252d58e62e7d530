"""A disk in memory that forgets what was not synced: the port of ``log.files`` for tests of crashes (R2-R7).

    disk = FakeDisk({"/data/meta.properties": b"..."})
    disk.stop_at(17)                          # the power goes before the 17th change
    with pytest.raises(PowerLoss):
        run(disk)
    recover(disk.crash(Random(seed)))

What may be lost is in ``disk_image``, what may fail in ``disk_faults``. Looking into the future leaves the
disk as it is: one point of a history can be crashed with many seeds. One seed gives one result.
"""

import copy
import errno
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from random import Random

from trivium.log.files import Space
from trivium.testing.disk_faults import Call, Faults, Interruption, Killed, PowerLoss
from trivium.testing.disk_image import DirectoryImage, FileImage, Node
from trivium.wire.buffer import Buffer

__all__ = ["FakeDisk", "FakeFile", "Killed", "PowerLoss"]

_ENDLESS_BYTES = 1 << 40
NAMES_KEPT_MAX = 4096
"""Paths that are kept in parts: one disk after the other has the same few hundred."""


class FakeFile:
    """An open file. Like a descriptor it keeps its file when the name goes."""

    def __init__(self, disk: "FakeDisk", path: str, image: FileImage, *, writable: bool) -> None:
        self.path = path
        self._disk = disk
        self._image: FileImage | None = image
        self._writable = writable

    @property
    def descriptor(self) -> int | None:
        return None

    def size(self) -> int:
        return len(self._opened().content)

    def read(self, size_bytes: int, position: int) -> bytes:
        image = self._opened()
        self._disk.call("read", self.path, position, size_bytes)
        return bytes(image.content[position : position + size_bytes])

    def is_near(self, size_bytes: int, position: int) -> bool:
        return True

    def write(self, data: Buffer, position: int) -> None:
        image, data = self._opened(to_write=True), bytes(data)
        interruption = self._disk.meet("write", self.path, position, len(data))
        if interruption is not None:
            image.write(data[: len(data) // 2 if interruption.halfway else 0], position)
            raise interruption.exception
        missing_bytes = self._disk.missing_bytes(position + len(data) - len(image.content))
        image.write(data[: len(data) - missing_bytes], position)
        if missing_bytes:
            raise _error(errno.ENOSPC, self.path)

    def reserve(self, size_bytes: int) -> None:
        """Room is counted when it is written to."""

    def truncate(self, size_bytes: int) -> None:
        image = self._opened(to_write=True)
        self._disk.call("truncate", self.path, 0, size_bytes)
        if self._disk.missing_bytes(size_bytes - len(image.content)):
            raise _error(errno.ENOSPC, self.path)
        image.truncate(size_bytes)

    def sync(self) -> None:
        image = self._opened()
        interruption = self._disk.meet("sync", self.path)
        if interruption is not None:
            if isinstance(interruption.exception, OSError):
                image.fail_to_sync()
            raise interruption.exception
        image.sync()

    def close(self) -> None:
        self._image = None

    def _opened(self, *, to_write: bool = False) -> FileImage:
        if self._image is None or (to_write and not self._writable):
            raise _error(errno.EBADF, self.path)
        return self._image


class FakeLock:
    """A lock that ends with the process, like a real one."""

    def __init__(self, held: set[str], path: str) -> None:
        self._held = held
        self._path = path

    def release(self) -> None:
        self._held.discard(self._path)


class FakeDisk:
    """One file system, and the process that uses it. ``content`` is there from the beginning, durably."""

    def __init__(self, content: Mapping[str, bytes] | None = None) -> None:
        self._root = DirectoryImage()
        self._locks: set[str] = set()
        self._capacity_bytes: int | None = None
        self.faults = Faults()
        for path, data in (content or {}).items():
            self._preload(path, data)

    # -- what tests do to it

    def crash(self, random: Random) -> "FakeDisk":
        """The disk as it may be found after the power went now."""
        return self._successor(self._root.after_power_loss(random))

    def kill(self) -> "FakeDisk":
        """The disk as the next process finds it. What was not synced still is not."""
        return self._successor(copy.deepcopy(self._root))

    def stop_at(self, nth: int, exception: type[BaseException] = PowerLoss, *, halfway: bool = False) -> None:
        """End everything before the ``nth`` change from now (1 is the next), or halfway through a write."""
        self.faults.end(nth, exception, halfway=halfway)

    def fail(self, kind: str, nth: int = 1, error: int = errno.EIO) -> None:
        """Let the ``nth`` call of that kind from now on fail: "sync", "write", "read", "rename", ..."""
        self.faults.fail(kind, nth, error)

    def fill(self, free_bytes: int | None = 0) -> None:
        """Leave room for so many bytes more; ``None``: as many as anybody wants."""
        self._capacity_bytes = None if free_bytes is None else self._used_bytes() + free_bytes

    def flip(self, path: str, position: int, bit: int) -> None:
        """Turn one bit of a file around, unseen."""
        self._file(path).flip(position, bit)

    def tree(self) -> dict[str, bytes]:
        """Every file with its content, as a process sees it."""
        return {path: bytes(image.content) for path, image in self._root.files()}

    # -- the port

    def open(self, path: str, *, create: bool = False) -> FakeFile:
        parent, name = self._parent(path)
        if name not in parent.entries and create:
            self.call("create", path)
            parent.link(name, FileImage())
        else:
            self.call("open", path)
        return FakeFile(self, path, self._file(path), writable=True)

    def open_to_read(self, path: str) -> FakeFile:
        self.call("open", path)
        return FakeFile(self, path, self._file(path), writable=False)

    def exists(self, path: str) -> bool:
        return self._find(path) is not None

    def size(self, path: str) -> int:
        return len(self._file(path).content)

    def list(self, path: str) -> Sequence[str]:
        self.call("list", path)
        return sorted(self._directory(path).entries)

    def is_directory(self, path: str) -> bool:
        return isinstance(self._find(path), DirectoryImage)

    def make_directory(self, path: str) -> None:
        parent, name = self._parent(path)
        node = parent.entries.get(name)
        if isinstance(node, FileImage):
            raise _error(errno.EEXIST, path)
        if node is None:
            self.call("make_directory", path)
            parent.link(name, DirectoryImage())

    def rename(self, old: str, new: str) -> None:
        parent, name = self._parent(old)
        target, new_name = self._parent(new)
        node, there = self._node(old), target.entries.get(new_name)
        if parent is not target:
            # Nothing in a log moves between directories; were it allowed, a crash could show it in both.
            raise _error(errno.EXDEV, old)
        if isinstance(there, DirectoryImage) and (isinstance(node, FileImage) or there.entries):
            raise _error(errno.ENOTEMPTY if isinstance(node, DirectoryImage) else errno.EISDIR, new)
        if isinstance(there, FileImage) and isinstance(node, DirectoryImage):
            raise _error(errno.ENOTDIR, new)
        self.call("rename", old)
        if name != new_name:
            parent.rename(name, new_name)

    def remove(self, path: str) -> None:
        self._file(path)
        self.call("remove", path)
        parent, name = self._parent(path)
        parent.unlink(name)

    def remove_directory(self, path: str) -> None:
        if self._directory(path).entries:
            raise _error(errno.ENOTEMPTY, path)
        self.call("remove_directory", path)
        parent, name = self._parent(path)
        parent.unlink(name)

    def sync_directory(self, path: str) -> None:
        directory = self._directory(path)
        interruption = self.meet("sync_directory", path)
        if interruption is not None:
            if isinstance(interruption.exception, OSError):
                directory.fail_to_sync()
            raise interruption.exception
        directory.sync()

    def space(self, path: str) -> Space:
        """Of the whole disk; one that was not filled is a terabyte."""
        used_bytes = self._used_bytes()
        total_bytes = _ENDLESS_BYTES if self._capacity_bytes is None else self._capacity_bytes
        return Space(total_bytes, max(0, total_bytes - used_bytes))

    def lock(self, path: str) -> FakeLock | None:
        if path in self._locks:
            return None
        self.open(path, create=True).close()
        self._locks.add(path)
        return FakeLock(self._locks, path)

    # -- what open files ask of it

    def meet(self, kind: str, path: str, position: int = 0, size_bytes: int = 0) -> Interruption | None:
        return self.faults.meet(Call(kind, path, position, size_bytes))

    def call(self, kind: str, path: str, position: int = 0, size_bytes: int = 0) -> None:
        interruption = self.meet(kind, path, position, size_bytes)
        if interruption is not None:
            raise interruption.exception

    def missing_bytes(self, growth_bytes: int) -> int:
        """How many of the bytes by which a file wants to grow find no room."""
        if self._capacity_bytes is None or growth_bytes <= 0:
            return 0
        free_bytes = max(0, self._capacity_bytes - self._used_bytes())
        return max(0, growth_bytes - free_bytes)

    # -- names

    def _used_bytes(self) -> int:
        return sum(len(image.content) for _, image in self._root.files())

    def _find(self, path: str) -> Node | None:
        node: Node | None = self._root
        for name in _parts(path):
            node = node.entries.get(name) if isinstance(node, DirectoryImage) else None
        return node

    def _node(self, path: str) -> Node:
        node = self._find(path)
        if node is None:
            raise _error(errno.ENOENT, path)
        return node

    def _file(self, path: str) -> FileImage:
        node = self._node(path)
        if isinstance(node, DirectoryImage):
            raise _error(errno.EISDIR, path)
        return node

    def _directory(self, path: str) -> DirectoryImage:
        node = self._node(path)
        if isinstance(node, FileImage):
            raise _error(errno.ENOTDIR, path)
        return node

    def _parent(self, path: str) -> tuple[DirectoryImage, str]:
        parts = _parts(path)
        if not parts:
            raise _error(errno.EBUSY, path)
        return self._directory("/".join(parts[:-1])), parts[-1]

    def _preload(self, path: str, data: bytes) -> None:
        directory = self._root
        *parents, name = _parts(path)
        for parent in parents:
            directory.entries.setdefault(parent, DirectoryImage())
            directory.sync()
            node = directory.entries[parent]
            if isinstance(node, FileImage):
                raise _error(errno.ENOTDIR, path)
            directory = node
        directory.link(name, FileImage(data))
        directory.sync()

    @classmethod
    def _successor(cls, root: DirectoryImage) -> "FakeDisk":
        disk = cls()
        disk._root = root
        return disk


@lru_cache(NAMES_KEPT_MAX)
def _parts(path: str) -> tuple[str, ...]:
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts:
        raise _error(errno.EINVAL, path)
    return parts


def _error(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)
