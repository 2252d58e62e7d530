"""How far groups have read: the committed offset of each partition, and changing it from outside.

A committed offset is the next that the group will read. Offsets of a group with members at work can only be
changed by those members; the broker refuses everybody else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from trivium.client.cluster import Cluster
from trivium.client.errors import Refused
from trivium.client.leaders import group_by_topic
from trivium.client.topology import TopicPartition
from trivium.messages.api.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from trivium.messages.api.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from trivium.messages.api.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from trivium.messages.errors import ErrorCode

NO_GENERATION: Final = -1
NO_MEMBER: Final = ""


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    offset: int
    leader_epoch: int = -1
    metadata: str | None = ""


@dataclass(frozen=True, slots=True)
class Committer:
    """In whose name offsets are committed: a member of a generation, or nobody's, from outside."""

    member_id: str = NO_MEMBER
    generation_id: int = NO_GENERATION


OUTSIDE: Final = Committer()


def committed_offsets(
    cluster: Cluster,
    group_id: str,
    keys: Iterable[TopicPartition] | None = None,
    *,
    require_stable: bool = False,
) -> dict[TopicPartition, CommittedOffset]:
    """The committed offsets of these partitions, or of all that the group has; those without are left out.

    ``require_stable`` waits until no transaction is about to change them.
    """
    topics = None
    if keys is not None:
        topics = [
            OffsetFetchRequestTopics(name=name, partition_indexes=indexes)
            for name, indexes in group_by_topic(keys).items()
        ]
    request = OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id=group_id, topics=topics)], require_stable=require_stable
    )
    answer = cluster.call(cluster.coordinator(group_id), request, OffsetFetchResponse, codes=_fetch_codes)
    (group,) = answer.groups
    _raise_refusal(group.error_code, f"group {group_id}")
    found = {}
    for topic in group.topics:
        for each in topic.partitions:
            key = TopicPartition(topic.name, each.partition_index)
            if each.error_code not in (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION):
                _raise_refusal(each.error_code, f"partition {key}")
            if each.committed_offset >= 0:
                found[key] = CommittedOffset(
                    each.committed_offset, each.committed_leader_epoch, each.metadata
                )
    return found


def commit_offsets(
    cluster: Cluster,
    group_id: str,
    offsets: Mapping[TopicPartition, CommittedOffset],
    committer: Committer = OUTSIDE,
) -> None:
    """Commit all of these; the first refusal is raised."""
    request = OffsetCommitRequest(
        group_id=group_id,
        generation_id_or_member_epoch=committer.generation_id,
        member_id=committer.member_id,
        topics=[
            OffsetCommitRequestTopic(
                name=name,
                partitions=[_commit_entry(index, offsets[TopicPartition(name, index)]) for index in indexes],
            )
            for name, indexes in group_by_topic(offsets).items()
        ],
    )
    answer = cluster.call(
        cluster.coordinator(group_id),
        request,
        OffsetCommitResponse,
        codes=lambda response: [each.error_code for topic in response.topics for each in topic.partitions],
    )
    for topic in answer.topics:
        for each in topic.partitions:
            _raise_refusal(each.error_code, f"group {group_id}")


def delete_offsets(
    cluster: Cluster, group_id: str, keys: Iterable[TopicPartition]
) -> dict[TopicPartition, Refused | None]:
    """Forget what the group has read of these partitions; None is done."""
    request = OffsetDeleteRequest(
        group_id=group_id,
        topics=[
            OffsetDeleteRequestTopic(
                name=name,
                partitions=[OffsetDeleteRequestPartition(partition_index=index) for index in indexes],
            )
            for name, indexes in group_by_topic(keys).items()
        ],
    )
    answer = cluster.call(
        cluster.coordinator(group_id),
        request,
        OffsetDeleteResponse,
        codes=lambda response: [response.error_code],
    )
    _raise_refusal(answer.error_code, f"group {group_id}")
    outcomes: dict[TopicPartition, Refused | None] = {}
    for topic in answer.topics:
        for each in topic.partitions:
            code = ErrorCode.of(each.error_code)
            key = TopicPartition(topic.name, each.partition_index)
            outcomes[key] = None if code is ErrorCode.NONE else Refused(code, f"partition {key}")
    return outcomes


def _fetch_codes(answer: OffsetFetchResponse) -> list[int]:
    codes = [group.error_code for group in answer.groups]
    codes += [
        each.error_code for group in answer.groups for topic in group.topics for each in topic.partitions
    ]
    return codes


def _commit_entry(index: int, committed: CommittedOffset) -> OffsetCommitRequestPartition:
    return OffsetCommitRequestPartition(
        partition_index=index,
        committed_offset=committed.offset,
        committed_leader_epoch=committed.leader_epoch,
        committed_metadata=committed.metadata,
    )


def _raise_refusal(code: int, subject: str) -> None:
    known = ErrorCode.of(code)
    if known is not ErrorCode.NONE:
        raise Refused(known, subject)
