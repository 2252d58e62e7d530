"""The edges of a partition only rise: *watermark*, *stable-offset* and *log-start regression*.

A poll is held against the highest edge that any poll had been told which ended before this one began, through
whatever protocol, and over restarts.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from trivium.testing.history.anomaly import Anomaly, AnomalyKind, witness
from trivium.testing.history.frontier import Frontier
from trivium.testing.history.ledger import place_of
from trivium.testing.history.operation import Operation, Place, Poll


class Edges:
    acts: Final = (Poll,)

    def __init__(self) -> None:
        self._frontiers: dict[tuple[Place, AnomalyKind], Frontier] = defaultdict(Frontier)

    def observe(self, operation: Operation) -> Iterator[Anomaly]:
        poll = operation.act
        if not isinstance(poll, Poll) or not operation.is_ok:
            return
        place, told_by = place_of(poll), witness(operation)
        for kind, name, offset in (
            (AnomalyKind.WATERMARK_REGRESSION, "high watermark", poll.watermark),
            (AnomalyKind.STABLE_REGRESSION, "last stable offset", poll.stable),
            (AnomalyKind.START_REGRESSION, "log start", poll.start),
        ):
            if offset is None:
                continue
            frontier = self._frontiers[place, kind]
            highest = frontier.before(operation.invoke)
            if highest is not None and offset < highest[0]:
                what = f"the {name} of {place[0]}-{place[1]} was {highest[0]} and is {offset}"
                yield Anomaly(kind, what, (highest[1], told_by))
            frontier.note(offset, told_by)

    def finish(self) -> Iterator[Anomaly]:
        return iter(())
