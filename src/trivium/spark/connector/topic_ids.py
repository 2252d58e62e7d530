"""Which topics the offsets of a stream belong to. One that was deleted and made anew has the name of the one
before, and offsets of its own.

Spark's checkpoint has names and offsets only, and a stream cannot tell when Spark has written down what it
answered. So a topic that was made anew is remembered with the offsets at which the one before was left: as
long as Spark comes with these, they are still the old topic's. What is kept for a later process says so, too:
it names the old topic until Spark has come with other offsets. It then knows the answers of all readers of
the query, which keep this together; and one who is already at the beginning has no way to go back.
"""

from collections.abc import Mapping
from typing import Any

from trivium.client.topology import TopicPartition
from trivium.spark.connector.offsets_json import to_json

Positions = Mapping[TopicPartition, int]


class TopicIds:
    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        """In hexadecimal digits; brokers that are too old for them say zeros."""
        self._left: dict[str, dict[str, int]] = {}
        """Where the topic before was left, of each that was made anew since."""
        self._before: dict[str, str] = {}
        """Which topic that was."""

    def begin(self, ids: Mapping[str, bytes]) -> None:
        """A new query reads these."""
        self._ids, self._left = {topic: each.hex() for topic, each in ids.items()}, {}

    def made_anew(self, ids: Mapping[str, bytes], starts: Positions) -> set[str]:
        """The topics that are others than those that were read up to here."""
        offsets = to_json(starts)
        for topic, each in ids.items():
            at, before = offsets.get(topic, {}), self._ids.get(topic, each.hex())
            self._ids[topic] = each.hex()
            if self._left.get(topic, at) != at:
                del self._left[topic]
            if before != each.hex() and any(at.values()):
                if topic not in self._left:
                    self._before[topic] = before
                self._left[topic] = at
        return set(self._left) & set(ids)

    def went_back(self, begins: Positions, starts: Positions) -> None:
        """Where the new topics begin: one that begins where the old one was left has no way to go."""
        offsets = to_json(starts)
        for topic, each in to_json(begins).items():
            if each == offsets.get(topic):
                self._left.pop(topic, None)

    def is_other(self, topic: str, topic_id: bytes) -> bool:
        """Whether a topic is not the one that was read, as far as that is known."""
        return self._ids.get(topic, topic_id.hex()) != topic_id.hex()

    def id_of(self, topic: str) -> str:
        """Of the topic that offsets handed out now are of; empty where it is not known."""
        return self._ids.get(topic, "").strip("0") and self._ids[topic]

    def to_json(self) -> dict[str, Any]:
        return {"ids": self._ids | {topic: self._before[topic] for topic in self._left}}

    def from_json(self, facts: Mapping[str, Any]) -> None:
        ids = facts.get("ids")
        self._ids = dict(ids if isinstance(ids, dict) else facts)  # Older versions kept nothing around them.
