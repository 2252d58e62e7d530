"""One run of a flow at a time: two would stop each other in the middle, wherever they meet.

Spark notices it too, but only when both write, and then one of them ends; it may be the one that was there
first. A lease is a lock on a file of the state, which ends with its process. Where the state is not on this
machine there is none, and Spark's own check remains.
"""

import fcntl
import os
from pathlib import Path
from typing import Final

from trivium.spark.running.errors import CannotRun

FOLDER: Final = "running"
"""Of a state: the locks, by the names of what runs."""


class Lease:
    """``name``: of a flow, a backfill or a replay, as its query is called."""

    def __init__(self, state: str, name: str) -> None:
        self._file: int | None = None
        if "://" in state and not state.startswith("file://"):
            return
        folder = Path(state.removeprefix("file://")) / FOLDER
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise CannotRun(
                f"{folder} cannot be written: {error.strerror}; correct that, or give the pipeline another "
                "state."
            ) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(file, 20, 0).decode(errors="replace").strip()
            os.close(file)
            raise CannotRun(f"{name} is run already, by process {holder}; end that run first.") from None
        os.ftruncate(file, 0)
        os.pwrite(file, str(os.getpid()).encode(), 0)
        self._file = file

    def end(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
