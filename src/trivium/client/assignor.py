"""Who in a group reads what: Kafka's range assignment.

For each topic the partitions in order, the members who want it in the order of their ids: everybody gets a
run of the same length, the first ones get one more where it does not come out even.
"""

from collections.abc import Mapping, Sequence

from trivium.client.topology import TopicPartition


def assign_ranges(
    subscriptions: Mapping[str, Sequence[str]], partitions_counts: Mapping[str, int]
) -> dict[str, list[TopicPartition]]:
    """The partitions of each member, from the topics that each wants and how many partitions those have.

    Topics that nobody knows have no partitions and are not assigned.
    """
    assigned: dict[str, list[TopicPartition]] = {member_id: [] for member_id in sorted(subscriptions)}
    for topic in sorted({topic for topics in subscriptions.values() for topic in topics}):
        interested = [member_id for member_id in assigned if topic in subscriptions[member_id]]
        share, extra = divmod(partitions_counts.get(topic, 0), len(interested))
        start = 0
        for place, member_id in enumerate(interested):
            end = start + share + (place < extra)
            assigned[member_id] += [TopicPartition(topic, index) for index in range(start, end)]
            start = end
    return assigned
