"""Partitions that are made and deleted, as far as a budget for them goes (``controller_mutation_rate``)."""

from collections.abc import Callable
from typing import Final

from trivium.core.caller import Caller
from trivium.core.faults import Fault, Refused

AdmitsMutations = Callable[[Caller, int], bool]
"""Whether a caller may make or delete so many now; they count as done then."""

EXCEEDED: Final = "The throttling quota has been exceeded."


def admits_all(_caller: Caller, _partitions: int) -> bool:
    return True


def check_budget(admits: AdmitsMutations, caller: Caller, partitions: int) -> None:
    if not admits(caller, partitions):
        raise Refused(Fault.THROTTLED, EXCEEDED)
