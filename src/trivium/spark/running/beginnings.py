"""Where a flow began to read: found out once, before its first batch, and kept with its state.

A run that is killed before its first batch is done begins at the same records again, also where it was told
``latest``; and a backfill knows where the live flow takes over.
"""

import re
from collections.abc import Iterable, Mapping

from trivium.client.cluster import Cluster
from trivium.client.door import Door
from trivium.client.errors import settled
from trivium.client.offsets import EARLIEST, LATEST, list_offsets
from trivium.client.topology import Topic, TopicPartition
from trivium.pipeline.definition import Definition
from trivium.pipeline.flow import Flow
from trivium.pipeline.source import Expired, TopicSource
from trivium.pipeline.start import Start, StartKind
from trivium.spark.connector.offsets_json import from_json, to_json
from trivium.spark.running.errors import CannotRun
from trivium.spark.running.state_files import read_json, write_json
from trivium.spark.running.topics_reader import kept_ids
from trivium.spark.sinks.checkpoint import query_id_of

Positions = dict[TopicPartition, int]


def beginning(definition: Definition, flow: Flow, source: TopicSource, door: Door) -> Positions | None:
    """The first offset of each partition, those that came later at their first record; None where there is
    no topic to read yet. Written down while the flow has no checkpoint."""
    with door.connect() as cluster:
        keys = partitions_of(cluster, source)
        if not keys:
            return None
        is_new = query_id_of(definition.checkpoint_of(flow)) is None
        _recognise(definition, flow, source, {key.topic: cluster.topic(key.topic) for key in keys}, is_new)
        if is_new:
            found = offsets_at(cluster, source.start, keys)
            write_json(_file(definition, flow, source), to_json(found))
            return found
        kept = kept_beginning(definition, flow, source)
        return None if kept is None else {key: kept.get(key, EARLIEST) for key in keys}


def _recognise(
    definition: Definition, flow: Flow, source: TopicSource, topics: Mapping[str, Topic], is_new: bool
) -> None:
    """Refuse a topic that was made anew since the flow read it: offsets that it has read would be others."""
    if is_new or source.expired is Expired.SKIP:
        return  # A new query begins with what is there; the other goes on with it from its beginning.
    known = kept_ids(topics_file(definition, flow, source))
    for name, topic in topics.items():
        if known.is_other(name, topic.topic_id):
            raise CannotRun(
                f"Topic {name} was deleted and made anew since {definition.group_of(flow)} read it. Reset "
                'the flow to read everything again, or say expired = "skip" in the source to go on with the '
                "new topic from its beginning."
            )


def topics_file(definition: Definition, flow: Flow, source: TopicSource) -> str:
    """What the flow's reader keeps: which topics it has read."""
    return f"{definition.beginnings_of(flow)}/{source.name}.topics.json"


def kept_beginning(definition: Definition, flow: Flow, source: TopicSource) -> Positions | None:
    """None where the flow has never been started."""
    said = read_json(_file(definition, flow, source))
    return None if said is None else from_json(said)


def partitions_of(cluster: Cluster, source: TopicSource) -> list[TopicPartition]:
    """All partitions of a source's topics, as far as there are any."""
    topics = cluster.topics()
    names = source.topics
    if source.pattern is not None:
        public = (name for name, topic in topics.items() if not topic.is_internal)
        names = tuple(name for name in public if re.fullmatch(source.pattern, name))
    return [key for name in names if name in topics for key in topics[name].partition_keys()]


def offsets_at(cluster: Cluster, start: Start, keys: Iterable[TopicPartition]) -> Positions:
    """A word, a time or offsets as the offset of each partition. Where nothing is that young, its end."""
    wanted = list(keys)
    if start.kind is StartKind.OFFSETS:
        named = {TopicPartition(each.topic, each.partition): each.offset for each in start.offsets}
        rest = _listed(cluster, EARLIEST, [key for key in wanted if key not in named])
        return {key: named[key] if key in named else rest[key] for key in wanted}
    if start.kind is not StartKind.TIME:
        return _listed(cluster, LATEST if start.kind is StartKind.LATEST else EARLIEST, wanted)
    found = _listed(cluster, start.timestamp_ms or 0, wanted)
    ends = _listed(cluster, LATEST, [key for key, offset in found.items() if offset < 0])
    return found | ends


def _listed(cluster: Cluster, timestamp: int, keys: list[TopicPartition]) -> Positions:
    if not keys:
        return {}
    answers = list_offsets(cluster, dict.fromkeys(keys, timestamp))
    return {key: settled(answers[key]).offset for key in keys}


def _file(definition: Definition, flow: Flow, source: TopicSource) -> str:
    return f"{definition.beginnings_of(flow)}/{source.name}.json"
