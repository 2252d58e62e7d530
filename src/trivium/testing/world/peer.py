"""Clients of a world: they ask, and give up waiting after a while; some of them do one thing after the other.

The life of such a one is a generator. What it yields it gets: the answer to a request, or None if there was
none; or that some time has passed.
"""

from collections.abc import Callable, Generator
from typing import Any, Final

from trivium.messages.schema import Request
from trivium.testing.world.network import Link, Then
from trivium.testing.world.world import World

REQUEST_TIMEOUT_MS: Final = 300
"""Longer than an answer takes in good weather, shorter than most stops of the machine."""

Wanted = tuple[Request, int] | tuple[Request, int, int] | int
"""A request with its version, and how many milliseconds to wait for its answer; or just milliseconds."""
Life = Generator[Wanted, Any, None]


class Peer:
    """One client with one connection at a time."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self._link: Link | None = None

    def ask(self, request: Request, version: int, then: Then, timeout_ms: int = REQUEST_TIMEOUT_MS) -> None:
        link = self._link
        if link is None or not link.is_open:
            link = self._link = self.world.network.connect(self.name)
        link.ask(request, version, then, timeout_ms)

    def hang_up(self) -> None:
        """Give up the connection, and everything that was asked on it."""
        if self._link is not None:
            self._link.abandon()


class Walker:
    """Somebody who lives a life."""

    def __init__(self, world: World, name: str, live: Callable[["Walker"], Life]) -> None:
        self.world = world
        self.peer = Peer(world, name)
        self.name = name
        self.is_done = False
        self._life = live(self)
        world.agenda.after(world.random.randint(0, 10), self._go_on, None)

    def _go_on(self, got: Any) -> None:
        try:
            wanted = self._life.send(got)
        except StopIteration:
            self.is_done = True
            return
        if isinstance(wanted, int):
            self.world.agenda.after(wanted, self._go_on, None)
        else:
            request, version, *timeout_ms = wanted
            self.peer.ask(request, version, self._go_on, *timeout_ms)
