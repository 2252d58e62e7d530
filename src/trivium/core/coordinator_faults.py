"""What clients of a coordinator are told when its log has failed: they know coordinators and no logs."""

from typing import Final

from trivium.core.faults import Fault

_UNAVAILABLE: Final = frozenset((Fault.UNKNOWN_TOPIC, Fault.NOT_ENOUGH_REPLICAS, Fault.TIMED_OUT))
_MOVED: Final = frozenset((Fault.STORAGE, Fault.NOT_LEADER, Fault.LEADER_NOT_AVAILABLE))
_TOO_LARGE: Final = frozenset((Fault.MESSAGE_TOO_LARGE, Fault.RECORD_LIST_TOO_LARGE))


def coordinator_fault(fault: Fault) -> Fault:
    if fault in _UNAVAILABLE:
        return Fault.COORDINATOR_NOT_AVAILABLE
    if fault in _MOVED:
        return Fault.NOT_COORDINATOR
    return Fault.INTERNAL if fault in _TOO_LARGE else fault
