"""ShareGroupDescribe (key 77): state and members of share groups (KIP-932).

Served: 1.
"""

from trivium.core.commands.share_groups import (
    DescribedShareGroup,
    DescribedShareMember,
    DescribeShareGroups,
)
from trivium.messages.api import ApiKey
from trivium.messages.api.share_group_describe import (
    Assignment,
    DescribedGroup,
    Member,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    TopicPartitions,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of
from trivium.protocols.kafka.operations import bits_of


def to_command(request: ShareGroupDescribeRequest, call: Call) -> DescribeShareGroups:
    return DescribeShareGroups(request.group_ids, request.include_authorized_operations)


def to_response(results: list[DescribedShareGroup], call: Call) -> ShareGroupDescribeResponse:
    return ShareGroupDescribeResponse(throttle_time_ms=0, groups=[_group(result) for result in results])


def _group(group: DescribedShareGroup) -> DescribedGroup:
    return DescribedGroup(
        error_code=code_of(group.fault),
        error_message=group.message,
        group_id=group.group_id,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.assignor,
        members=[_member(member) for member in group.members],
        authorized_operations=bits_of(group.operations),
    )


def _member(member: DescribedShareMember) -> Member:
    return Member(
        member_id=member.member_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=list(member.topic_names),
        assignment=Assignment(
            topic_partitions=[
                TopicPartitions(
                    topic_id=topic.topic_id, topic_name=topic.topic_name, partitions=list(topic.partitions)
                )
                for topic in member.assignment
            ]
        ),
    )


API = Api(ApiKey.SHARE_GROUP_DESCRIBE, 1, 1, to_command, to_response)
