"""What goes wrong on a fake disk, and when: errors at the n-th call of a kind, the end at the n-th change.

The end is an exception that no code under test may catch: ``PowerLoss`` and ``Killed`` are no ``Exception``.
Whoever calls the disk after its end meets the same exception again, so a ``finally`` that tidies up cannot
change what is found afterwards.
"""

import os
from collections import Counter
from typing import NamedTuple

CHANGES = frozenset(
    {"create", "write", "truncate", "sync", "rename", "remove"}
    | {"make_directory", "remove_directory", "sync_directory"}
)
"""The calls that matter to a crash: between two of them nothing happens that it could undo."""


class PowerLoss(BaseException):
    """The machine stopped: what was not synced is in doubt. Go on with ``FakeDisk.crash``."""


class Killed(BaseException):
    """The process stopped: what was written is there. Go on with ``FakeDisk.kill``."""


class Call(NamedTuple):
    """One call to the disk, as its log keeps it."""

    kind: str
    path: str
    position: int = 0
    size_bytes: int = 0


class Interruption(NamedTuple):
    """A call that must not succeed. ``halfway``: a write leaves half of its bytes."""

    exception: BaseException
    halfway: bool


class Faults:
    """A plan of what fails, and the log of what was called."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.counts: Counter[str] = Counter()
        self.changes = 0
        self._failures: dict[str, dict[int, int]] = {}
        self._end: tuple[int, type[BaseException], bool] | None = None
        self._ended: type[BaseException] | None = None

    def fail(self, kind: str, nth: int, error: int) -> None:
        """Let the ``nth`` call of that kind from now on (1 is the next) fail with an ``errno``."""
        self._failures.setdefault(kind, {})[self.counts[kind] + nth] = error

    def end(self, nth: int, exception: type[BaseException], *, halfway: bool) -> None:
        """Let everything end before the ``nth`` change from now on, or halfway through it if a write."""
        self._end = self.changes + nth, exception, halfway

    def meet(self, call: Call) -> Interruption | None:
        """Take note of a call, and say how it has to fail."""
        if self._ended is not None:
            return Interruption(self._ended(), halfway=False)
        self.calls.append(call)
        self.counts[call.kind] += 1
        if call.kind in CHANGES:
            self.changes += 1
            if self._end is not None and self.changes == self._end[0]:
                self._ended = self._end[1]
                return Interruption(self._ended(), halfway=self._end[2])
        if not self._failures:
            return None
        error = self._failures.get(call.kind, {}).pop(self.counts[call.kind], None)
        if error is None:
            return None
        return Interruption(OSError(error, os.strerror(error), call.path), halfway=True)
