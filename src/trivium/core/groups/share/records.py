"""Share groups as records of ``__consumer_offsets``, as Kafka 4.3 writes them, and back.

Every change goes this way: now, and at each start.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from trivium.core.groups.assignors.subscriber import NOTHING, Part, Parts
from trivium.core.groups.consumer.records import Change, by_topic
from trivium.core.groups.moment import Moment
from trivium.core.groups.share.group import Holding, Profile, ShareGroup
from trivium.messages.schema import Message
from trivium.messages.stored.share_groups import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupStatePartitionMetadataValue,
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue,
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
    TopicPartition,
    TopicPartitions,
    TopicPartitionsInfo,
)

ShareGroupKey = (
    ShareGroupMetadataKey
    | ShareGroupMemberMetadataKey
    | ShareGroupTargetAssignmentMetadataKey
    | ShareGroupTargetAssignmentMemberKey
    | ShareGroupCurrentMemberAssignmentKey
    | ShareGroupStatePartitionMetadataKey
)

STABLE_MEMBER: Final = 0
"""A member of a share group never has to give anything up: it knows no other state."""


# -- the group -------------------------------------------------------------------------------------


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> Change:
    return (
        ShareGroupMetadataKey(group_id=group_id),
        ShareGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash),
    )


def assignment_epoch_record(group_id: str, epoch: int, at: Moment) -> Change:
    return (
        ShareGroupTargetAssignmentMetadataKey(group_id=group_id),
        ShareGroupTargetAssignmentMetadataValue(assignment_epoch=epoch, assignment_timestamp=at.wall_ms),
    )


def begun_record(group_id: str, begun: Parts, names: Mapping[bytes, str]) -> Change:
    """Where the group has begun. Kafka also notes where it is about to: here both happen at once."""
    return (
        ShareGroupStatePartitionMetadataKey(group_id=group_id),
        ShareGroupStatePartitionMetadataValue(
            initializing_topics=[],
            initialized_topics=[
                TopicPartitionsInfo(topic_id=topic_id, topic_name=names.get(topic_id, ""), partitions=numbers)
                for topic_id, numbers in by_topic(begun).items()
            ],
            deleting_topics=[],
        ),
    )


# -- members ---------------------------------------------------------------------------------------


def profile_record(group_id: str, member_id: str, profile: Profile) -> Change:
    return (
        ShareGroupMemberMetadataKey(group_id=group_id, member_id=member_id),
        ShareGroupMemberMetadataValue(
            rack_id=profile.rack_id,
            client_id=profile.client_id,
            client_host=profile.client_host,
            subscribed_topic_names=sorted(profile.topic_names),
        ),
    )


def target_record(group_id: str, member_id: str, target: Parts) -> Change:
    return (
        ShareGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id),
        ShareGroupTargetAssignmentMemberValue(
            topic_partitions=[
                TopicPartition(topic_id=topic_id, partitions=numbers)
                for topic_id, numbers in by_topic(target).items()
            ]
        ),
    )


def holding_record(group_id: str, member_id: str, holding: Holding) -> Change:
    return (
        ShareGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id),
        ShareGroupCurrentMemberAssignmentValue(
            member_epoch=holding.epoch,
            previous_member_epoch=holding.previous_epoch,
            state=STABLE_MEMBER,
            assigned_partitions=[
                TopicPartitions(topic_id=topic_id, partitions=numbers)
                for topic_id, numbers in by_topic(holding.parts).items()
            ],
        ),
    )


# -- forgetting ------------------------------------------------------------------------------------


def member_tombstones(group_id: str, member_id: str) -> list[Change]:
    return [
        (ShareGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id), None),
        (ShareGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id), None),
        (ShareGroupMemberMetadataKey(group_id=group_id, member_id=member_id), None),
    ]


def group_tombstones(group: ShareGroup) -> list[Change]:
    group_id = group.group_id
    return [
        *(change for member_id in group.members for change in member_tombstones(group_id, member_id)),
        (ShareGroupTargetAssignmentMetadataKey(group_id=group_id), None),
        (ShareGroupStatePartitionMetadataKey(group_id=group_id), None),
        (ShareGroupMetadataKey(group_id=group_id), None),
    ]


# -- and back --------------------------------------------------------------------------------------


def replay(group: ShareGroup, key: Message, value: Message | None, now: Moment) -> None:
    """What a stored record changes in its group. The end of the group itself is not for here."""
    if isinstance(key, ShareGroupMetadataKey):
        if isinstance(value, ShareGroupMetadataValue):
            group.epoch, group.metadata_hash = value.epoch, value.metadata_hash
    elif isinstance(key, ShareGroupTargetAssignmentMetadataKey):
        group.assignment_epoch, group.assigned_at = 0, None
        if isinstance(value, ShareGroupTargetAssignmentMetadataValue):
            group.assignment_epoch = value.assignment_epoch
            if value.assignment_timestamp:
                group.assigned_at = now.recall(value.assignment_timestamp)
    elif isinstance(key, ShareGroupStatePartitionMetadataKey):
        group.begun = NOTHING
        if isinstance(value, ShareGroupStatePartitionMetadataValue):
            group.begun = _parts(value.initialized_topics)
    elif isinstance(key, ShareGroupMemberMetadataKey):
        if isinstance(value, ShareGroupMemberMetadataValue):
            group.ensure(key.member_id).profile = _profile(value)
        else:
            group.remove(key.member_id)
    elif isinstance(key, ShareGroupTargetAssignmentMemberKey):
        if isinstance(value, ShareGroupTargetAssignmentMemberValue):
            group.target[key.member_id] = _parts(value.topic_partitions)
        else:
            group.target.pop(key.member_id, None)
    elif isinstance(key, ShareGroupCurrentMemberAssignmentKey):
        if isinstance(value, ShareGroupCurrentMemberAssignmentValue):
            group.ensure(key.member_id).holding = Holding(
                value.member_epoch, value.previous_member_epoch, _parts(value.assigned_partitions)
            )
        elif key.member_id in group.members:
            group.members[key.member_id].holding = Holding()


def _profile(value: ShareGroupMemberMetadataValue) -> Profile:
    return Profile(value.client_id, value.client_host, value.rack_id, frozenset(value.subscribed_topic_names))


def _parts(topics: Iterable[TopicPartition | TopicPartitions | TopicPartitionsInfo]) -> Parts:
    parts: set[Part] = {(topic.topic_id, number) for topic in topics for number in topic.partitions}
    return frozenset(parts)
