"""Ranges of offsets, one for each task: what the driver plans and an executor reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql.datasource import InputPartition

from trivium.client.topology import TopicPartition


@dataclass(frozen=True)
class OffsetRange(InputPartition):
    """``[offset_start, offset_end)`` of one partition."""

    topic: str
    partition: int
    offset_start: int
    offset_end: int
    topic_id: str = ""
    """In hexadecimal digits, of the topic that these offsets are of; empty where nobody knows."""

    @property
    def key(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)

    @property
    def size(self) -> int:
        return self.offset_end - self.offset_start

    def __str__(self) -> str:
        return f"{self.key} [{self.offset_start}, {self.offset_end})"


def make_ranges(
    starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
) -> list[OffsetRange]:
    """One for each partition that has anything between start and end, in order. A partition without a start
    is new: it is read from its first offset on."""
    return [
        OffsetRange(key.topic, key.partition, starts.get(key, 0), ends[key])
        for key in sorted(ends)
        if starts.get(key, 0) < ends[key]
    ]


def split_ranges(
    ranges: Sequence[OffsetRange], count_min: int | None, size_max: int | None
) -> list[OffsetRange]:
    """So many ranges at least, the large ones cut, and none with more than ``size_max`` offsets."""
    parts = dict.fromkeys(ranges, 1)
    if size_max is not None:
        parts = {each: -(-each.size // size_max) for each in ranges}
    total = sum(each.size for each in ranges)
    wanted = min(count_min or 0, total)
    if sum(parts.values()) < wanted:
        parts = {each: max(parts[each], each.size * wanted // total) for each in ranges}
        while sum(parts.values()) < wanted:
            largest = max(ranges, key=lambda each: each.size / parts[each])
            parts[largest] += 1
    return [piece for each in ranges for piece in _cut(each, parts[each])]


def _cut(whole: OffsetRange, parts: int) -> list[OffsetRange]:
    edges = [whole.offset_start + whole.size * number // parts for number in range(parts + 1)]
    return [
        replace(whole, offset_start=edges[number], offset_end=edges[number + 1]) for number in range(parts)
    ]
