"""Consumer groups as records of ``__consumer_offsets``, as Kafka 4.3 writes them, and back."""

from collections.abc import Iterable, Mapping
from typing import Final

from trivium.core.commands.groups import Protocol
from trivium.core.groups.assignors.subscriber import Part, Parts
from trivium.core.groups.consumer.group import ConsumerGroup, Resolved
from trivium.core.groups.consumer.member import ClassicSide, Holding, MemberState, Profile
from trivium.core.groups.moment import Moment
from trivium.core.internal_topic import KeyedRecord
from trivium.messages.schema import Message
from trivium.messages.stored.consumer_groups import (
    ClassicMemberMetadata,
    ClassicProtocol,
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
    TopicPartition,
    TopicPartitions,
)
from trivium.messages.stored.group_log import GROUP_LOG

Change = tuple[Message, Message | None]
"""A record as key and value; without a value the key is forgotten."""

VALUE_VERSION: Final = 0


def encoded(change: Change) -> KeyedRecord:
    key, value = change
    return GROUP_LOG.encode_key(key), None if value is None else GROUP_LOG.encode_value(value, VALUE_VERSION)


# -- the group -------------------------------------------------------------------------------------


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> Change:
    return (
        ConsumerGroupMetadataKey(group_id=group_id),
        ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash),
    )


def assignment_epoch_record(group_id: str, epoch: int, at: Moment | None) -> Change:
    return (
        ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id),
        ConsumerGroupTargetAssignmentMetadataValue(
            assignment_epoch=epoch, assignment_timestamp=0 if at is None else at.wall_ms
        ),
    )


def regex_record(group_id: str, regex: str, resolved: Resolved | None) -> Change:
    return (
        ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex),
        None
        if resolved is None
        else ConsumerGroupRegularExpressionValue(
            topics=sorted(resolved.topics), version=resolved.version, timestamp=resolved.resolved_at_ms
        ),
    )


def resolved_from(value: ConsumerGroupRegularExpressionValue) -> Resolved:
    return Resolved(frozenset(value.topics), value.version, value.timestamp)


# -- members ---------------------------------------------------------------------------------------


def profile_record(group_id: str, member_id: str, profile: Profile) -> Change:
    classic = profile.classic
    return (
        ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member_id),
        ConsumerGroupMemberMetadataValue(
            instance_id=profile.instance_id,
            rack_id=profile.rack_id,
            client_id=profile.client_id,
            client_host=profile.client_host,
            subscribed_topic_names=sorted(profile.topic_names),
            subscribed_topic_regex=profile.topic_regex,
            rebalance_timeout_ms=profile.rebalance_timeout_ms,
            server_assignor=profile.assignor,
            classic_member_metadata=None
            if classic is None
            else ClassicMemberMetadata(
                session_timeout_ms=classic.session_timeout_ms,
                supported_protocols=[
                    ClassicProtocol(name=protocol.name, metadata=protocol.metadata)
                    for protocol in classic.protocols
                ],
            ),
        ),
    )


def profile_from(value: ConsumerGroupMemberMetadataValue) -> Profile:
    classic = value.classic_member_metadata
    return Profile(
        client_id=value.client_id,
        client_host=value.client_host,
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        topic_names=frozenset(value.subscribed_topic_names),
        topic_regex=value.subscribed_topic_regex or "",
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        assignor=value.server_assignor,
        classic=None
        if classic is None
        else ClassicSide(
            classic.session_timeout_ms,
            tuple(Protocol(each.name, each.metadata) for each in classic.supported_protocols),
        ),
    )


def target_record(group_id: str, member_id: str, target: Parts) -> Change:
    return (
        ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id),
        ConsumerGroupTargetAssignmentMemberValue(
            topic_partitions=[
                TopicPartition(topic_id=topic_id, partitions=numbers)
                for topic_id, numbers in by_topic(target).items()
            ]
        ),
    )


def target_from(value: ConsumerGroupTargetAssignmentMemberValue) -> Parts:
    return frozenset((each.topic_id, number) for each in value.topic_partitions for number in each.partitions)


def holding_record(group_id: str, member_id: str, holding: Holding) -> Change:
    return (
        ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id),
        ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=holding.epoch,
            previous_member_epoch=holding.previous_epoch,
            state=holding.state,
            assigned_partitions=_with_epochs(holding.assigned),
            partitions_pending_revocation=_with_epochs(holding.revoking),
        ),
    )


def holding_from(value: ConsumerGroupCurrentMemberAssignmentValue) -> Holding:
    try:
        state = MemberState(value.state)
    except ValueError:
        # A state of a later Kafka: whatever it was, partitions on their way out are waited for.
        is_giving_up = bool(value.partitions_pending_revocation)
        state = MemberState.UNREVOKED_PARTITIONS if is_giving_up else MemberState.UNRELEASED_PARTITIONS
    return Holding(
        value.member_epoch,
        value.previous_member_epoch,
        state,
        _from_epochs(value.assigned_partitions, value.member_epoch),
        _from_epochs(value.partitions_pending_revocation, value.member_epoch),
    )


def by_topic(parts: Iterable[Part]) -> dict[bytes, list[int]]:
    """Numbers by topic, all in ascending order."""
    numbers: dict[bytes, list[int]] = {}
    for topic_id, number in sorted(parts):
        numbers.setdefault(topic_id, []).append(number)
    return numbers


def _with_epochs(parts: Mapping[Part, int]) -> list[TopicPartitions]:
    return [
        TopicPartitions(
            topic_id=topic_id,
            partitions=numbers,
            assignment_epochs=[parts[topic_id, number] for number in numbers],
        )
        for topic_id, numbers in by_topic(parts).items()
    ]


def _from_epochs(topics: Iterable[TopicPartitions], member_epoch: int) -> dict[Part, int]:
    """Records from before there were epochs of partitions have none: then the member's counts."""
    return {
        (topic.topic_id, number): epoch
        for topic in topics
        for number, epoch in zip(
            topic.partitions, topic.assignment_epochs or [member_epoch] * len(topic.partitions), strict=False
        )
    }


# -- forgetting ------------------------------------------------------------------------------------


def member_tombstones(group_id: str, member_id: str) -> list[Change]:
    return [
        (ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id), None),
        (ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id), None),
        (ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member_id), None),
    ]


def group_tombstones(group: ConsumerGroup) -> list[Change]:
    """Everything that was ever stored of a group, also what only older versions of Kafka write."""
    group_id = group.group_id
    return [
        *(change for member_id in group.members for change in member_tombstones(group_id, member_id)),
        *(regex_record(group_id, regex, None) for regex in group.resolved),
        (ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id), None),
        (ConsumerGroupPartitionMetadataKey(group_id=group_id), None),
        (ConsumerGroupMetadataKey(group_id=group_id), None),
    ]
