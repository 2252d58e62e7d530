"""What lies in a broker's topics: putting records there and getting them out, for tests in one line.

A test that is about a client uses that client; these are for what comes before it and after it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from trivium.client.admin_topics import BROKER_DEFAULT, NewTopic, create_topics
from trivium.client.cluster import Cluster
from trivium.client.errors import settled
from trivium.client.offsets import offset_ranges
from trivium.client.producer import Producer
from trivium.client.reader import Reader
from trivium.client.topology import TopicPartition
from trivium.records.record import Header

POLL_SECONDS: Final = 1.0
"""How long to wait for records at once, of those that are there."""

Value = bytes | str | None
Keyed = tuple[Value, Value]


class StoredRecord(NamedTuple):
    """A record as it lies in a topic. ``timestamp`` is in milliseconds since 1970."""

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]


def connect(bootstrap: str) -> Cluster:
    return Cluster.connect(bootstrap, client_id="trivium-testing")


def create_topic(
    cluster: Cluster, name: str, partitions: int | None, configs: Mapping[str, object] | None
) -> None:
    """Make a topic; without ``partitions`` it has as many as the broker is set to."""
    count = BROKER_DEFAULT if partitions is None else partitions
    texts = {config: str(value) for config, value in (configs or {}).items()}
    settled(create_topics(cluster, [NewTopic(name, count, configs=texts)])[name])


def topics(cluster: Cluster) -> dict[str, int]:
    """The topics of clients, each with the number of its partitions."""
    found = cluster.topics().values()
    return {topic.name: len(topic.partitions) for topic in found if not topic.is_internal}


def write(
    cluster: Cluster,
    topic: str,
    records: Iterable[Value | Keyed],
    *,
    partition: int | None,
    headers: Sequence[Header],
    timestamp_ms: int | None,
) -> None:
    """Write values, or pairs of key and value; text as UTF-8. They are durable when this returns."""
    with Producer(cluster) as producer:
        for record in records:
            key, value = record if isinstance(record, tuple) else (None, record)
            producer.send(
                topic,
                _bytes(value),
                key=_bytes(key),
                headers=headers,
                timestamp_ms=timestamp_ms,
                partition=partition,
            )


def read(cluster: Cluster, topic: str) -> list[StoredRecord]:
    """Everything that a reader of committed records would find now, partition by partition."""
    ranges = offset_ranges(cluster, cluster.topic(topic).partition_keys())
    found: dict[TopicPartition, list[StoredRecord]] = {key: [] for key in ranges}
    unread = {key: start for key, (start, end) in ranges.items() if start < end}
    with Reader(cluster, unread) as reader:
        while unread:
            for chunk in reader.poll(POLL_SECONDS):
                found[chunk.key] += [
                    StoredRecord(chunk.key.partition, *record)
                    for record in chunk.records
                    if record.offset < ranges[chunk.key][1]
                ]
            unread = {key: at for key, at in reader.positions.items() if at < ranges[key][1]}
    return [record for key in sorted(found) for record in found[key]]


def _bytes(value: Value) -> bytes | None:
    return value.encode() if isinstance(value, str) else value
