"""``range``: every topic is cut into stretches, one for each subscriber, in the order of their names.

Topics of the same subscribers and as many partitions are cut alike, so that the same numbers of all of them
meet in one member, as a join wants it. Static members come first and by their instance ids: when they return
under another member id, nothing moves.
"""

from collections.abc import Mapping, Sequence
from itertools import islice

from trivium.core.groups.assignors.subscriber import Part, Parts, Subscriber


def assign_ranges(
    subscribers: Mapping[str, Subscriber], partitions: Mapping[bytes, Sequence[int]]
) -> dict[str, Parts]:
    given: dict[str, list[Part]] = {member_id: [] for member_id in subscribers}
    order = sorted(subscribers, key=lambda member_id: _place(member_id, subscribers[member_id]))
    for topic_id, numbers in partitions.items():
        readers = [member_id for member_id in order if topic_id in subscribers[member_id].topic_ids]
        if not readers:
            continue
        share, longer = divmod(len(numbers), len(readers))
        left = iter(numbers)
        for rank, member_id in enumerate(readers):
            given[member_id] += [(topic_id, number) for number in islice(left, share + (rank < longer))]
    return {member_id: frozenset(parts) for member_id, parts in given.items()}


def _place(member_id: str, subscriber: Subscriber) -> tuple[bool, str]:
    if subscriber.instance_id is None:
        return True, member_id
    return False, subscriber.instance_id
