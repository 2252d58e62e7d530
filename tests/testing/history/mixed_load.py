"""Many processes at work on the same partitions through three protocols, and readers who look at all of it.

One seed chooses what every process does; how their operations interleave is up to the machine.
"""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from tests.testing.history.actor import CONNECTION_ENDED, Actor
from trivium.testing.history import Protocol, Recorder
from trivium.testing.history.operation import Place

END_SECONDS_MAX = 60
"""A thread that goes on for longer has failed."""

Addresses = Mapping[str, str]
"""Of the broker, by protocol."""


class MixedLoad:
    def __init__(
        self, recorder: Recorder, seed: int, topic: str, partitions: int, actors_per_protocol: int = 2
    ) -> None:
        self._recorder = recorder
        self._seed = str(seed)
        self._places: list[Place] = [(topic, partition) for partition in range(partitions)]
        self._group = f"{topic}-readers"
        self._actors = [
            self._actor(f"{protocol.value}-{number}", protocol)
            for protocol in Protocol
            for number in range(actors_per_protocol)
        ]
        self._followers = [self._actor(f"{protocol.value}-follower", protocol) for protocol in Protocol]
        """Readers who come when all is quiet, and go on where they have stopped."""

    def run(self, addresses: Addresses, *, operations: int | None = None) -> "Running":
        """All actors at once, each in a thread, for so many operations each or until the broker is gone."""
        return Running(self._actors, addresses, operations)

    def follow(self, addresses: Addresses) -> None:
        """Read what is new, through every protocol."""
        self._read(self._followers, addresses)

    def read_everything(self, addresses: Addresses) -> None:
        """Read all there is from the start, through every protocol."""
        self._read([self._actor(f"{each.value}-reader", each) for each in Protocol], addresses)

    def _actor(self, name: str, protocol: Protocol) -> Actor:
        return Actor(name, protocol, self._recorder, self._seed, self._places, self._group)

    def _read(self, readers: list[Actor], addresses: Addresses) -> None:
        for reader in readers:
            reader.connect(addresses[reader.protocol.value])
            reader.read_to_the_end()
            reader.disconnect()


class Running:
    """Actors at work, each in a thread; ``wait`` until they have ended."""

    def __init__(self, actors: Sequence[Actor], addresses: Addresses, operations: int | None) -> None:
        self.all_connected = threading.Event()
        self._unconnected = len(actors)
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(len(actors))
        self._lives = [
            self._threads.submit(self._live, actor, addresses[actor.protocol.value], operations)
            for actor in actors
        ]

    def wait(self) -> None:
        """Whatever went wrong in a thread is raised here."""
        for life in self._lives:
            life.result(END_SECONDS_MAX)
        self._threads.shutdown()

    def _live(self, actor: Actor, address: str, operations: int | None) -> None:
        # Who is to do so many operations has a broker that stays.
        expected = CONNECTION_ENDED if operations is None else ()
        try:
            with suppress(*expected):
                actor.connect(address)
                self._connected()
                done = 0
                while operations is None or done < operations:
                    actor.act()
                    done += 1
        finally:
            actor.disconnect()

    def _connected(self) -> None:
        with self._lock:
            self._unconnected -= 1
            if not self._unconnected:
                self.all_connected.set()
