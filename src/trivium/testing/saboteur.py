"""The real disk, and a process that dies on it: SIGKILL before, or halfway through, the n-th change (R3).

For tests that run the code in a process of its own: nothing is tidied up, no buffer is flushed, exactly as
when the kernel takes a process away. With ``kill_at=None`` nothing happens but counting, which tells how many
points there are to try.
"""

import os
import signal
from collections.abc import Callable, Sequence

from trivium.log.files import File, Files, Lock, Space
from trivium.wire.buffer import Buffer


def kill_this_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Saboteur:
    """Passes every call on, until the ``kill_at``-th change (1 is the first)."""

    def __init__(
        self,
        below: Files,
        kill_at: int | None,
        *,
        halfway: bool = False,
        kill: Callable[[], None] = kill_this_process,
    ) -> None:
        self.changes = 0
        self._below = below
        self._kill_at = kill_at
        self._halfway = halfway
        self._kill = kill

    def change(self, half: Callable[[], None] | None = None) -> None:
        """One change is about to happen. ``half`` does the first half of it, if it has one."""
        self.changes += 1
        if self.changes == self._kill_at:
            if self._halfway and half is not None:
                half()
            self._kill()

    def open(self, path: str, *, create: bool = False) -> File:
        if create and not self._below.exists(path):
            self.change()
        return _SabotagedFile(self, self._below.open(path, create=create))

    def open_to_read(self, path: str) -> File:
        return self._below.open_to_read(path)

    def exists(self, path: str) -> bool:
        return self._below.exists(path)

    def size(self, path: str) -> int:
        return self._below.size(path)

    def list(self, path: str) -> Sequence[str]:
        return self._below.list(path)

    def is_directory(self, path: str) -> bool:
        return self._below.is_directory(path)

    def make_directory(self, path: str) -> None:
        self.change()
        self._below.make_directory(path)

    def rename(self, old: str, new: str) -> None:
        self.change()
        self._below.rename(old, new)

    def remove(self, path: str) -> None:
        self.change()
        self._below.remove(path)

    def remove_directory(self, path: str) -> None:
        self.change()
        self._below.remove_directory(path)

    def sync_directory(self, path: str) -> None:
        self.change()
        self._below.sync_directory(path)

    def space(self, path: str) -> Space:
        return self._below.space(path)

    def lock(self, path: str) -> Lock | None:
        if not self._below.exists(path):
            self.change()
        return self._below.lock(path)


class _SabotagedFile:
    def __init__(self, saboteur: Saboteur, below: File) -> None:
        self.path = below.path
        self._saboteur = saboteur
        self._below = below

    @property
    def descriptor(self) -> int | None:
        return None

    def size(self) -> int:
        return self._below.size()

    def read(self, size_bytes: int, position: int) -> bytes:
        return self._below.read(size_bytes, position)

    def is_near(self, size_bytes: int, position: int) -> bool:
        return self._below.is_near(size_bytes, position)

    def write(self, data: Buffer, position: int) -> None:
        self._saboteur.change(half=lambda: self._below.write(bytes(data)[: len(data) // 2], position))
        self._below.write(data, position)

    def reserve(self, size_bytes: int) -> None:
        self._below.reserve(size_bytes)

    def truncate(self, size_bytes: int) -> None:
        self._saboteur.change()
        self._below.truncate(size_bytes)

    def sync(self) -> None:
        self._saboteur.change()
        self._below.sync()

    def close(self) -> None:
        self._below.close()
