"""A caller with a connection that notes what went wrong for it, and a mistake to make."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Never

from trivium.core.behalf import now
from trivium.core.caller import Presence


class Mistakes:
    """A caller that has a connection until it has failed."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []
        self.presence = Presence(self._failed)

    def _failed(self, request: str, error: Exception) -> bool:
        self.found.append((request, str(error)))
        return len(self.found) == 1


@contextmanager
def asking(caller: Mistakes, request: str) -> Iterator[None]:
    """What is done meanwhile is done because this caller asks for it."""
    before, now.asked = now.asked, (caller.presence, request)
    try:
        yield
    finally:
        now.asked = before


def loose() -> Never:
    raise RuntimeError("a bolt is loose")
