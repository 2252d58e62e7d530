"""Files in memory: the port of ``log.files`` for a broker that leaves nothing behind.

Quick, and nothing more: what is written is there, a sync is nothing. A disk that forgets and fails is
``disk``'s business.

A tree of dictionaries: a directory maps names to nodes, a file is its bytes.
"""

import errno
import os
from collections.abc import Sequence
from typing import Final, TypeAlias

from trivium.log.files import Space
from trivium.wire.buffer import Buffer

CAPACITY_BYTES: Final = 1 << 40
"""What is told to whoever asks for the size of this disk: far more than there is memory."""

_Directory: TypeAlias = dict[str, "_Node"]
_Node: TypeAlias = bytearray | _Directory


class MemoryFile:
    """An open file. Like a descriptor it keeps its file when the name goes."""

    __slots__ = ("_content", "_writable", "path")

    def __init__(self, path: str, content: bytearray, *, writable: bool) -> None:
        self.path = path
        self._content: bytearray | None = content
        self._writable = writable

    @property
    def descriptor(self) -> int | None:
        return None

    def size(self) -> int:
        return len(self._opened())

    def read(self, size_bytes: int, position: int) -> bytes:
        # Not through a view: another thread may be about to make the file longer, which a view forbids.
        return bytes(self._opened()[position : position + size_bytes])

    def is_near(self, size_bytes: int, position: int) -> bool:
        return True

    def write(self, data: Buffer, position: int) -> None:
        content = self._opened_to_write()
        if position > len(content):
            content.extend(bytes(position - len(content)))
        content[position : position + len(data)] = data

    def reserve(self, size_bytes: int) -> None:
        """Memory needs no room set aside."""

    def truncate(self, size_bytes: int) -> None:
        content = self._opened_to_write()
        del content[size_bytes:]
        content.extend(bytes(size_bytes - len(content)))

    def sync(self) -> None:
        self._opened()

    def close(self) -> None:
        self._content = None

    def _opened(self) -> bytearray:
        if self._content is None:
            raise _error(errno.EBADF, self.path)
        return self._content

    def _opened_to_write(self) -> bytearray:
        if not self._writable:
            raise _error(errno.EBADF, self.path)
        return self._opened()


class MemoryLock:
    def __init__(self, held: set[str], path: str) -> None:
        self._held = held
        self._path = path

    def release(self) -> None:
        self._held.discard(self._path)


class MemoryFiles:
    def __init__(self) -> None:
        self._root: _Directory = {}
        self._locks: set[str] = set()

    def kill(self) -> "MemoryFiles":
        """The files as the next process finds them. Whoever has used these must have ended."""
        successor = MemoryFiles()
        successor._root = self._root
        return successor

    # -- the port --------------------------------------------------------------------------------

    def open(self, path: str, *, create: bool = False) -> MemoryFile:
        parent, name = self._parent(path)
        if create:
            parent.setdefault(name, bytearray())
        return MemoryFile(path, self._file(path), writable=True)

    def open_to_read(self, path: str) -> MemoryFile:
        return MemoryFile(path, self._file(path), writable=False)

    def exists(self, path: str) -> bool:
        return self._find(path) is not None

    def size(self, path: str) -> int:
        return len(self._file(path))

    def list(self, path: str) -> Sequence[str]:
        return sorted(self._directory(path))

    def is_directory(self, path: str) -> bool:
        return isinstance(self._find(path), dict)

    def make_directory(self, path: str) -> None:
        parent, name = self._parent(path)
        if not isinstance(parent.setdefault(name, {}), dict):
            raise _error(errno.EEXIST, path)

    def rename(self, old: str, new: str) -> None:
        parent, name = self._parent(old)
        target, new_name = self._parent(new)
        node, there = self._node(old), target.get(new_name)
        if node is there:
            return
        if isinstance(node, dict) and isinstance(there, bytearray):
            raise _error(errno.ENOTDIR, new)
        if isinstance(there, dict) and isinstance(node, bytearray):
            raise _error(errno.EISDIR, new)
        if isinstance(there, dict) and there:
            raise _error(errno.ENOTEMPTY, new)
        del parent[name]
        target[new_name] = node

    def remove(self, path: str) -> None:
        self._file(path)
        parent, name = self._parent(path)
        del parent[name]

    def remove_directory(self, path: str) -> None:
        if self._directory(path):
            raise _error(errno.ENOTEMPTY, path)
        parent, name = self._parent(path)
        del parent[name]

    def sync_directory(self, path: str) -> None:
        self._directory(path)

    def space(self, path: str) -> Space:
        self._node(path)
        return Space(CAPACITY_BYTES, CAPACITY_BYTES - _size_bytes(self._root))

    def lock(self, path: str) -> MemoryLock | None:
        if path in self._locks:
            return None
        self.open(path, create=True)
        self._locks.add(path)
        return MemoryLock(self._locks, path)

    # -- names -----------------------------------------------------------------------------------

    def _find(self, path: str) -> _Node | None:
        node: _Node | None = self._root
        for name in _names(path):
            node = node.get(name) if isinstance(node, dict) else None
        return node

    def _node(self, path: str) -> _Node:
        node = self._find(path)
        if node is None:
            raise _error(errno.ENOENT, path)
        return node

    def _file(self, path: str) -> bytearray:
        node = self._node(path)
        if isinstance(node, dict):
            raise _error(errno.EISDIR, path)
        return node

    def _directory(self, path: str) -> _Directory:
        node = self._node(path)
        if isinstance(node, bytearray):
            raise _error(errno.ENOTDIR, path)
        return node

    def _parent(self, path: str) -> tuple[_Directory, str]:
        names = _names(path)
        if not names:
            raise _error(errno.EBUSY, path)
        return self._directory("/".join(names[:-1])), names[-1]


def _size_bytes(node: _Node) -> int:
    return sum(map(_size_bytes, node.values())) if isinstance(node, dict) else len(node)


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _error(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)
