"""OffsetCommit (key 8): store how far a group has read (mission 003.28).

Served: 0-10.
0   without a member: once for ZooKeeper, here for the one store there is
1   generation and member; the time of the commit may be given
2   how long to keep the offsets, until version 4; no time of the commit
6   leader epochs (KIP-320)
7   static members: group_instance_id (KIP-345)
8   flexible
9   GROUP_ID_NOT_FOUND and STALE_MEMBER_EPOCH may be said (KIP-848)
10  topics by id
"""

from itertools import groupby
from typing import Final

from trivium.core.commands.command import TopicRef
from trivium.core.commands.offsets import CommitOffsets, CommittedPart, OffsetToCommit
from trivium.core.faults import Fault
from trivium.messages.api import ApiKey
from trivium.messages.api.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of

_GROUP_NOT_FOUND_SINCE: Final = 9
_MEMBER_EPOCHS_SINCE: Final = 9
_BY_ID_SINCE: Final = 10
_NOT_GIVEN: Final = -1


def to_command(request: OffsetCommitRequest, call: Call) -> CommitOffsets:
    by_id = call.version >= _BY_ID_SINCE
    return CommitOffsets(
        group_id=request.group_id,
        parts=[
            OffsetToCommit(
                topic.topic_id if by_id else topic.name,
                part.partition_index,
                part.committed_offset,
                part.committed_leader_epoch,
                part.committed_metadata,
                None if part.commit_timestamp == _NOT_GIVEN else part.commit_timestamp,
            )
            for topic in request.topics
            for part in topic.partitions
        ],
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        generation=request.generation_id_or_member_epoch,
        knows_member_epochs=call.version >= _MEMBER_EPOCHS_SINCE,
        retention_ms=None if request.retention_time_ms == _NOT_GIVEN else request.retention_time_ms,
    )


def to_response(results: list[CommittedPart], call: Call) -> OffsetCommitResponse:
    topics = []
    for topic, parts in groupby(results, key=_topic):
        partitions = [
            OffsetCommitResponsePartition(
                partition_index=part.partition, error_code=_code(part.fault, call.version)
            )
            for part in parts
        ]
        if isinstance(topic, bytes):
            topics.append(OffsetCommitResponseTopic(topic_id=topic, partitions=partitions))
        else:
            topics.append(OffsetCommitResponseTopic(name=topic, partitions=partitions))
    return OffsetCommitResponse(topics=topics)


def _topic(part: CommittedPart) -> TopicRef:
    return part.topic


def _code(fault: Fault | None, version: int) -> int:
    if fault is Fault.GROUP_ID_NOT_FOUND and version < _GROUP_NOT_FOUND_SINCE:
        return ErrorCode.ILLEGAL_GENERATION
    return code_of(fault)


API = Api(ApiKey.OFFSET_COMMIT, 0, 10, to_command, to_response)
