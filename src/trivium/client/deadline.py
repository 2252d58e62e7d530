"""How long something may take, and how often it is tried until then. Clock jumps change nothing."""

import random
import time
from collections.abc import Iterator
from typing import Final

FIRST_PAUSE_S: Final = 0.02
"""Before the second attempt: a metadata change reaches a broker in tens of milliseconds."""

PAUSE_S_MAX: Final = 1.0
"""Between later attempts, which double it up to here, as Kafka's ``retry.backoff.max.ms`` does."""

_JITTER: Final = 0.2
"""Pauses vary by so much, so that clients that failed together do not come back together."""


class Deadline:
    """A moment in the future."""

    __slots__ = ("_at_s",)

    def __init__(self, seconds: float) -> None:
        self._at_s = time.monotonic() + seconds

    @property
    def remaining_s(self) -> float:
        return max(0.0, self._at_s - time.monotonic())

    @property
    def has_passed(self) -> bool:
        return time.monotonic() >= self._at_s

    def sleep(self) -> None:
        """Until then."""
        time.sleep(self.remaining_s)

    def within(self, seconds: float) -> "Deadline":
        """The same moment, or in ``seconds`` if that is sooner."""
        return Deadline(min(seconds, self.remaining_s))


def attempts(deadline: Deadline) -> Iterator[int]:
    """0, 1, 2 …: at least one, with pauses between them, for as long as there is time for another."""
    yield 0
    number = 1
    while (pause := pause_s(number)) < deadline.remaining_s:
        time.sleep(pause)
        yield number
        number += 1


def pause_s(attempt: int) -> float:
    """How long to wait before this attempt (the first is number 0 and waits for nothing)."""
    if attempt == 0:
        return 0.0
    doubled = FIRST_PAUSE_S * 2.0 ** min(attempt - 1, 10)
    return min(PAUSE_S_MAX, doubled) * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - no secret
