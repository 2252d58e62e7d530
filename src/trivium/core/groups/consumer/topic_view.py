"""The topics of the cluster, as a consumer group looks at them."""

from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Final, NamedTuple

from trivium.core.groups.assignors.subscriber import Part
from trivium.core.metadata_topics import Topic

_HASH_BYTES: Final = 8


class TopicView(NamedTuple):
    by_name: Mapping[str, Topic]
    by_id: Mapping[bytes, Topic]
    metadata_offset: int
    """Up to where the metadata log is known: as long as it stays, no topic has changed."""
    may_see: Callable[[str], bool] = lambda _name: True
    """Whether whoever is served now may know of a topic."""

    def ids_of(self, names: Iterable[str]) -> frozenset[bytes]:
        """What is not there is left out."""
        by_name = self.by_name
        return frozenset(by_name[name].topic_id for name in names if name in by_name)

    def hash_of(self, names: Iterable[str]) -> int:
        """Says whether topics are still the same, with as many partitions: 64 bits, 0 if there are none.

        Kafka has another one. A group that moves between the two shares its work once more than it had to.
        """
        digest, is_empty = blake2b(digest_size=_HASH_BYTES), True
        for name in sorted(names):
            topic = self.by_name.get(name)
            if topic is not None:
                is_empty = False
                digest.update(topic.topic_id)
                digest.update(repr(sorted(topic.partitions)).encode())
        return 0 if is_empty else int.from_bytes(digest.digest(), "big", signed=True)

    def by_topic_name(self, parts: Iterable[Part]) -> dict[str, list[int]]:
        """Numbers by the names of topics; what is there no longer is left out."""
        numbers: dict[str, list[int]] = {}
        for topic_id, number in sorted(parts):
            topic = self.by_id.get(topic_id)
            if topic is not None:
                numbers.setdefault(topic.name, []).append(number)
        return numbers
