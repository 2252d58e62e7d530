"""``__consumer_offsets``: every kind of group, and what they have committed."""

from typing import Final

from trivium.messages.stored import classic_groups, consumer_groups, offsets, share_groups, streams_groups
from trivium.messages.stored.keyed_log import KeyedLog

GROUP_LOG: Final = KeyedLog(
    (offsets.LegacyOffsetCommitKey, offsets.LegacyOffsetCommitValue),
    (offsets.OffsetCommitKey, offsets.OffsetCommitValue),
    (classic_groups.GroupMetadataKey, classic_groups.GroupMetadataValue),
    (consumer_groups.ConsumerGroupMetadataKey, consumer_groups.ConsumerGroupMetadataValue),
    (consumer_groups.ConsumerGroupPartitionMetadataKey, consumer_groups.ConsumerGroupPartitionMetadataValue),
    (consumer_groups.ConsumerGroupMemberMetadataKey, consumer_groups.ConsumerGroupMemberMetadataValue),
    (
        consumer_groups.ConsumerGroupTargetAssignmentMetadataKey,
        consumer_groups.ConsumerGroupTargetAssignmentMetadataValue,
    ),
    (
        consumer_groups.ConsumerGroupTargetAssignmentMemberKey,
        consumer_groups.ConsumerGroupTargetAssignmentMemberValue,
    ),
    (
        consumer_groups.ConsumerGroupCurrentMemberAssignmentKey,
        consumer_groups.ConsumerGroupCurrentMemberAssignmentValue,
    ),
    (consumer_groups.ConsumerGroupRegularExpressionKey, consumer_groups.ConsumerGroupRegularExpressionValue),
    (share_groups.ShareGroupMemberMetadataKey, share_groups.ShareGroupMemberMetadataValue),
    (share_groups.ShareGroupMetadataKey, share_groups.ShareGroupMetadataValue),
    (
        share_groups.ShareGroupTargetAssignmentMetadataKey,
        share_groups.ShareGroupTargetAssignmentMetadataValue,
    ),
    (share_groups.ShareGroupTargetAssignmentMemberKey, share_groups.ShareGroupTargetAssignmentMemberValue),
    (share_groups.ShareGroupCurrentMemberAssignmentKey, share_groups.ShareGroupCurrentMemberAssignmentValue),
    (share_groups.ShareGroupStatePartitionMetadataKey, share_groups.ShareGroupStatePartitionMetadataValue),
    (streams_groups.StreamsGroupMetadataKey, streams_groups.StreamsGroupMetadataValue),
    (streams_groups.StreamsGroupMemberMetadataKey, streams_groups.StreamsGroupMemberMetadataValue),
    (
        streams_groups.StreamsGroupTargetAssignmentMetadataKey,
        streams_groups.StreamsGroupTargetAssignmentMetadataValue,
    ),
    (
        streams_groups.StreamsGroupTargetAssignmentMemberKey,
        streams_groups.StreamsGroupTargetAssignmentMemberValue,
    ),
    (
        streams_groups.StreamsGroupCurrentMemberAssignmentKey,
        streams_groups.StreamsGroupCurrentMemberAssignmentValue,
    ),
    (streams_groups.StreamsGroupTopologyKey, streams_groups.StreamsGroupTopologyValue),
)
