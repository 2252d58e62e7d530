"""What to read: topics by name (``subscribe``), by pattern, or single partitions (``assign``)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from trivium.client.topology import TopicPartition
from trivium.spark.connector.errors import BadOption
from trivium.spark.connector.offsets_json import parse_partitions
from trivium.spark.connector.origin import Origin


@dataclass(frozen=True, slots=True)
class Topics:
    names: tuple[str, ...]

    def find(self, origin: Origin) -> list[TopicPartition]:
        return [key for name in self.names for key in origin.partitions(name)]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Every topic whose whole name matches, also one that comes later; none of the cluster's own."""

    pattern: str

    def find(self, origin: Origin) -> list[TopicPartition]:
        expression = re.compile(self.pattern)
        return [
            key
            for name in origin.topic_names()
            if expression.fullmatch(name)
            for key in origin.partitions(name)
        ]


@dataclass(frozen=True, slots=True)
class Partitions:
    keys: tuple[TopicPartition, ...]

    def find(self, origin: Origin) -> list[TopicPartition]:
        for topic in dict.fromkeys(key.topic for key in self.keys):
            there = origin.partitions(topic)
            missing = [key for key in self.keys if key.topic == topic and key not in there]
            if missing:
                raise BadOption(
                    f"assign names partition {missing[0].partition} of topic {topic}, which has "
                    f"{len(there)} partitions, numbered from 0."
                )
        return list(self.keys)


Subscription: TypeAlias = Topics | Pattern | Partitions

_WAYS = ("subscribe", "subscribePattern", "assign")


def parse_subscription(options: Mapping[str, str]) -> Subscription:
    """From the one option of the three that is there; ``options`` by lower-case names."""
    given = [way for way in _WAYS if way.lower() in options]
    if len(given) != 1:
        said = f"not {' and '.join(given)}" if given else "none is there"
        raise BadOption(f"Say what to read by one of subscribe, subscribePattern and assign; {said}.")
    (way,) = given
    text = options[way.lower()]
    if way == "assign":
        return Partitions(tuple(dict.fromkeys(parse_partitions(way, text))))
    if way == "subscribePattern":
        try:
            re.compile(text)
        except re.error as error:
            raise BadOption(f"subscribePattern {text!r} is no regular expression: {error}.") from error
        return Pattern(text)
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise BadOption("subscribe names no topic; write one, or several with commas between.")
    return Topics(names)
