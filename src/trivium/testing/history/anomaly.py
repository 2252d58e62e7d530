"""What a log must never do, by name, and one case of it in words."""

from enum import Enum
from typing import NamedTuple

from trivium.testing.history.lines import name_of
from trivium.testing.history.operation import Operation


class AnomalyKind(Enum):
    TWO_VALUES = "one offset with two values"
    TWO_OFFSETS = "one value at two offsets"
    LOST_WRITE = "lost write"
    UNSEEN = "unseen at the end"
    MISSED_READ = "a read after an ok send that misses it"
    ABORTED_READ = "aborted read"
    UNCOMMITTED_READ = "uncommitted read"
    TORN_TRANSACTION = "torn transaction"
    SKIPPED_POLL = "skipped poll"
    NON_MONOTONIC_POLL = "non-monotonic poll"
    NON_MONOTONIC_SEND = "non-monotonic send"
    OFFSET_REGRESSION = "committed-offset regression"
    DOUBLE_ASSIGNMENT = "double assignment"
    WATERMARK_REGRESSION = "watermark regression"
    STABLE_REGRESSION = "stable-offset regression"
    START_REGRESSION = "log-start regression"
    PROTOCOLS_DISAGREE = "protocols disagree"
    STALE_EPOCH = "stale epoch accepted"


class Witness(NamedTuple):
    """An operation without its records, to be kept for as long as somebody may refer to it."""

    line: int
    process: str
    protocol: str
    deed: str
    invoke: int
    end: int

    def __str__(self) -> str:
        return f"line {self.line}: {self.deed} of {self.process} through {self.protocol}"


def witness(operation: Operation) -> Witness:
    return Witness(
        operation.line,
        operation.process,
        operation.protocol.value,
        name_of(operation.act),
        operation.invoke,
        operation.end,
    )


class Anomaly(NamedTuple):
    kind: AnomalyKind
    what: str
    """A sentence."""
    witnesses: tuple[Witness, ...]
    """The operations that it rests on."""

    def __str__(self) -> str:
        return f"{self.kind.value}: {self.what} ({'; '.join(map(str, sorted(set(self.witnesses))))})"
