"""Replicas that somebody names by hand. In a cluster of one there is little to choose."""

from collections.abc import Sequence

from trivium.core.faults import Fault, Refused


def check_assignment(replicas: Sequence[int], node_id: int, count_before: int | None = None) -> None:
    """``Refused`` unless a partition can have these replicas. ``count_before``: how many others of its topic
    have.
    """
    if not replicas:
        raise _wrong("an empty replica list.")
    before = None
    for broker_id in sorted(replicas):
        if broker_id != node_id:
            raise _wrong(f"broker {broker_id}, but no such broker is registered.")
        if broker_id == before:
            raise _wrong(f"the broker {broker_id} more than once.")
        before = broker_id
    if count_before not in (None, len(replicas)):
        raise _wrong(
            f"a partition with {len(replicas)} replica(s), but this is not consistent with previous "
            f"partitions, which have {count_before} replica(s)."
        )


def _wrong(what: str) -> Refused:
    return Refused(Fault.INVALID_REPLICA_ASSIGNMENT, f"The manual partition assignment includes {what}")
