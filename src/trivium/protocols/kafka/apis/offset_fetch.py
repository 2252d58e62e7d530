"""OffsetFetch (key 9): read how far groups have read.

Served: 0-10.
0   a partition without an offset is an error, as it was with ZooKeeper; from 1 on its offset is -1
2   null asks for all topics; an error for the whole
5   leader epochs (KIP-320)
6   flexible
7   require_stable: nothing that an open transaction may change (KIP-447)
8   several groups, each with its own error (KIP-709)
9   member and epoch, for groups of KIP-848
10  topics by id
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from trivium.core.commands.command import TopicRef
from trivium.core.commands.offsets import FetchOffsets, FoundOffset, GroupOffsets, GroupOffsetsWanted
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of
from trivium.wire.uuid_text import ZERO_UUID

_TOP_LEVEL_ERROR_SINCE: Final = 2
_SEVERAL_SINCE: Final = 8
_BY_ID_SINCE: Final = 10


def to_command(request: OffsetFetchRequest, call: Call) -> FetchOffsets:
    if call.version < _SEVERAL_SINCE:
        parts: list[tuple[TopicRef, int]] | None = None
        if request.topics is not None:
            parts = [
                (topic.name, partition) for topic in request.topics for partition in topic.partition_indexes
            ]
        return FetchOffsets([GroupOffsetsWanted(request.group_id, parts)], request.require_stable)
    by_id = call.version >= _BY_ID_SINCE
    return FetchOffsets(
        [
            GroupOffsetsWanted(
                group.group_id,
                None
                if group.topics is None
                else [
                    (topic.topic_id if by_id else topic.name, partition)
                    for topic in group.topics
                    for partition in topic.partition_indexes
                ],
                group.member_id,
                group.member_epoch,
            )
            for group in request.groups
        ],
        request.require_stable,
    )


def to_response(results: list[GroupOffsets], call: Call) -> OffsetFetchResponse:
    if call.version < _SEVERAL_SINCE:
        return _of_one(results[0], call)
    return OffsetFetchResponse(
        groups=[
            OffsetFetchResponseGroup(
                group_id=result.group_id,
                topics=_topics_by_id(result.offsets)
                if call.version >= _BY_ID_SINCE
                else _topics(result.offsets),
                error_code=code_of(result.fault),
            )
            for result in results
        ]
    )


def _of_one(result: GroupOffsets, call: Call) -> OffsetFetchResponse:
    offsets: Sequence[FoundOffset] = result.offsets
    if result.fault is not None and call.version < _TOP_LEVEL_ERROR_SINCE:
        # There is no other place for the error yet than each partition that was asked for.
        offsets = [
            FoundOffset(topic.name, partition, result.fault)
            for topic in call.request.topics
            for partition in topic.partition_indexes
        ]
    return OffsetFetchResponse(
        topics=[
            OffsetFetchResponseTopic(
                name=str(topic), partitions=[_old_partition(found, call.version) for found in group]
            )
            for topic, group in groupby(offsets, key=_topic)
        ],
        error_code=code_of(result.fault),
    )


def _topic(found: FoundOffset) -> TopicRef:
    return found.topic


def _topic_id(found: FoundOffset) -> bytes:
    return found.topic if isinstance(found.topic, bytes) else found.topic_id


def _topics(offsets: Sequence[FoundOffset]) -> list[OffsetFetchResponseTopics]:
    return [
        OffsetFetchResponseTopics(name=str(topic), partitions=[_partition(found) for found in group])
        for topic, group in groupby(offsets, key=_topic)
    ]


def _topics_by_id(offsets: Sequence[FoundOffset]) -> list[OffsetFetchResponseTopics]:
    """What has no id cannot be named in these versions: an offset whose topic has just been deleted."""
    nameable = (found for found in offsets if _topic_id(found) != ZERO_UUID or found.topic == ZERO_UUID)
    return [
        OffsetFetchResponseTopics(topic_id=topic_id, partitions=[_partition(found) for found in group])
        for topic_id, group in groupby(nameable, key=_topic_id)
    ]


def _partition(found: FoundOffset) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=found.partition,
        committed_offset=found.offset,
        committed_leader_epoch=found.leader_epoch,
        metadata=found.metadata,
        error_code=code_of(found.fault),
    )


def _old_partition(found: FoundOffset, version: int) -> OffsetFetchResponsePartition:
    fault = found.fault
    if version == 0 and fault is None and found.offset < 0:
        fault = Fault.UNKNOWN_TOPIC
    return OffsetFetchResponsePartition(
        partition_index=found.partition,
        committed_offset=found.offset,
        committed_leader_epoch=found.leader_epoch,
        metadata=found.metadata,
        error_code=code_of(fault),
    )


API = Api(ApiKey.OFFSET_FETCH, 0, 10, to_command, to_response)
