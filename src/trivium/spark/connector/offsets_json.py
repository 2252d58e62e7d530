"""Offsets as Spark writes them down: ``{"topic": {"0": 123}}``, in options and in checkpoints.

Spark compares the offsets of two moments by their text, so topics and partitions are always in order.
"""

import json
from collections.abc import Mapping
from typing import Any

from trivium.client.topology import TopicPartition
from trivium.spark.connector.errors import BadOption

Offsets = dict[str, dict[str, int]]
"""What Spark keeps in its checkpoint."""


def to_json(positions: Mapping[TopicPartition, int]) -> Offsets:
    offsets: Offsets = {}
    for key in sorted(positions):
        offsets.setdefault(key.topic, {})[str(key.partition)] = positions[key]
    return offsets


def from_json(offsets: Mapping[str, Mapping[str, int]]) -> dict[TopicPartition, int]:
    return {
        TopicPartition(topic, int(partition)): offset
        for topic, partitions in offsets.items()
        for partition, offset in partitions.items()
    }


def parse_numbers(option: str, text: str) -> dict[TopicPartition, int]:
    """A number for each partition: the offsets or the times in an option."""
    example = f'{{"topic": {{"0": 23, "1": 42}}}}, not {text!r}.'
    found: dict[TopicPartition, int] = {}
    for topic, partitions in _parse_object(option, text, example).items():
        if not isinstance(partitions, dict):
            raise BadOption(f"{option} wants a number for each partition, such as {example}")
        for partition, number in partitions.items():
            if not partition.isdecimal() or not isinstance(number, int) or isinstance(number, bool):
                raise BadOption(f"{option} wants a number for each partition, such as {example}")
            found[TopicPartition(topic, int(partition))] = number
    if not found:
        raise BadOption(f"{option} names no partition; write {example}")
    return found


def parse_partitions(option: str, text: str) -> list[TopicPartition]:
    """The partitions of ``assign``: ``{"topic": [0, 1]}``."""
    example = f'{{"topic": [0, 1]}}, not {text!r}.'
    found: list[TopicPartition] = []
    for topic, partitions in _parse_object(option, text, example).items():
        if not isinstance(partitions, list) or not all(type(index) is int for index in partitions):
            raise BadOption(f"{option} wants the partitions of each topic, such as {example}")
        found += [TopicPartition(topic, index) for index in partitions]
    if not found:
        raise BadOption(f"{option} names no partition; write {example}")
    return found


def _parse_object(option: str, text: str, example: str) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
    except ValueError as error:
        raise BadOption(f"{option} is not JSON ({error}); write {example}") from error
    if not isinstance(parsed, dict):
        raise BadOption(f"{option} wants a JSON object, such as {example}")
    return parsed
