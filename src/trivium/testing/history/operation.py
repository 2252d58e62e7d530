"""What a client did and what it was told: the values that a history consists of.

An operation begins when a client asks (``invoke``) and ends when it knows the outcome (``end``), both in
nanoseconds of one clock for all processes. Of two operations one is *before* the other if it ended before the
other began; otherwise they happened at the same time, and either order is right.

Values are strings, and no two sends of a history have one in common: a value tells its send.
"""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

Place = tuple[str, int]
"""A topic and a partition."""

Headers = tuple[tuple[str, str], ...]


class Outcome(Enum):
    OK = "ok"
    FAIL = "fail"
    """Refused: it certainly has had no effect, and never will have."""
    UNKNOWN = "unknown"
    """No answer: it may have happened, may happen later, or never."""


class Protocol(Enum):
    KAFKA = "kafka"
    IGGY = "iggy"
    RUSTLOG = "rustlog"


class Record(NamedTuple):
    """A record as a poll shows it. What the protocol does not show is None and is not compared."""

    offset: int
    value: str
    time_ms: int | None = None
    headers: Headers | None = None


@dataclass(frozen=True, slots=True)
class Send:
    topic: str
    partition: int
    values: tuple[str, ...]
    offsets: tuple[int, ...] | None = None
    """One for each value, from the answer; None where the protocol does not tell."""
    txn: str | None = None
    """The transaction it belongs to; each has a name of its own."""
    producer: str | None = None
    epoch: int | None = None


@dataclass(frozen=True, slots=True)
class Poll:
    """A read that goes on where the same process stopped reading this partition, unless it ``seeks``."""

    topic: str
    partition: int
    offset: int
    """Where it was asked to begin."""
    next: int | None = None
    """Where to read on; None without an answer."""
    records: tuple[Record, ...] = ()
    committed: bool = True
    """Records of open and aborted transactions are not wanted."""
    seeks: bool = False
    watermark: int | None = None
    stable: int | None = None
    start: int | None = None


class Decision(Enum):
    INIT = "init"
    """A producer begins a new epoch; what it had open is aborted."""
    COMMIT = "commit"
    ABORT = "abort"


@dataclass(frozen=True, slots=True)
class Txn:
    decision: Decision
    txn: str | None = None
    producer: str | None = None
    epoch: int | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """A group's offset, the next to read, is stored."""

    group: str
    topic: str
    partition: int
    offset: int
    generation: int | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """A group's offset is read; None if there is none."""

    group: str
    topic: str
    partition: int
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Assign:
    """A member of a group is told which partitions are its own."""

    group: str
    generation: int
    partitions: tuple[Place, ...]


Act = Send | Poll | Txn | Commit | Committed | Assign


@dataclass(frozen=True, slots=True)
class Operation:
    process: str
    """One client that does one thing after the other."""
    protocol: Protocol
    outcome: Outcome
    invoke: int
    end: int
    act: Act
    line: int = 0
    """In the file, from 1 on: what anomalies refer to."""

    @property
    def is_ok(self) -> bool:
        return self.outcome is Outcome.OK

    def is_before(self, other: "Operation") -> bool:
        return self.end < other.invoke
