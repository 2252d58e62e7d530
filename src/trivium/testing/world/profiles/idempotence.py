"""R13: idempotent producers with one to five requests in flight. What is sent again is there once, in order.

A producer keeps its batches in line until they are acknowledged. When its connection is gone, or something is
refused that may succeed later, it sends all of them again on a new one, while the network may still deliver
those of the old one.
"""

from collections import deque
from dataclasses import dataclass
from typing import Any, Final

from trivium.messages.api.init_producer_id import InitProducerIdRequest
from trivium.messages.api.produce import ProduceRequest
from trivium.messages.errors import ErrorCode
from trivium.testing.history.operation import Send
from trivium.testing.world.machine import NewDisk
from trivium.testing.world.network import Weather
from trivium.testing.world.peer import Peer
from trivium.testing.world.profiles import Played
from trivium.testing.world.reading import Ends
from trivium.testing.world.storage import SimulatedStorage
from trivium.testing.world.story import Begun
from trivium.testing.world.world import Hangs, World
from trivium.testing.world.writing import VERSION, WRITTEN, Identity, produce_request, told

TOPIC: Final = "t"
PARTITIONS: Final = 2
PRODUCERS_MAX: Final = 3
IN_FLIGHT_MAX: Final = 5
PAUSE_MS: Final = 20
PASSES: Final = frozenset(
    (
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    )
)
"""Refusals after which a batch is sent again; the first because one in front of it was lost."""


@dataclass(eq=False, slots=True)
class Batch:
    value: str
    request: ProduceRequest
    begun: Begun


class Producer:
    """Writes to one partition."""

    def __init__(self, world: World, name: str, partition: int, in_flight_max: int) -> None:
        self._world = world
        self._peer = Peer(world, name)
        self._name = name
        self._partition = partition
        self._in_flight_max = in_flight_max
        self._identity: Identity | None = None
        self._line: deque[Batch] = deque()
        self._sent = 0
        """So many of the line are under way."""
        self._sequence = 0
        self._is_known = False
        """A broker takes any number from a producer that it does not know: until it does, one at a time."""
        self._pauses = False
        self.refused: list[str] = []
        self._identify()

    @property
    def is_done(self) -> bool:
        return not self._line and not self._world.goes_on

    def _identify(self) -> None:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        self._peer.ask(request, 5, self._identified)

    def _identified(self, answer: Any) -> None:
        if answer is None or answer.error_code:
            self._world.agenda.after(PAUSE_MS, self._identify)
        else:
            self._identity = Identity(answer.producer_id, answer.producer_epoch)
            self._go_on()

    def _go_on(self) -> None:
        """Send as much as may be under way."""
        limit = self._in_flight_max if self._is_known else 1
        while not self._pauses and self._sent < limit:
            if self._sent == len(self._line):
                if not self._world.goes_on:
                    return
                self._line.append(self._new_batch())
            batch = self._line[self._sent]
            self._sent += 1
            self._send(batch)

    def _new_batch(self) -> Batch:
        assert self._identity is not None
        value = f"{self._name}/{self._sequence}"
        request = produce_request(TOPIC, self._partition, value, self._identity, self._sequence)
        begun = self._world.story.begin(
            f"{self._name}/{self._sequence % IN_FLIGHT_MAX}", Send(TOPIC, self._partition, (value,))
        )
        self._sequence += 1
        return Batch(value, request, begun)

    def _send(self, batch: Batch) -> None:
        self._peer.ask(batch.request, VERSION, lambda answer: self._answered(batch, answer))

    def _answered(self, batch: Batch, answer: Any) -> None:
        code = None if answer is None else ErrorCode.of(told(answer).error_code)
        if code is not None and code in WRITTEN:
            self._acknowledged(batch, told(answer).base_offset)
        elif code is None or code in PASSES:
            self._send_again()
        else:
            self.refused.append(f"{batch.value} was refused with {code.name}")
            self._send_again()

    def _acknowledged(self, batch: Batch, offset: int) -> None:
        assert self._line[0] is batch, "answers come in the order of requests"
        self._line.popleft()
        self._sent -= 1
        self._is_known = True
        offsets = None if offset < 0 else (offset,)
        batch.begun.ok(Send(TOPIC, self._partition, (batch.value,), offsets=offsets))
        self._go_on()

    def _send_again(self) -> None:
        """All of them, on another connection, after a pause."""
        if not self._pauses:
            self._pauses = True
            self._peer.hang_up()
            self._sent = 0
            self._world.agenda.after(PAUSE_MS, self._resume)

    def _resume(self) -> None:
        self._pauses = False
        self._go_on()


def play(seed: int, operations: int, new_disk: NewDisk = SimulatedStorage) -> Played:
    world = World(
        seed,
        {TOPIC: PARTITIONS},
        operations=operations,
        weather=Weather(),
        power_losses=2,
        new_disk=new_disk,
    )
    random = world.random
    producers = [
        Producer(world, f"p{number}", random.randrange(PARTITIONS), random.randint(1, IN_FLIGHT_MAX))
        for number in range(random.randint(1, PRODUCERS_MAX))
    ]
    wrong: list[str] = []
    try:
        world.run_until(lambda: not world.goes_on)
        world.clear_up()
        world.run_until(lambda: all(each.is_done for each in producers))
        ends = Ends(world)
        wrong += [f"{place} is out of order: {values}" for place, values in _disordered(ends)]
    except Hangs:
        wrong.append("a producer never gets its records acknowledged")
    wrong += [sentence for each in producers for sentence in each.refused]
    return Played(world, wrong)


def _disordered(ends: Ends) -> list[tuple[tuple[str, int], list[str]]]:
    """Partitions in which a producer's records are not in the order in which it sent them."""
    found = []
    for place, values in ends.values.items():
        by_producer: dict[str, list[int]] = {}
        for value in values:
            name, number = value.split("/")
            by_producer.setdefault(name, []).append(int(number))
        if any(numbers != sorted(numbers) for numbers in by_producer.values()):
            found.append((place, values))
    return found
