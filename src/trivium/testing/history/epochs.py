"""Whoever has a successor gets nothing done any more: *stale epoch accepted*.

Producers have epochs, members of groups have generations. Once somebody was given a higher one, no
operation that begins afterwards with a lower one may succeed.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from trivium.testing.history.anomaly import Anomaly, AnomalyKind, witness
from trivium.testing.history.frontier import Frontier
from trivium.testing.history.operation import Assign, Commit, Operation, Send, Txn


class Epochs:
    acts: Final = (Send, Txn, Commit, Assign)

    def __init__(self) -> None:
        self._frontiers: dict[str, Frontier] = defaultdict(Frontier)

    def observe(self, operation: Operation) -> Iterator[Anomaly]:
        holder, epoch = _claimed(operation)
        if not operation.is_ok or holder is None or epoch is None:
            return
        told_by = witness(operation)
        frontier = self._frontiers[holder]
        highest = frontier.before(operation.invoke)
        if highest is not None and epoch < highest[0]:
            what = f"{holder} was at epoch {highest[0]}, and epoch {epoch} was still served"
            yield Anomaly(AnomalyKind.STALE_EPOCH, what, (highest[1], told_by))
        frontier.note(epoch, told_by)

    def finish(self) -> Iterator[Anomaly]:
        return iter(())


def _claimed(operation: Operation) -> tuple[str | None, int | None]:
    """Whose epoch the operation was carried out under, and which."""
    act = operation.act
    if isinstance(act, Send | Txn) and act.producer is not None:
        return f"producer {act.producer!r}", act.epoch
    if isinstance(act, Commit | Assign):
        return f"group {act.group!r}", act.generation
    return None, None
