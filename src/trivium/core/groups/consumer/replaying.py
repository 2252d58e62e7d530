"""What a stored record changes in a consumer group. Every change goes this way: now, and at each start.

Compaction keeps the last record of every key, so that records of a member may come in any order, and one may
come for a member of which nothing else is left but its end.
"""

from trivium.core.groups.consumer.group import ConsumerGroup
from trivium.core.groups.consumer.member import Holding
from trivium.core.groups.consumer.records import holding_from, profile_from, resolved_from, target_from
from trivium.core.groups.moment import Moment
from trivium.messages.schema import Message
from trivium.messages.stored.consumer_groups import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)

ConsumerGroupKey = (
    ConsumerGroupMetadataKey
    | ConsumerGroupPartitionMetadataKey
    | ConsumerGroupMemberMetadataKey
    | ConsumerGroupTargetAssignmentMetadataKey
    | ConsumerGroupTargetAssignmentMemberKey
    | ConsumerGroupCurrentMemberAssignmentKey
    | ConsumerGroupRegularExpressionKey
)


def replay(group: ConsumerGroup, key: Message, value: Message | None, now: Moment) -> None:
    if isinstance(key, ConsumerGroupMetadataKey):
        if isinstance(value, ConsumerGroupMetadataValue):
            group.epoch, group.metadata_hash = value.epoch, value.metadata_hash
    elif isinstance(key, ConsumerGroupTargetAssignmentMetadataKey):
        _replay_assignment_epoch(group, value, now)
    elif isinstance(key, ConsumerGroupRegularExpressionKey):
        found = resolved_from(value) if isinstance(value, ConsumerGroupRegularExpressionValue) else None
        group.resolve(key.regular_expression, found)
    elif isinstance(key, ConsumerGroupMemberMetadataKey):
        if isinstance(value, ConsumerGroupMemberMetadataValue):
            group.introduce(key.member_id, profile_from(value))
        else:
            group.remove(key.member_id)
    elif isinstance(key, ConsumerGroupTargetAssignmentMemberKey):
        if isinstance(value, ConsumerGroupTargetAssignmentMemberValue):
            group.target[key.member_id] = target_from(value)
        else:
            group.target.pop(key.member_id, None)
    elif isinstance(key, ConsumerGroupCurrentMemberAssignmentKey):
        if isinstance(value, ConsumerGroupCurrentMemberAssignmentValue):
            group.hold(key.member_id, holding_from(value))
        elif key.member_id in group.members:
            group.hold(key.member_id, Holding())


def _replay_assignment_epoch(group: ConsumerGroup, value: Message | None, now: Moment) -> None:
    group.assignment_epoch, group.assigned_at = 0, None
    if isinstance(value, ConsumerGroupTargetAssignmentMetadataValue):
        group.assignment_epoch = value.assignment_epoch
        if value.assignment_timestamp:
            group.assigned_at = now.recall(value.assignment_timestamp)
