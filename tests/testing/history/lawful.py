"""Histories that a sound log could have had: every operation takes effect at one moment of its life.

Processes do one thing after the other, and all of them at the same time. What has no answer may have had
its effect or not. One seed, one history.
"""

from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

from trivium.testing.history import (
    Commit,
    Committed,
    Decision,
    Operation,
    Outcome,
    Poll,
    Protocol,
    Record,
    Send,
    Txn,
)
from trivium.testing.history.operation import Act

TOPIC, GROUP = "orders", "readers"
POLLED_MAX = 8


@dataclass
class Model:
    """A partition: what lies at each offset, and which transactions are open or aborted."""

    log: list[tuple[str | None, str | None]] = field(default_factory=list)
    """Value and transaction; a marker has no value."""
    open: dict[str, int] = field(default_factory=dict)
    aborted: set[str] = field(default_factory=set)
    stored: int | None = None

    @property
    def stable(self) -> int:
        return min(self.open.values(), default=len(self.log))

    def send(self, values: tuple[str, ...], txn: str | None) -> tuple[int, ...]:
        first = len(self.log)
        if txn is not None:
            self.open.setdefault(txn, first)
        self.log += [(value, txn) for value in values]
        return tuple(range(first, len(self.log)))

    def decide(self, txn: str, decision: Decision) -> None:
        if self.open.pop(txn, None) is not None:
            self.log.append((None, txn))
        if decision is Decision.ABORT:
            self.aborted.add(txn)

    def poll(self, offset: int, committed: bool, protocol: Protocol) -> Poll:
        end = self.stable if committed else len(self.log)
        stop = min(end, offset + POLLED_MAX)
        records = tuple(
            Record(at, value)
            for at, (value, txn) in enumerate(self.log[offset:stop], offset)
            if value is not None and not (committed and txn in self.aborted)
        )
        watermark = len(self.log) if protocol is Protocol.KAFKA else None
        return Poll(
            TOPIC, 0, offset, max(offset, stop), records, committed, watermark=watermark, stable=self.stable
        )


class Process:
    def __init__(self, name: str, protocol: Protocol, choice: Random) -> None:
        self.name = name
        self.protocol = protocol
        self._choice = choice
        self._committed = protocol is not Protocol.KAFKA or choice.random() < 0.5
        self._position = 0
        self._sent = 0
        self._begun = 0
        self._txn: str | None = None

    def act(self, model: Model, outcome: Outcome) -> Act:
        """Choose something, and do it to the model if it has an effect."""
        happens = outcome is Outcome.OK or (outcome is Outcome.UNKNOWN and self._choice.random() < 0.5)
        return self._choice.choice(
            (self._send, self._send, self._poll, self._poll, self._decide, self._offset)
        )(model, outcome, happens)

    def _send(self, model: Model, outcome: Outcome, happens: bool) -> Act:
        self._sent += 1
        values = tuple(f"{self.name}.{self._sent}.{number}" for number in range(self._choice.randint(1, 3)))
        offsets = model.send(values, self._txn) if happens else None
        told = outcome is Outcome.OK and self.protocol is not Protocol.IGGY
        return Send(TOPIC, 0, values, offsets if told else None, self._txn)

    def _poll(self, model: Model, outcome: Outcome, happens: bool) -> Act:
        if outcome is not Outcome.OK:
            return Poll(TOPIC, 0, self._position)
        poll = model.poll(self._position, self._committed, self.protocol)
        assert poll.next is not None
        self._position = poll.next
        return poll

    def _decide(self, model: Model, outcome: Outcome, happens: bool) -> Act:
        if self._txn is None or outcome is Outcome.FAIL:
            self._begun += 1
            self._txn = self._txn or f"{self.name}/{self._begun}"
            return Txn(Decision.INIT, producer=self.name)
        txn, self._txn = self._txn, None
        decision = self._choice.choice((Decision.COMMIT, Decision.ABORT))
        if happens:
            model.decide(txn, decision)
        return Txn(decision, txn)

    def _offset(self, model: Model, outcome: Outcome, happens: bool) -> Act:
        if self._choice.random() < 0.5:
            return Committed(GROUP, TOPIC, 0, model.stored)
        if happens:
            model.stored = self._position
        return Commit(GROUP, TOPIC, 0, self._position)


class Life(NamedTuple):
    """Of an operation, and the moment of its effect in between."""

    effect: int
    invoke: int
    end: int
    process: Process


def lawful_history(seed: int, operations: int) -> list[Operation]:
    choice, model = Random(seed), Model()
    lives: list[Life] = []
    for protocol in Protocol:
        for number in range(2):
            process, now = Process(f"{protocol.value}-{number}", protocol, choice), 0
            for _ in range(operations // 6):
                invoke = now + choice.randint(1, 10)
                effect = invoke + choice.randint(0, 10)
                now = effect + choice.randint(0, 10)
                lives.append(Life(effect, invoke, now, process))
    history = [_lived(life, model, choice) for life in sorted(lives, key=lambda life: life.effect)]
    for txn in list(model.open):
        model.decide(txn, Decision.ABORT)
    history += _read_to_the_end(model, max(each.end for each in history))
    history.sort(key=lambda each: each.end)
    return [replace(each, line=line) for line, each in enumerate(history, 1)]


def _lived(life: Life, model: Model, choice: Random) -> Operation:
    (outcome,) = choice.choices((Outcome.OK, Outcome.UNKNOWN, Outcome.FAIL), (8, 1, 1))
    process = life.process
    act = process.act(model, outcome)
    return Operation(process.name, process.protocol, outcome, life.invoke, life.end, act)


def _read_to_the_end(model: Model, now: int) -> list[Operation]:
    found, offset = [], 0
    while offset < len(model.log):
        poll = model.poll(offset, True, Protocol.KAFKA)
        assert poll.next is not None
        offset, now = poll.next, now + 10
        found.append(Operation("reader", Protocol.KAFKA, Outcome.OK, now, now + 5, poll))
    return found
