"""The real disk with trouble below one path: syncs that take their time, or fail."""

import errno
import os
import threading

from trivium.log.files import RealFile, RealFiles


class TroubledFile(RealFile):
    __slots__ = ("_disk",)

    def __init__(self, path: str, fd: int, disk: "TroubledFiles") -> None:
        super().__init__(path, fd)
        self._disk = disk

    @property
    def descriptor(self) -> int | None:
        return None  # or others would sync it without trouble

    def sync(self) -> None:
        self._disk.meet_trouble(self.path)
        super().sync()


class TroubledFiles(RealFiles):
    """``stall`` makes syncs below ``path`` wait until ``go_on``; ``fail`` makes them fail."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._may_go_on = threading.Event()
        self._may_go_on.set()
        self._fails = False
        self.is_stalled = threading.Event()
        """Set once a sync waits."""
        self.syncs: list[tuple[str, str]] = []
        """Of every sync below the path: the thread, and the file."""

    def stall(self) -> None:
        self._may_go_on.clear()

    def go_on(self) -> None:
        self._may_go_on.set()

    def fail(self) -> None:
        self._fails = True

    def meet_trouble(self, path: str) -> None:
        if not path.startswith(self._path):
            return
        self.syncs.append((threading.current_thread().name, path))
        if self._fails:
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        if not self._may_go_on.is_set():
            self.is_stalled.set()
            assert self._may_go_on.wait(60), "nobody told the disk to go on"

    def open(self, path: str, *, create: bool = False) -> RealFile:
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        return TroubledFile(path, os.open(path, flags, 0o644), self)

    def sync_directory(self, path: str) -> None:
        self.meet_trouble(f"{path}/")
        super().sync_directory(path)
