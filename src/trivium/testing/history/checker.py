"""All detectors over one history, in one pass and an epilogue; what they find, counted by kind.

The history comes in the order of its operations' ends, as ``Recorder`` writes it. What is kept of it is
one entry for each record and whatever is still open; a history may be longer than memory holds as
operations.

It speaks about logs that keep their records: on a compacted topic gaps would be taken for losses.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, Protocol, get_args

from trivium.testing.history.anomaly import Anomaly, AnomalyKind
from trivium.testing.history.assignments import Assignments
from trivium.testing.history.committed_offsets import CommittedOffsets
from trivium.testing.history.contents import Contents
from trivium.testing.history.edges import Edges
from trivium.testing.history.epochs import Epochs
from trivium.testing.history.isolation import Isolation
from trivium.testing.history.ledger import Ledger
from trivium.testing.history.operation import Act, Operation
from trivium.testing.history.poll_order import PollOrder
from trivium.testing.history.send_order import SendOrder
from trivium.testing.history.visibility import Visibility

KEPT_PER_KIND: Final = 10
"""Anomalies that a verdict shows; the others of the same kind are only counted. One bug makes many."""


class Detector(Protocol):
    @property
    def acts(self) -> tuple[type[Act], ...]:
        """What it looks at; it is shown nothing else."""
        ...

    def observe(self, operation: Operation) -> Iterator[Anomaly]: ...
    def finish(self) -> Iterator[Anomaly]:
        """What can only be said when the history is over."""
        ...


class OutOfOrder(Exception):
    """An operation that ended before the one in front of it: sort the history by ``end``."""


@dataclass
class Verdict:
    operations: int = 0
    counts: Counter[AnomalyKind] = field(default_factory=Counter)
    anomalies: list[Anomaly] = field(default_factory=list)
    """The first of each kind."""

    @property
    def is_clean(self) -> bool:
        return not self.anomalies

    def __str__(self) -> str:
        if self.is_clean:
            return f"{self.operations:,} operations, no anomaly"
        lines = [f"{self.operations:,} operations"]
        lines += [f"  {count:,} x {kind.value}" for kind, count in self.counts.most_common()]
        return "\n".join((*lines, *map(str, self.anomalies)))

    def add(self, anomaly: Anomaly) -> None:
        self.counts[anomaly.kind] += 1
        if self.counts[anomaly.kind] <= KEPT_PER_KIND:
            self.anomalies.append(anomaly)


def check(history: Iterable[Operation]) -> Verdict:
    verdict = Verdict()
    for anomaly in find_anomalies(_counted(history, verdict)):
        verdict.add(anomaly)
    return verdict


def find_anomalies(history: Iterable[Operation]) -> Iterator[Anomaly]:
    """Every anomaly, as soon as it shows."""
    ledger = Ledger()
    detectors: tuple[Detector, ...] = (
        Contents(ledger),  # Writes the ledger: the first.
        Visibility(ledger),
        Isolation(ledger),
        PollOrder(ledger),
        SendOrder(ledger),
        CommittedOffsets(),
        Assignments(),
        Edges(),
        Epochs(),
    )
    watching = {
        act: [detector.observe for detector in detectors if act in detector.acts] for act in get_args(Act)
    }
    now = 0
    for operation in history:
        if operation.end < now:
            raise OutOfOrder(
                f"line {operation.line} ended before the line in front of it: sort the history by its ends"
            )
        now = operation.end
        for observe in watching[type(operation.act)]:
            yield from observe(operation)
    yield from chain.from_iterable(detector.finish() for detector in detectors)


def _counted(history: Iterable[Operation], verdict: Verdict) -> Iterator[Operation]:
    for operation in history:
        verdict.operations += 1
        yield operation
