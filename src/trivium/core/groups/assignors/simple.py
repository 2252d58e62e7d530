"""``simple``: for share groups, whose members may read one partition together.

Every partition has a reader, as evenly as with ``uniform``. Members for whom no partition is left over then
join the readers of one, where fewest are. Whoever has something keeps it, as long as that is fair.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from trivium.core.groups.assignors.subscriber import Part, Parts, Subscriber
from trivium.core.groups.assignors.uniform import assign_uniformly


def assign_simply(
    subscribers: Mapping[str, Subscriber], partitions: Mapping[bytes, Sequence[int]]
) -> dict[str, Parts]:
    given = assign_uniformly(subscribers, partitions)
    readers: Counter[Part] = Counter(part for parts in given.values() for part in parts)
    for member_id in sorted(member_id for member_id, parts in given.items() if not parts):
        subscriber = subscribers[member_id]
        open_parts = [
            (topic_id, number)
            for topic_id in sorted(subscriber.topic_ids & partitions.keys())
            for number in partitions[topic_id]
        ]
        if open_parts:
            fewest = min(readers[part] for part in open_parts)
            fair = [part for part in open_parts if readers[part] == fewest]
            chosen = next((part for part in fair if part in subscriber.held), fair[0])
            readers[chosen] += 1
            given[member_id] = frozenset((chosen,))
    return given
