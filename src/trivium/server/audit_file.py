"""The file of the audit trail: appended to, for its owner's eyes only, and put aside when it is large."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

FILE_BYTES_MAX: Final = 64 << 20
"""Then it is called ``.1``, what was called that ``.2``, and so on."""
PAST_FILES_MAX: Final = 9
"""So many are kept: with the one in use, 640 MB."""


class AuditFile:
    """Used by one thread at a time. Every method may raise ``OSError``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._open()

    def _open(self) -> None:
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def append(self, lines: Sequence[bytes]) -> None:
        if self._descriptor is None:
            self._open()
        assert self._descriptor is not None
        data = memoryview(b"".join(lines))
        while data:
            data = data[os.write(self._descriptor, data) :]
        if os.fstat(self._descriptor).st_size >= FILE_BYTES_MAX:
            self._put_aside()

    def _put_aside(self) -> None:
        self.close()
        for number in range(PAST_FILES_MAX - 1, 0, -1):
            if (older := self._past(number)).exists():
                older.replace(self._past(number + 1))
        self._path.replace(self._past(1))

    def _past(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
