"""The real disk, used by a broker that a test can end as ``kill -9`` would.

A broker inside a test shares the test's process, so nobody closes its descriptors and frees its locks when
it is "killed". These files remember what they have opened, and ``kill`` lets go of all of it: nothing is
written, and the next broker finds the directory as it was at that moment.
"""

from trivium.log.files import RealFile, RealFiles, RealLock


class MortalFiles(RealFiles):
    def __init__(self) -> None:
        self._opened: list[RealFile | RealLock] = []

    def kill(self) -> "MortalFiles":
        """The files as the next process finds them. Whoever has used these must have ended."""
        for each in self._opened:
            if isinstance(each, RealLock):
                each.release()
            else:
                each.close()
        return MortalFiles()

    def open(self, path: str, *, create: bool = False) -> RealFile:
        file = super().open(path, create=create)
        self._opened.append(file)
        return file

    def open_to_read(self, path: str) -> RealFile:
        file = super().open_to_read(path)
        self._opened.append(file)
        return file

    def lock(self, path: str) -> RealLock | None:
        lock = super().lock(path)
        if lock is not None:
            self._opened.append(lock)
        return lock
