"""The network between simulated clients and real sessions: it delays, cuts, and delivers what was given up.

A link is one connection. What goes over it arrives in order, each piece after a delay of its own; links know
nothing of each other, so that requests of two connections overtake each other. A link that is *cut* loses
what is under way, from some piece on, in both directions. One that is *abandoned* by its client, which has
waited long enough and connects anew, still delivers what is under way, late: that is how requests arrive that
everybody has forgotten, and how they arrive twice.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from trivium.core.timers import Timers
from trivium.messages.frames import decode_response, encode_request
from trivium.messages.schema import Request
from trivium.protocols.kafka.api import Endpoint
from trivium.protocols.kafka.session import KafkaSession
from trivium.testing.world.clock import SimulatedClock
from trivium.testing.world.machine import Machine
from trivium.wire.cursor import INT32
from trivium.wire.errors import DecodeError

HERE: Final = Endpoint("broker", 9092)
HOST: Final = "client"
FRAME_BYTES_MAX: Final = 1 << 20
STALL_MS_MAX: Final = 900
"""How long a network may keep what is under way; longer than clients wait."""
NEVER_MS: Final = 1 << 62
_SCRATCH: Final = memoryview(bytearray(FRAME_BYTES_MAX))
"""Where all sessions receive, as all connections of a node do."""

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
    def __init__(self, clock: SimulatedClock, timers: Timers, random: Random, machine: Machine) -> None:
        self.clock = clock
        self.timers = timers
        self.random = random
        self.machine = machine
        self.weather = Weather()
        self.requests = 0
        self._links: list[Link] = []
        self._dirty: list[Link] = []

    def connect(self, client_id: str) -> "Link":
        link = Link(self, client_id)
        self._links.append(link)
        return link

    def delay_ms(self) -> int:
        return int(self.random.random() * (self.weather.delay_ms_max + 1))

    def has_answers(self, link: "Link") -> None:
        self._dirty.append(link)

    def flush(self) -> None:
        """Send off what sessions have answered in this turn."""
        while self._dirty:
            dirty, self._dirty = self._dirty, []
            for link in dirty:
                link.carry_back()

    def forget(self, link: "Link") -> None:
        if link in self._links:
            self._links.remove(link)

    def cut_all(self) -> None:
        """The machine has lost its power."""
        links, self._links = self._links, []
        self._dirty.clear()
        for link in links:
            link.cut()


class Link:
    def __init__(self, network: Network, client_id: str) -> None:
        self._network = network
        self._client_id = client_id
        self._session: KafkaSession | None = None
        self._asked: deque[tuple[int, int, Then, int]] = deque()
        """Key, version, who wants to know, and until when, of each request without an answer."""
        self._looks_ms = NEVER_MS
        """When the client will look next whether it has waited long enough."""
        self._arrives_ms = self._returns_ms = 0
        """When the last piece under way arrives: none overtakes it."""
        self._held_until_ms = 0
        """The network keeps what is under way to the broker until then."""
        self._received = bytearray()
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
        frame = encode_request(request, version, 0, self._client_id)
        data = INT32.pack(len(frame)) + frame
        due_ms = now_ms + timeout_ms
        self._asked.append((request.API_KEY, version, then, due_ms))
        if due_ms < self._looks_ms:
            self._look_after(due_ms)
        self._arrives_ms = max(self._arrives_ms, now_ms + network.delay_ms())
        delay_ms = self._arrives_ms - now_ms
        if weather.stall and random() < weather.stall:
            self._held_until_ms = now_ms + network.random.randint(0, STALL_MS_MAX)
        if weather.cut and random() < weather.cut:
            does_arrive = random() < 0.5
            network.timers.after(delay_ms, lambda: self._arrive(data, is_last=True, is_lost=not does_arrive))
        else:
            network.timers.after(delay_ms, lambda: self._arrive(data))

    def _look_after(self, due_ms: int) -> None:
        """Answers come in order, so that the oldest request decides how long a client waits."""
        self._looks_ms = due_ms
        self._network.timers.after(due_ms - self._network.clock.now_ms, self._look)

    def _look(self) -> None:
        now_ms = self._network.clock.now_ms
        if now_ms < self._looks_ms:
            return  # Another look, set since, will come first.
        self._looks_ms = NEVER_MS
        if self._asked:
            due_ms = self._asked[0][3]
            if due_ms <= now_ms:
                self.abandon()
            else:
                self._look_after(due_ms)

    def _arrive(self, data: bytes, *, is_last: bool = False, is_lost: bool = False) -> None:
        if self._is_broken or not self._network.machine.is_up:
            self.cut()
            return
        held_ms = self._held_until_ms - self._network.clock.now_ms
        if held_ms > 0:
            self._network.timers.after(held_ms, lambda: self._arrive(data, is_last=is_last, is_lost=is_lost))
            return
        if not is_lost:
            self._deliver(data)
        if is_last:
            self.cut()

    def _deliver(self, data: bytes) -> None:
        session = self._session
        if session is None:
            session = self._session = KafkaSession(
                self._network.machine.protocol, HOST, HERE, lambda: self._network.has_answers(self)
            )
        session.space(_SCRATCH)[: len(data)] = data
        try:
            session.received(len(data), _SCRATCH)
        except DecodeError:
            self._network.has_answers(self)
            self._network.flush()
            self.cut()
        else:
            if session.out_bytes:
                self._network.has_answers(self)

    # -- and back --------------------------------------------------------------------------------

    def carry_back(self) -> None:
        if self._session is None or self._is_broken:
            return
        data = b"".join(self._session.data_to_send())
        if data and self.is_open:
            network = self._network
            self._returns_ms = max(self._returns_ms, network.clock.now_ms + network.delay_ms())
            network.timers.after(self._returns_ms - network.clock.now_ms, lambda: self._return(data))

    def _return(self, data: bytes) -> None:
        if self._is_broken or not self.is_open:
            return
        received = self._received
        received += data
        while self.is_open and len(received) >= INT32.size:
            end = INT32.size + INT32.unpack_from(received)[0]
            if len(received) < end:
                return
            frame = bytes(received[INT32.size : end])
            del received[:end]
            key, version, then, _ = self._asked.popleft()
            then(decode_response(key, version, frame)[1])

    # -- ends ------------------------------------------------------------------------------------

    def cut(self) -> None:
        """Nothing goes through any more, and both sides know."""
        if not self._is_broken:
            self._is_broken = True
            if self._session is not None:
                self._session.close()
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
            for _, _, then, _ in asked:
                then(None)
