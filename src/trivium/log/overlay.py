"""A directory that can be opened, recovered and read without changing a byte of it.

Reads come from below; everything written, renamed or removed lives in memory and is forgotten. So
``trivium inspect`` shows what recovery would do to a directory, also one that belongs to a running or
a foreign broker, or lies on a read-only disk.
"""

import errno
import os
from collections.abc import Sequence

from trivium.log.files import File, Files, Lock, Space
from trivium.wire.buffer import Buffer


class _Layer:
    """One file's content: the file below until the first change, a copy from then on."""

    __slots__ = ("_copy", "_files", "_open", "_source", "path")

    def __init__(self, path: str, below: Files | None) -> None:
        self.path = path
        self._files = below
        self._source = path
        self._open: File | None = None
        self._copy: bytearray | None = bytearray() if below is None else None

    def _below(self) -> File:
        if self._open is None:
            assert self._files is not None
            self._open = self._files.open_to_read(self._source)
        return self._open

    def _own(self) -> bytearray:
        if self._copy is None:
            self._copy = bytearray(self._below().read(self._below().size(), 0))
            self.close()
        return self._copy

    @property
    def descriptor(self) -> int | None:
        return None

    def size(self) -> int:
        return len(self._copy) if self._copy is not None else self._below().size()

    def read(self, size_bytes: int, position: int) -> bytes:
        if self._copy is not None:
            return bytes(self._copy[position : position + size_bytes])
        return self._below().read(size_bytes, position)

    def is_near(self, size_bytes: int, position: int) -> bool:
        return self._copy is not None or self._below().is_near(size_bytes, position)

    def write(self, data: Buffer, position: int) -> None:
        own = self._own()
        if len(own) < position:
            own.extend(bytes(position - len(own)))
        own[position : position + len(data)] = data

    def reserve(self, size_bytes: int) -> None:
        """Memory needs no room set aside."""

    def truncate(self, size_bytes: int) -> None:
        own = self._own()
        del own[size_bytes:]
        own.extend(bytes(size_bytes - len(own)))

    def sync(self) -> None:
        """There is nothing to make durable."""

    def close(self) -> None:
        """The layer stays, as the only place that knows what was changed; the descriptor below does not."""
        if self._open is not None:
            self._open.close()
            self._open = None


class _NoLock:
    def release(self) -> None:
        """Nothing was held."""


class OverlayFiles:
    """``Files`` over other files that are never changed."""

    def __init__(self, below: Files) -> None:
        self._below = below
        self._layers: dict[str, _Layer] = {}
        self._gone: set[str] = set()
        self._directories: set[str] = set()

    def open(self, path: str, *, create: bool = False) -> File:
        layer = self._layers.get(path)
        if layer is None:
            if self._lies_below(path):
                layer = _Layer(path, self._below)
            elif create:
                layer = _Layer(path, None)
            else:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            self._layers[path] = layer
        return layer

    def open_to_read(self, path: str) -> File:
        return self.open(path)

    def exists(self, path: str) -> bool:
        return path in self._layers or path in self._directories or self._lies_below(path)

    def size(self, path: str) -> int:
        layer = self._layers.get(path)
        return layer.size() if layer is not None else self._below.size(path)

    def list(self, path: str) -> Sequence[str]:
        below = self._below.list(path) if self._lies_below(path) else ()
        names = {name for name in below if self._lies_below(f"{path}/{name}")}
        for known in (*self._layers, *self._directories):
            parent, _, name = known.rpartition("/")
            if parent == path:
                names.add(name)
        return sorted(names)

    def is_directory(self, path: str) -> bool:
        return path in self._directories or (self._lies_below(path) and self._below.is_directory(path))

    def make_directory(self, path: str) -> None:
        if not self.exists(path):
            self._directories.add(path)

    def rename(self, old: str, new: str) -> None:
        if self.is_directory(old):
            raise NotImplementedError("nothing that only looks renames a directory")
        layer = self.open(old)
        assert isinstance(layer, _Layer)
        self.remove(old)
        self._layers[new] = layer
        layer.path = new

    def remove(self, path: str) -> None:
        self._layers.pop(path, None)
        self._gone.add(path)

    def remove_directory(self, path: str) -> None:
        self._directories.discard(path)
        self._gone.add(path)

    def sync_directory(self, path: str) -> None:
        """There is nothing to make durable."""

    def space(self, path: str) -> Space:
        return self._below.space(path)

    def lock(self, path: str) -> Lock | None:
        return _NoLock()

    def _lies_below(self, path: str) -> bool:
        return path not in self._gone and self._below.exists(path)
