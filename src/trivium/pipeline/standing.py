"""How far a pipeline's flows are: what their groups have committed, and how much lies behind it.

A flow's group is ``<pipeline>.<flow>``; whoever runs the flow commits there what its checkpoint covers.
Behind in seconds is the age of the oldest record that is still to be read: it grows while nothing is done,
whatever comes in.
"""

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from trivium.client.admin_topics import describe_topics
from trivium.client.cluster import Cluster
from trivium.client.deadline import Deadline
from trivium.client.errors import Refused
from trivium.client.fetching import FetchSettings
from trivium.client.group_offsets import committed_offsets
from trivium.client.offsets import EARLIEST, LATEST, FoundOffset, list_offsets
from trivium.client.reader import Reader
from trivium.client.topology import Topic, TopicPartition
from trivium.pipeline.checking.graph import graph_of
from trivium.pipeline.definition import Definition
from trivium.pipeline.flow import Flow
from trivium.pipeline.source import TopicSource
from trivium.pipeline.start import StartKind

PEEK_TIMEOUT_S: Final = 5.0
"""For the first unread records of all partitions together; ages not known by then stay unknown."""

_ONE_BATCH: Final = FetchSettings(partition_max_bytes=1)
"""A broker gives a whole batch where there is one, however small the limit."""


@dataclass(frozen=True, slots=True)
class PartitionStanding:
    """A flow in one partition. None is what is not known."""

    flow: str
    topic: str
    partition: int
    committed: int | None
    """The next offset to read; None where the flow has not committed yet."""

    end: int | None
    lag_records: int | None
    """Offsets between the two, gaps included; of a flow that has not begun, what it would begin with."""

    lag_seconds: float | None


@dataclass(frozen=True, slots=True)
class Standing:
    partitions: tuple[PartitionStanding, ...]
    missing: Mapping[str, Refused]
    """Topics that cannot be looked at, and why."""

    def lag_seconds(self, flow: str) -> float | None:
        """Of the partition that is furthest behind; None where one is not known."""
        ages_s = [each.lag_seconds for each in self.partitions if each.flow == flow]
        known = [age_s for age_s in ages_s if age_s is not None]
        return max(known, default=None) if len(known) == len(ages_s) else None


@dataclass(frozen=True, slots=True)
class _Extent:
    start: int
    end: int


def standing_of(definition: Definition, cluster: Cluster) -> Standing:
    """May raise ``ClientError``."""
    graph = graph_of(definition)
    reading = {flow.name: graph.topic_sources(definition, flow) for flow in definition.flows if flow.sink}
    named = [name for sources in reading.values() for source in sources for name in source.topics]
    outcomes = describe_topics(cluster, dict.fromkeys(named)) if named else {}
    topics = {name: topic for name, topic in outcomes.items() if isinstance(topic, Topic)}
    if any(source.pattern for sources in reading.values() for source in sources):
        topics |= {name: topic for name, topic in cluster.topics().items() if not topic.is_internal}
    extents = _extents(cluster, topics.values())
    places: list[tuple[Flow, TopicPartition, int | None, int | None]] = []
    for flow in definition.flows:
        committed = committed_offsets(cluster, definition.group_of(flow)) if flow.name in reading else {}
        for source in reading.get(flow.name, ()):
            for key in _partitions(source, topics):
                offset = committed[key].offset if key in committed else None
                places.append((flow, key, offset, _next_offset(source, offset, extents.get(key))))
    ages_s = _ages_s(cluster, {(key, at) for _, key, _, at in places if at is not None}, extents)
    return Standing(
        tuple(
            _row(flow, key, offset, at, extents.get(key), ages_s.get((key, at)) if at is not None else None)
            for flow, key, offset, at in places
        ),
        {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, Refused)},
    )


def _extents(cluster: Cluster, topics: Iterable[Topic]) -> dict[TopicPartition, _Extent]:
    keys = [
        TopicPartition(topic.name, partition.index)
        for topic in topics
        for partition in topic.partitions
        if partition.leader_id >= 0
    ]
    if not keys:
        return {}
    starts = list_offsets(cluster, dict.fromkeys(keys, EARLIEST))
    ends = list_offsets(cluster, dict.fromkeys(keys, LATEST))
    return {
        key: _Extent(start.offset, end.offset)
        for key in keys
        if isinstance(start := starts[key], FoundOffset) and isinstance(end := ends[key], FoundOffset)
    }


def _partitions(source: TopicSource, topics: Mapping[str, Topic]) -> list[TopicPartition]:
    names = source.topics
    if source.pattern is not None:
        names = tuple(name for name in sorted(topics) if re.fullmatch(source.pattern, name))
    return [key for name in names if name in topics for key in topics[name].partition_keys()]


def _next_offset(source: TopicSource, committed: int | None, extent: _Extent | None) -> int | None:
    """Where a flow goes on, or would begin."""
    if extent is None:
        return None
    if committed is not None:
        return max(committed, extent.start)
    return extent.start if source.start.kind is StartKind.EARLIEST else None


def _ages_s(
    cluster: Cluster, places: set[tuple[TopicPartition, int]], extents: Mapping[TopicPartition, _Extent]
) -> dict[tuple[TopicPartition, int], float]:
    """How old the first record is at or behind each place; 0 where there is none."""
    ages_s = {(key, at): 0.0 for key, at in places if at >= extents[key].end}
    now_ms = time.time() * 1000
    waiting = sorted(places - ages_s.keys())
    deadline = Deadline(PEEK_TIMEOUT_S)
    while waiting and not deadline.has_passed:
        # Flows may be at different offsets of one partition, and a reader has one position in each.
        positions = dict(waiting)
        for key, timestamp in _first_timestamps(cluster, positions, deadline).items():
            if timestamp < 0:
                continue  # Its producer did not say.
            ages_s[key, positions[key]] = max(0.0, round((now_ms - timestamp) / 1000, 1))
        waiting = [place for place in waiting if positions[place[0]] != place[1]]
    return ages_s


def _first_timestamps(
    cluster: Cluster, positions: Mapping[TopicPartition, int], deadline: Deadline
) -> dict[TopicPartition, int]:
    found: dict[TopicPartition, int] = {}
    with Reader(cluster, positions, settings=_ONE_BATCH, reset_to=EARLIEST) as reader:
        while len(found) < len(positions) and not deadline.has_passed:
            for chunk in reader.poll(deadline.remaining_s):
                found.setdefault(chunk.key, chunk.records[0].timestamp)
    return found


def _row(
    flow: Flow,
    key: TopicPartition,
    committed: int | None,
    at: int | None,
    extent: _Extent | None,
    age_s: float | None,
) -> PartitionStanding:
    end = extent.end if extent else None
    lag = max(0, end - at) if end is not None and at is not None else None
    return PartitionStanding(flow.name, key.topic, key.partition, committed, end, lag, age_s)
