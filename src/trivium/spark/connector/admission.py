"""How much of the backlog a micro-batch of a stream may take."""

from collections.abc import Mapping

from trivium.client.topology import TopicPartition


def backlog(
    starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """How many offsets each partition has to offer. One without a start is new, and all of it counts."""
    return {key: max(end - starts.get(key, 0), 0) for key, end in ends.items()}


def admit(
    starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int], offsets_max: int
) -> dict[TopicPartition, int]:
    """Ends that are at most ``offsets_max`` offsets away in all, split in proportion to each backlog.

    What rounding leaves goes to the partitions with the largest backlog, so that a limit smaller than the
    number of partitions still moves on.
    """
    waiting = backlog(starts, ends)
    total = sum(waiting.values())
    if total <= offsets_max:
        return dict(ends)
    shares = {key: size * offsets_max // total for key, size in waiting.items()}
    rest = offsets_max - sum(shares.values())
    for key in sorted(waiting, key=lambda key: (-waiting[key], key))[:rest]:
        shares[key] += 1
    return {key: starts.get(key, 0) + shares[key] if waiting[key] else end for key, end in ends.items()}
