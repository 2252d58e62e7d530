"""What the simulations of groups share: a coordinator, clients that look now and then, a disk that forgets.

One seed is one history. A simulation says what may happen, what a client does when it looks, and what must
be true after every step and in the end.
"""

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from random import Random
from typing import Generic, Protocol, TypeVar

from tests.core.groups.coordinated import Coordinated
from trivium.core.commands.groups import CoordinatorKind, FindCoordinators

GROUP = "g"


class SimulatedClient(Protocol):
    is_paused: bool


C = TypeVar("C", bound=SimulatedClient)


class TroubledGroup(Generic[C]):
    tick_ms: int
    """Less than that passes between two steps."""
    syncs: float
    """After so many of all steps everything is durable."""

    def __init__(self, seed: int, static: Mapping[str, str], topic: str, partitions: int) -> None:
        self.random = Random(seed)
        self.groups = Coordinated(static)
        self.world = self.groups.world
        self.world.create_topic(topic, partitions)
        self.world.execute(FindCoordinators(CoordinatorKind.GROUP, [GROUP]))
        self.world.storage.holds_syncs = True
        self.clients: list[C] = []
        self.started = 0
        self.synced_batches = self.groups.log.batches_count
        self.seen: Counter[str] = Counter()

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self._something_happens()
            self.groups.pass_time(self.random.randrange(self.tick_ms))
            for client in self.random.sample(self.clients, len(self.clients)):
                if not client.is_paused and self.random.random() < 0.8:
                    self._look(client)
            if self.random.random() < self.syncs:
                self._sync()
            self._check()
        self._calm_down()

    # -- what a simulation brings ----------------------------------------------------------------

    def _something_happens(self) -> None:
        raise NotImplementedError

    def _look(self, client: C) -> None:
        raise NotImplementedError

    def _check(self) -> None:
        """What must be true after every step."""
        raise NotImplementedError

    def _calm_down(self) -> None:
        """Everybody wakes up, nothing fails: the group finds together."""
        raise NotImplementedError

    def _forget_what_was_asked(self) -> None:
        """The broker has stopped: whoever waits notices, and asks again."""
        raise NotImplementedError

    # -- what happens in all of them -------------------------------------------------------------

    def _die(self) -> None:
        self.clients.remove(self.random.choice(self.clients))
        self.seen["deaths"] += 1

    def _pause_or_go_on(self) -> None:
        client = self.random.choice(self.clients)
        client.is_paused = not client.is_paused
        self.seen["pauses"] += 1

    def _sync(self) -> None:
        self.synced_batches = self.groups.log.batches_count
        self.world.storage.sync()

    def _lose_unsynced(self) -> None:
        """Of what was not synced any beginning may have survived."""
        log = self.groups.log
        log.cut(self.random.randint(self.synced_batches, log.batches_count))

    def _restart(self, what: str) -> None:
        """Nobody who waits is ever answered."""
        self.world.storage.forget_who_waits()
        self.groups.restart()
        self._forget_what_was_asked()
        self.synced_batches = self.groups.log.batches_count
        self.seen[what] += 1


def main(simulation: Callable[[int], TroubledGroup[C]]) -> None:
    """``SEED STEPS`` on the command line: run one history and say what it was made of."""
    seed, steps = map(int, sys.argv[1:])
    played = simulation(seed)
    played.run(steps)
    print(dict(played.seen))
