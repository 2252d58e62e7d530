"""A world: one machine, a network, clients, and a clock, all from one seed. One seed, one history.

Events happen one after the other, in the order of their times; nothing else in a world moves time. Chance
decides about everything that reality would decide, and comes from one generator.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Final

from trivium.testing.world.agenda import Agenda
from trivium.testing.world.carriage import BYTES_EVERY, Bytes, Messages
from trivium.testing.world.clock import SimulatedClock
from trivium.testing.world.machine import Machine, NewDisk
from trivium.testing.world.network import FAIR, Network, Weather
from trivium.testing.world.storage import SimulatedStorage
from trivium.testing.world.story import Story

LOSS_MS_MAX: Final = 20
"""From the beginning of an operation: about as long as one takes in good weather."""
DOWN_MS_MAX: Final = 200
"""From the loss of power to the next start."""
PATIENCE_MS: Final = 100_000
"""Simulated time after which a world whose clients have not come to rest is said to hang."""


class Hangs(Exception):
    """Clients that should have come to rest did not."""


class World:
    def __init__(
        self,
        seed: int,
        topics: Mapping[str, int],
        *,
        operations: int,
        weather: Weather,
        power_losses: float,
        transaction_version: int | None = None,
        settings: Mapping[str, str] | None = None,
        new_disk: NewDisk = SimulatedStorage,
    ) -> None:
        """``power_losses``: how many there are in a history, more or less."""
        self.random = Random(seed)  # noqa: S311 - it is to be the same again
        self.clock = SimulatedClock()
        self.agenda = Agenda(self.clock)
        levels = {} if transaction_version is None else {"transaction_version": transaction_version}
        self.machine = Machine(self.clock, self.random, topics, new_disk, settings=settings, **levels)
        carriage = Bytes if seed % BYTES_EVERY == 0 else Messages
        self.network = Network(self.clock, self.agenda, self.random, self.machine, carriage)
        self.network.weather = weather
        self.story = Story()
        self.topics = topics
        self._operations = operations
        self._power_loss = power_losses / operations
        """Of all operations, so many are followed by one."""
        self._noted = 0

    @property
    def goes_on(self) -> bool:
        """Whether clients are to begin anything new."""
        return self.story.begun < self._operations

    # -- time ------------------------------------------------------------------------------------

    def run_until(self, is_over: Callable[[], bool]) -> None:
        """Let things happen. ``Hangs`` if it is not over in good time."""
        end_ms = self.clock.now_ms + PATIENCE_MS
        while not is_over():
            if not self._happen(end_ms):
                raise Hangs

    def pass_time(self, milliseconds: int) -> None:
        end_ms = self.clock.now_ms + milliseconds
        while self._happen(end_ms):
            pass
        self.clock.now_ms = end_ms

    def _happen(self, end_ms: int) -> bool:
        """The next event; False if there is none before ``end_ms``."""
        agenda, machine = self.agenda, self.machine
        own_ms, broker_ms = agenda.next_ms, machine.timers.next_due_ms
        is_own = broker_ms is None or own_ms <= broker_ms
        due_ms = own_ms if is_own or broker_ms is None else broker_ms
        if due_ms > end_ms:
            return False
        if due_ms > self.clock.now_ms:
            self.clock.now_ms = due_ms
        if is_own:
            agenda.run_due()
        else:
            machine.timers.run_due()
        if machine.soon:
            machine.turn()
        if self.network.dirty:
            self.network.flush()
        if self._noted < self.story.begun:
            self._tempt_fate()
        return True

    # -- trouble ---------------------------------------------------------------------------------

    def _tempt_fate(self) -> None:
        """The power may go with each operation that has begun."""
        while self._noted < self.story.begun:
            self._noted += 1
            if self.machine.is_up and self.random.random() < self._power_loss:
                self.agenda.after(self.random.randint(0, LOSS_MS_MAX), self.lose_power)

    def lose_power(self) -> None:
        if self.machine.is_up and self._power_loss:
            self.machine.lose_power()
            self.network.cut_all()
            self.agenda.after(self.random.randint(0, DOWN_MS_MAX), self.machine.start)

    def clear_up(self) -> None:
        """From now on nothing goes wrong any more; what is stuck already has the fate that it had before."""
        self._power_loss = 0.0
        self.network.weather = replace(FAIR, late=self.network.weather.late)
