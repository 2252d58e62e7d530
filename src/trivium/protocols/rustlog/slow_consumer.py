"""A group that has just fetched and still is far behind (mission 004.27)."""

from typing import Final, NamedTuple

SLOW_CONSUMER_LAG: Final = 10_000
"""Records that a group may be behind before its fetch is worth a warning."""


class SlowConsumer(NamedTuple):
    group_id: str
    topic: str
    partition: int
    lag: int
