"""The network between simulated clients and real sessions: it delays, cuts, and delivers what was given up.

A link is one connection. What goes over it arrives in order, each piece after a delay of its own; links know
nothing of each other, so that requests of two connections overtake each other. A link that is *cut* loses
what is under way, from some piece on, in both directions. One that is *abandoned* by its client, which has
waited long enough and connects anew, still delivers what is under way, late: that is how requests arrive that
everybody has forgotten, and how they arrive twice.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from trivium.messages.schema import Request, Response
from trivium.testing.world.agenda import NEVER_MS, Agenda
from trivium.testing.world.carriage import Carriage, Messages, NewCarriage
from trivium.testing.world.clock import SimulatedClock
from trivium.testing.world.machine import Machine
from trivium.wire.errors import DecodeError

STALL_MS_MAX: Final = 900
"""How long a network may keep what is under way; longer than clients wait."""

Then = Callable[[Any], None]
"""Told the answer; or None, if there will be none: nobody knows what has happened."""


@dataclass(frozen=True, slots=True)
class Weather:
    """How bad the network is."""

    delay_ms_max: int = 6
    cut: float = 0.01
    """Of all requests, so many are the last of their connection."""
    stall: float = 0.02
    """So many get stuck on their way, with all that come behind them on the same connection."""
    late: float = 0.6
    """Of all connections that are abandoned, so many deliver what is stuck all the same, later."""


FAIR: Final = Weather(delay_ms_max=2, cut=0.0, stall=0.0)


class Network:
    def __init__(
        self,
        clock: SimulatedClock,
        agenda: Agenda,
        random: Random,
        machine: Machine,
        new_carriage: NewCarriage = Messages,
    ) -> None:
        self.clock = clock
        self.agenda = agenda
        self.random = random
        self.machine = machine
        self.new_carriage = new_carriage
        self.weather = Weather()
        self.requests = 0
        self._links: dict[Link, None] = {}
        self.dirty: list[Link] = []
        """Links that may have answers to carry back."""

    def connect(self, client_id: str) -> "Link":
        link = Link(self, client_id)
        self._links[link] = None
        return link

    def flush(self) -> None:
        """Send off what was answered in this turn."""
        while self.dirty:
            dirty, self.dirty = self.dirty, []
            for link in dirty:
                link.carry_back()

    def forget(self, link: "Link") -> None:
        self._links.pop(link, None)

    def cut_all(self) -> None:
        """The machine has lost its power."""
        links, self._links = self._links, {}
        self.dirty.clear()
        for link in links:
            link.cut()


class Link:
    def __init__(self, network: Network, client_id: str) -> None:
        self._network = network
        self._client_id = client_id
        self._carriage: Carriage | None = None
        self._under_way: deque[tuple[Request, int, bool, bool]] = deque()
        """To the broker, in order: with each moment of arrival the first of them arrives."""
        self._asked: deque[tuple[Then, int]] = deque()
        """Who wants to know, and until when, of each request without an answer."""
        self._looks_ms = NEVER_MS
        """When the client will look next whether it has waited long enough."""
        self._arrives_ms = self._returns_ms = 0
        """When the last piece under way arrives: none overtakes it."""
        self._held_until_ms = 0
        """The network keeps what is under way to the broker until then."""
        self.is_open = True
        """For the client."""
        self._is_broken = False

    @property
    def in_flight(self) -> int:
        return len(self._asked)

    # -- there -----------------------------------------------------------------------------------

    def ask(self, request: Request, version: int, then: Then, timeout_ms: int) -> None:
        network = self._network
        now_ms, random, weather = network.clock.now_ms, network.random.random, network.weather
        network.requests += 1
        due_ms = now_ms + timeout_ms
        self._asked.append((then, due_ms))
        if due_ms < self._looks_ms:
            self._look_at(due_ms)
        arrives_ms = now_ms + int(random() * (weather.delay_ms_max + 1))
        if arrives_ms < self._arrives_ms:
            arrives_ms = self._arrives_ms
        self._arrives_ms = arrives_ms
        if weather.stall and random() < weather.stall:
            self._held_until_ms = now_ms + network.random.randint(0, STALL_MS_MAX)
        is_last = is_lost = False
        if weather.cut and random() < weather.cut:
            is_last, is_lost = True, random() < 0.5
        self._under_way.append((request, version, is_last, is_lost))
        network.agenda.at(arrives_ms, self._arrive)

    def _look_at(self, due_ms: int) -> None:
        """Answers come in order, so that the oldest request decides how long a client waits."""
        self._looks_ms = due_ms
        self._network.agenda.at(due_ms, self._look)

    def _look(self) -> None:
        now_ms = self._network.clock.now_ms
        if now_ms < self._looks_ms:
            return  # Another look, set since, will come first.
        self._looks_ms = NEVER_MS
        if self._asked:
            due_ms = self._asked[0][1]
            if due_ms <= now_ms:
                self.abandon()
            else:
                self._look_at(due_ms)

    def _arrive(self) -> None:
        network = self._network
        if self._is_broken or not network.machine.is_up:
            self.cut()
            return
        if self._held_until_ms > network.clock.now_ms:
            network.agenda.at(self._held_until_ms, self._arrive)
            return
        request, version, is_last, is_lost = self._under_way.popleft()
        if not is_lost:
            self._deliver(request, version)
        if is_last:
            self.cut()

    def _deliver(self, request: Request, version: int) -> None:
        network, carriage = self._network, self._carriage
        if carriage is None:
            carriage = self._carriage = network.new_carriage(
                network.machine.protocol, self._client_id, lambda: network.dirty.append(self)
            )
        try:
            carriage.receive(request, version)
        except DecodeError:
            network.dirty.append(self)
            network.flush()
            self.cut()
        else:
            network.dirty.append(self)

    # -- and back --------------------------------------------------------------------------------

    def carry_back(self) -> None:
        if self._carriage is None or self._is_broken:
            return
        answers = self._carriage.take_answers()
        if answers and self.is_open:
            network = self._network
            returns_ms = network.clock.now_ms + int(
                network.random.random() * (network.weather.delay_ms_max + 1)
            )
            if returns_ms < self._returns_ms:
                returns_ms = self._returns_ms
            self._returns_ms = returns_ms
            network.agenda.at(returns_ms, self._return, answers)

    def _return(self, answers: Sequence[Response]) -> None:
        for answer in answers:
            if self._is_broken or not self.is_open:
                return
            self._asked.popleft()[0](answer)

    # -- ends ------------------------------------------------------------------------------------

    def cut(self) -> None:
        """Nothing goes through any more, and both sides know."""
        if not self._is_broken:
            self._is_broken = True
            if self._carriage is not None:
                self._carriage.close()
            self._network.forget(self)
            self._give_up()

    def abandon(self) -> None:
        """The client waits no longer. What is under way to the broker may arrive all the same."""
        network = self._network
        if network.random.random() < network.weather.late:
            self._give_up()
        else:
            self.cut()

    def _give_up(self) -> None:
        if self.is_open:
            self.is_open = False
            asked, self._asked = self._asked, deque()
            for then, _ in asked:
                then(None)
