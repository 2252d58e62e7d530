"""Offsets of partitions: where they begin and end, what was written at a time, and moving their beginning."""

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from trivium.client.cluster import Cluster
from trivium.client.errors import Refused, settled
from trivium.client.leaders import ByTopic, ask_leaders
from trivium.client.topology import TopicPartition
from trivium.messages.api.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from trivium.messages.api.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

EARLIEST: Final = -2
"""Instead of a timestamp: the first offset that is there."""

LATEST: Final = -1
"""Instead of a timestamp: the offset that the next record will get, or, of what is committed, the first that
may not be read yet."""

TO_THE_END: Final = -1
"""Instead of an offset, where records are deleted."""

_NO_REPLICA: Final = -1


class Isolation(IntEnum):
    """What a reader sees of transactions."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class FoundOffset(NamedTuple):
    """An offset and the timestamp of its record; -1 for both where no record is as young as was asked for."""

    offset: int
    timestamp: int
    leader_epoch: int


def list_offsets(
    cluster: Cluster,
    timestamps: Mapping[TopicPartition, int],
    *,
    isolation: Isolation = Isolation.READ_COMMITTED,
) -> dict[TopicPartition, FoundOffset | Refused]:
    """For each partition the first record not older than its timestamp, or ``EARLIEST`` or ``LATEST``."""

    def make(by_topic: ByTopic[int]) -> ListOffsetsRequest:
        topics = [
            ListOffsetsTopic(
                name=topic,
                partitions=[
                    ListOffsetsPartition(partition_index=index, timestamp=timestamp)
                    for index, timestamp in asked
                ],
            )
            for topic, asked in by_topic.items()
        ]
        return ListOffsetsRequest(
            replica_id=_NO_REPLICA,
            isolation_level=isolation,
            topics=topics,
            timeout_ms=int(cluster.timeout_s * 1000),
        )

    def read(answer: ListOffsetsResponse) -> Iterator[tuple[TopicPartition, int, FoundOffset]]:
        for topic in answer.topics:
            for found in topic.partitions:
                key = TopicPartition(topic.name, found.partition_index)
                yield key, found.error_code, FoundOffset(found.offset, found.timestamp, found.leader_epoch)

    return ask_leaders(cluster, timestamps, make, ListOffsetsResponse, read)


def offset_ranges(
    cluster: Cluster,
    keys: Iterable[TopicPartition],
    *,
    isolation: Isolation = Isolation.READ_COMMITTED,
) -> dict[TopicPartition, tuple[int, int]]:
    """Beginning and end (exclusive) of each partition; the first refusal is raised."""
    wanted = list(keys)
    starts = list_offsets(cluster, dict.fromkeys(wanted, EARLIEST), isolation=isolation)
    ends = list_offsets(cluster, dict.fromkeys(wanted, LATEST), isolation=isolation)
    return {key: (settled(starts[key]).offset, settled(ends[key]).offset) for key in wanted}


def delete_records(
    cluster: Cluster, offsets: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int | Refused]:
    """Delete what lies before an offset of each partition, or ``TO_THE_END``; where each begins then."""

    def make(by_topic: ByTopic[int]) -> DeleteRecordsRequest:
        topics = [
            DeleteRecordsTopic(
                name=topic,
                partitions=[
                    DeleteRecordsPartition(partition_index=index, offset=offset) for index, offset in asked
                ],
            )
            for topic, asked in by_topic.items()
        ]
        return DeleteRecordsRequest(topics=topics, timeout_ms=int(cluster.timeout_s * 1000))

    def read(answer: DeleteRecordsResponse) -> Iterator[tuple[TopicPartition, int, int]]:
        for topic in answer.topics:
            for done in topic.partitions:
                yield TopicPartition(topic.name, done.partition_index), done.error_code, done.low_watermark

    return ask_leaders(cluster, offsets, make, DeleteRecordsResponse, read)
