"""DescribeShareGroupOffsets (key 90): start offsets of share groups.

Served: 0-1.
1   how many records are not done with yet (KIP-1226)
"""

from trivium.core.commands.share_groups import (
    DescribeShareOffsets,
    ShareGroupOffsets,
    ShareGroupOffsetsWanted,
    ShareStart,
)
from trivium.messages.api import ApiKey
from trivium.messages.api.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: DescribeShareGroupOffsetsRequest, call: Call) -> DescribeShareOffsets:
    return DescribeShareOffsets(
        [
            ShareGroupOffsetsWanted(group.group_id, None if group.topics is None else _wanted(group.topics))
            for group in request.groups
        ]
    )


def _wanted(topics: list[DescribeShareGroupOffsetsRequestTopic]) -> dict[str, list[int]]:
    """A topic that is named twice counts with both."""
    wanted: dict[str, list[int]] = {}
    for topic in topics:
        wanted.setdefault(topic.topic_name, []).extend(topic.partitions)
    return wanted


def to_response(results: list[ShareGroupOffsets], call: Call) -> DescribeShareGroupOffsetsResponse:
    return DescribeShareGroupOffsetsResponse(
        throttle_time_ms=0,
        groups=[
            DescribeShareGroupOffsetsResponseGroup(
                group_id=group.group_id,
                topics=[
                    DescribeShareGroupOffsetsResponseTopic(
                        topic_name=topic.topic_name,
                        topic_id=topic.topic_id,
                        partitions=[_partition(start) for start in topic.partitions],
                    )
                    for topic in group.topics
                ],
                error_code=code_of(group.fault),
                error_message=group.message,
            )
            for group in results
        ],
    )


def _partition(start: ShareStart) -> DescribeShareGroupOffsetsResponsePartition:
    return DescribeShareGroupOffsetsResponsePartition(
        partition_index=start.partition,
        start_offset=start.start_offset,
        leader_epoch=start.leader_epoch,
        lag=start.lag,
        error_code=code_of(start.fault),
        error_message=start.message,
    )


API = Api(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, 0, 1, to_command, to_response)
