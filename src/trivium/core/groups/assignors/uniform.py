"""``uniform``: everybody gets as much as everybody else, give or take one, and keeps what it has.

Members keep what they hold and may read. What is free goes to whoever has least. Then partitions move from
members with more to members with less, as long as that brings two of them closer together: with equal
subscriptions nothing moves that need not. With different ones a move may make another possible, so the topics
are gone through again, a few times at most.
"""

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush

from trivium.core.groups.assignors.subscriber import Part, Parts, Subscriber

ROUNDS_MAX = 16
"""How often the topics are gone through. A round about halves what is out of balance."""


def assign_uniformly(
    subscribers: Mapping[str, Subscriber], partitions: Mapping[bytes, Sequence[int]]
) -> dict[str, Parts]:
    sharing = _Sharing(subscribers, partitions)
    for topic_id in sharing.topic_ids:
        sharing.hand_out(topic_id)
    for _ in range(ROUNDS_MAX):
        moved = [sharing.balance(topic_id) for topic_id in sharing.topic_ids]
        if not any(moved):
            break
    return sharing.given()


class _Sharing:
    """Who holds what while it is worked out."""

    def __init__(
        self, subscribers: Mapping[str, Subscriber], partitions: Mapping[bytes, Sequence[int]]
    ) -> None:
        self._member_ids = sorted(subscribers)
        self._partitions = partitions
        self._readers: dict[bytes, list[str]] = {topic_id: [] for topic_id in partitions}
        self._owner: dict[Part, str] = {}
        self._load: dict[str, int] = {}
        """How many partitions a member has."""
        there = {(topic_id, number) for topic_id, numbers in partitions.items() for number in numbers}
        for member_id in self._member_ids:
            subscriber = subscribers[member_id]
            for topic_id in subscriber.topic_ids & partitions.keys():
                self._readers[topic_id].append(member_id)
            kept = [
                part
                for part in subscriber.held
                if part in there and part[0] in subscriber.topic_ids and part not in self._owner
            ]
            self._owner.update(dict.fromkeys(kept, member_id))
            self._load[member_id] = len(kept)
        # Those with the fewest readers first: what is left can still be evened out by the others.
        self.topic_ids = sorted(
            (topic_id for topic_id, readers in self._readers.items() if readers),
            key=lambda topic_id: (len(self._readers[topic_id]), topic_id),
        )

    def hand_out(self, topic_id: bytes) -> None:
        """Give every free partition of a topic to the reader that has least."""
        least = _Least(self._load, self._readers[topic_id])
        for number in self._partitions[topic_id]:
            if (topic_id, number) not in self._owner:
                self._owner[topic_id, number] = least.take()

    def balance(self, topic_id: bytes) -> bool:
        """Move partitions of a topic from those with more to those with less; whether any has moved. Whoever
        has most gives first: of two who have too much, one may keep it when the other has given.
        """
        least = _Least(self._load, self._readers[topic_id])
        held: dict[str, list[int]] = {}
        for number in self._partitions[topic_id]:
            held.setdefault(self._owner[topic_id, number], []).append(number)
        givers = [(-self._load[owner], owner) for owner in held]
        heapify(givers)
        moved = False
        # Nobody is given so much that it would have to give: an entry that is outdated is one of no giver.
        while givers and self._load[owner := heappop(givers)[1]] > least.load() + 1:
            # Its last, so that members keep their first partitions and a group that grows is easy to follow.
            self._owner[topic_id, held[owner].pop()] = least.take()
            least.lighten(owner)
            moved = True
            if held[owner]:
                heappush(givers, (-self._load[owner], owner))
        return moved

    def given(self) -> dict[str, Parts]:
        parts: dict[str, list[Part]] = {member_id: [] for member_id in self._member_ids}
        for part, member_id in self._owner.items():
            parts[member_id].append(part)
        return {member_id: frozenset(each) for member_id, each in parts.items()}


class _Least:
    """The reader of a topic that has least. Every change adds an entry; those that are outdated are passed
    over when they come up.
    """

    def __init__(self, load: dict[str, int], readers: Sequence[str]) -> None:
        self._load = load
        self._heap = [(load[member_id], member_id) for member_id in readers]
        heapify(self._heap)

    def load(self) -> int:
        while self._heap[0][0] != self._load[self._heap[0][1]]:
            heappop(self._heap)
        return self._heap[0][0]

    def take(self) -> str:
        """Give it one more."""
        self.load()
        member_id = self._heap[0][1]
        self._change(member_id, 1)
        return member_id

    def lighten(self, member_id: str) -> None:
        """Another reader has given one away."""
        self._change(member_id, -1)

    def _change(self, member_id: str, by: int) -> None:
        self._load[member_id] += by
        heappush(self._heap, (self._load[member_id], member_id))
