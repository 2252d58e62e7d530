"""ConsumerGroupDescribe (key 69): state and members of consumer groups (KIP-848).

Served: 0-1.
1   which protocol a member speaks (KIP-1099)
"""

from collections.abc import Sequence
from typing import Final

from trivium.core.commands.consumer_groups import (
    DescribeConsumerGroups,
    DescribedConsumer,
    DescribedConsumerGroup,
    NamedPartitions,
)
from trivium.messages.api import ApiKey
from trivium.messages.api.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of
from trivium.protocols.kafka.operations import bits_of

_KIND_SINCE: Final = 1
_KIND_UNKNOWN: Final = -1


def to_command(request: ConsumerGroupDescribeRequest, call: Call) -> DescribeConsumerGroups:
    return DescribeConsumerGroups(request.group_ids, request.include_authorized_operations)


def to_response(results: list[DescribedConsumerGroup], call: Call) -> ConsumerGroupDescribeResponse:
    return ConsumerGroupDescribeResponse(
        throttle_time_ms=0, groups=[_group(result, call.version) for result in results]
    )


def _group(group: DescribedConsumerGroup, version: int) -> DescribedGroup:
    return DescribedGroup(
        error_code=code_of(group.fault),
        error_message=group.message,
        group_id=group.group_id,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.assignor,
        members=[_member(member, version) for member in group.members],
        authorized_operations=bits_of(group.operations),
    )


def _member(member: DescribedConsumer, version: int) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=list(member.topic_names),
        subscribed_topic_regex=member.topic_regex,
        assignment=_assignment(member.assignment),
        target_assignment=_assignment(member.target),
        member_type=member.kind.value if version >= _KIND_SINCE else _KIND_UNKNOWN,
    )


def _assignment(topics: Sequence[NamedPartitions]) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(
                topic_id=topic.topic_id, topic_name=topic.topic_name, partitions=list(topic.partitions)
            )
            for topic in topics
        ]
    )


API = Api(ApiKey.CONSUMER_GROUP_DESCRIBE, 0, 1, to_command, to_response)
