"""How far share groups are (KIP-932): where each partition begins for them, and setting it from outside.

A share group commits no offsets. Everything before its start offset is done with; what lies behind it may be
done with as well, one record and another not. The start can only be set while the group has no members.
"""

from collections.abc import Mapping
from typing import NamedTuple

from trivium.client.cluster import Cluster
from trivium.client.errors import Refused
from trivium.client.leaders import group_by_topic
from trivium.client.topology import TopicPartition
from trivium.messages.api.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
)
from trivium.messages.api.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse,
)
from trivium.messages.errors import ErrorCode


class ShareOffset(NamedTuple):
    start: int
    lag: int | None
    """Records that are not done with; None where the broker does not tell."""


def share_offsets(cluster: Cluster, group_id: str) -> dict[TopicPartition, ShareOffset]:
    """The start offsets of all partitions that the group has begun to read."""
    answer = cluster.call(
        cluster.coordinator(group_id),
        DescribeShareGroupOffsetsRequest(
            groups=[DescribeShareGroupOffsetsRequestGroup(group_id=group_id, topics=None)]
        ),
        DescribeShareGroupOffsetsResponse,
        codes=lambda response: [each.error_code for each in response.groups],
    )
    (group,) = answer.groups
    _raise_refusal(group.error_code, group.error_message, group_id)
    return {
        TopicPartition(topic.topic_name, each.partition_index): ShareOffset(
            each.start_offset, each.lag if each.lag >= 0 else None
        )
        for topic in group.topics
        for each in topic.partitions
        if each.error_code == ErrorCode.NONE and each.start_offset >= 0
    }


def set_share_offsets(cluster: Cluster, group_id: str, starts: Mapping[TopicPartition, int]) -> None:
    """Let the group begin there; the first refusal is raised."""
    request = AlterShareGroupOffsetsRequest(
        group_id=group_id,
        topics=[
            AlterShareGroupOffsetsRequestTopic(
                topic_name=name,
                partitions=[
                    AlterShareGroupOffsetsRequestPartition(
                        partition_index=index, start_offset=starts[TopicPartition(name, index)]
                    )
                    for index in indexes
                ],
            )
            for name, indexes in group_by_topic(starts).items()
        ],
    )
    answer = cluster.call(
        cluster.coordinator(group_id),
        request,
        AlterShareGroupOffsetsResponse,
        codes=lambda response: [response.error_code],
    )
    _raise_refusal(answer.error_code, answer.error_message, group_id)
    for topic in answer.responses:
        for each in topic.partitions:
            _raise_refusal(each.error_code, each.error_message, group_id)


def _raise_refusal(code: int, message: str | None, group_id: str) -> None:
    known = ErrorCode.of(code)
    if known is not ErrorCode.NONE:
        raise Refused(known, f"group {group_id}", message)
