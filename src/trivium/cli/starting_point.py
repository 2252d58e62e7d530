"""Where in a topic to begin, as people say it: an end, an offset, a distance from the end, or a time.

earliest, latest        the first record, or only those still to come
1000                    this offset, in each partition that has it
-10                     the last ten of each partition
2025-06-15T10:30        the first record of that time or later (UTC unless it says otherwise)
@1750000000000          the same, in milliseconds since 1970
15m                     the first record of the last 15 minutes (s, m, h, d)
"""

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Final

import click

from trivium.client.cluster import Cluster
from trivium.client.errors import ClientError, settled
from trivium.client.offsets import Isolation, list_offsets, offset_ranges
from trivium.client.topology import TopicPartition

OFFSET_MAX: Final = (1 << 63) - 1

_DURATION: Final = re.compile(r"(\d{1,9})([smhd])")
_UNIT_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class Kind(Enum):
    EARLIEST = "earliest"
    LATEST = "latest"
    OFFSET = "offset"
    BEFORE_END = "before the end"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class StartingPoint:
    kind: Kind
    number: int = 0
    """An offset, a distance, or milliseconds since 1970."""

    def resolve(
        self,
        cluster: Cluster,
        keys: Iterable[TopicPartition],
        isolation: Isolation = Isolation.READ_COMMITTED,
    ) -> dict[TopicPartition, int]:
        """The offset in each partition."""
        ranges = offset_ranges(cluster, keys, isolation=isolation)
        if self.kind is Kind.TIME:
            return self._by_time(cluster, ranges, isolation)
        if self.kind is Kind.OFFSET and not any(
            start <= self.number <= end for start, end in ranges.values()
        ):
            raise ClientError(_no_such_offset(self.number, ranges))
        return {key: self._in_range(start, end) for key, (start, end) in ranges.items()}

    def _in_range(self, start: int, end: int) -> int:
        if self.kind is Kind.EARLIEST:
            return start
        if self.kind is Kind.LATEST:
            return end
        wanted = self.number if self.kind is Kind.OFFSET else end - self.number
        return min(max(wanted, start), end)

    def _by_time(
        self, cluster: Cluster, ranges: dict[TopicPartition, tuple[int, int]], isolation: Isolation
    ) -> dict[TopicPartition, int]:
        found = list_offsets(cluster, dict.fromkeys(ranges, self.number), isolation=isolation)
        offsets = {key: settled(outcome).offset for key, outcome in found.items()}
        return {key: offset if offset >= 0 else ranges[key][1] for key, offset in offsets.items()}


def starting_point(ctx: click.Context, param: click.Parameter, value: str | None) -> StartingPoint | None:
    """For click: the text of an option as a ``StartingPoint``."""
    if value is None:
        return None
    point = parse_starting_point(value)
    if point is None:
        raise click.BadParameter(
            f"'{value}' is no place in a topic; say earliest, latest, an offset, -N for the last N, a time "
            "such as 2025-06-15T10:30, or how long ago, such as 15m."
        )
    return point


def parse_starting_point(text: str) -> StartingPoint | None:
    """None where the text means nothing."""
    if text in (Kind.EARLIEST.value, Kind.LATEST.value):
        return StartingPoint(Kind(text))
    if re.fullmatch(r"\d{1,19}", text) and int(text) <= OFFSET_MAX:
        return StartingPoint(Kind.OFFSET, int(text))
    if re.fullmatch(r"-\d{1,18}", text):
        return StartingPoint(Kind.BEFORE_END, int(text[1:]))
    if re.fullmatch(r"@\d{1,15}", text):
        return StartingPoint(Kind.TIME, int(text[1:]))
    duration = _DURATION.fullmatch(text)
    if duration:
        ago_ms = int(duration[1]) * _UNIT_MS[duration[2]]
        return StartingPoint(Kind.TIME, max(0, int(time.time() * 1000) - ago_ms))
    return _parse_moment(text)


def _parse_moment(text: str) -> StartingPoint | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return StartingPoint(Kind.TIME, max(0, int(moment.timestamp() * 1000)))


def _no_such_offset(offset: int, ranges: dict[TopicPartition, tuple[int, int]]) -> str:
    if not ranges:
        return f"There is no partition with the offset {offset}."
    lowest = min(start for start, _ in ranges.values())
    highest = max(end for _, end in ranges.values())
    return f"No partition has the offset {offset}; choose one between {lowest} and {highest}."


EARLIEST_POINT: Final = StartingPoint(Kind.EARLIEST)
