"""Within one generation of a group a partition has one owner: *double assignment*.

Members that have not heard of a newer generation yet may still hold what they had; that they get nothing done
with it is for ``epochs`` to see.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from trivium.testing.history.anomaly import Anomaly, AnomalyKind, Witness, witness
from trivium.testing.history.operation import Assign, Operation, Place

GENERATIONS_KEPT: Final = 100
"""Of each group: an assignment that is reported so much later than its successors is not looked at."""


class Assignments:
    acts: Final = (Assign,)

    def __init__(self) -> None:
        self._owners: dict[str, dict[int, dict[Place, Witness]]] = defaultdict(dict)

    def observe(self, operation: Operation) -> Iterator[Anomaly]:
        assign = operation.act
        if not isinstance(assign, Assign) or not operation.is_ok:
            return
        generations = self._owners[assign.group]
        owners = generations.setdefault(assign.generation, {})
        told_by = witness(operation)
        for place in assign.partitions:
            owner = owners.setdefault(place, told_by)
            if owner.process != operation.process:
                what = (
                    f"{place[0]}-{place[1]} is assigned to {owner.process} and to {operation.process} "
                    f"in generation {assign.generation} of group {assign.group!r}"
                )
                yield Anomaly(AnomalyKind.DOUBLE_ASSIGNMENT, what, (owner, told_by))
        if len(generations) > GENERATIONS_KEPT:
            del generations[min(generations)]

    def finish(self) -> Iterator[Anomaly]:
        return iter(())
