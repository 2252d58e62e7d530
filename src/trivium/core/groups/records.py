"""Groups and offsets as records of ``__consumer_offsets``, in the versions that Kafka 4.3 writes."""

from collections.abc import Mapping

from trivium.core.commands.groups import Protocol
from trivium.core.groups.group import ClassicGroup, State
from trivium.core.groups.member import NO_ASSIGNMENT, Member
from trivium.core.groups.moment import Moment
from trivium.core.groups.offsets import CommittedOffset, Place
from trivium.core.internal_topic import KeyedRecord
from trivium.messages.stored.classic_groups import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from trivium.messages.stored.group_log import GROUP_LOG
from trivium.messages.stored.offsets import OffsetCommitKey, OffsetCommitValue

GROUP_VERSION = 3
OFFSET_VERSION = 4
EXPIRING_OFFSET_VERSION = 1
"""The only version that can say when an offset expires; it knows neither leader epochs nor topic ids."""
NO_TIMESTAMP = -1


def group_record(group: ClassicGroup, assignments: Mapping[str, bytes] | None = None) -> KeyedRecord:
    """The group as it is, or as it will be with these assignments by member id."""
    members = [
        MemberMetadata(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout=member.rebalance_timeout_ms,
            session_timeout=member.session_timeout_ms,
            subscription=member.metadata(group.protocol_name),
            assignment=member.assignment
            if assignments is None
            else assignments.get(member.member_id, NO_ASSIGNMENT),
        )
        for member in group.members.values()
    ]
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation,
        protocol=group.protocol_name,
        leader=group.leader,
        current_state_timestamp=NO_TIMESTAMP if group.since is None else group.since.wall_ms,
        members=members,
    )
    return _group_key(group.group_id), GROUP_LOG.encode_value(value, GROUP_VERSION)


def group_tombstone(group_id: str) -> KeyedRecord:
    return _group_key(group_id), None


def _group_key(group_id: str) -> bytes:
    return GROUP_LOG.encode_key(GroupMetadataKey(group=group_id))


def offset_record(group_id: str, place: Place, committed: CommittedOffset) -> KeyedRecord:
    expires = committed.expires_at_ms is not None
    value = OffsetCommitValue(
        offset=committed.offset,
        leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        commit_timestamp=committed.since.wall_ms,
        expire_timestamp=NO_TIMESTAMP if committed.expires_at_ms is None else committed.expires_at_ms,
        topic_id=committed.topic_id,
    )
    version = EXPIRING_OFFSET_VERSION if expires else OFFSET_VERSION
    return _offset_key(group_id, place), GROUP_LOG.encode_value(value, version)


def offset_tombstone(group_id: str, place: Place) -> KeyedRecord:
    return _offset_key(group_id, place), None


def _offset_key(group_id: str, place: Place) -> bytes:
    topic, partition = place
    return GROUP_LOG.encode_key(OffsetCommitKey(group=group_id, topic=topic, partition=partition))


def group_from(group_id: str, value: GroupMetadataValue, now: Moment) -> ClassicGroup:
    """The group that a record tells of. Its members know only the protocol that was chosen."""
    stored_at = value.current_state_timestamp
    group = ClassicGroup(group_id, None if stored_at == NO_TIMESTAMP else now.recall(stored_at))
    group.generation = value.generation
    group.protocol_name = value.protocol
    for each in value.members:
        member = Member(
            each.member_id,
            each.group_instance_id,
            each.client_id,
            each.client_host,
            each.session_timeout,
            each.session_timeout if each.rebalance_timeout < 0 else each.rebalance_timeout,
            [Protocol(value.protocol or "", each.subscription)],
            each.assignment,
        )
        group.add(member, value.protocol_type)
    group.protocol_type = value.protocol_type or None
    if value.leader in group.members:
        group.leader = value.leader
    if group.members:
        group.state = State.STABLE
    group.read_subscriptions()
    return group


def offset_from(value: OffsetCommitValue, now: Moment) -> CommittedOffset:
    return CommittedOffset(
        offset=value.offset,
        leader_epoch=value.leader_epoch,
        metadata=value.metadata,
        since=now.recall(value.commit_timestamp),
        expires_at_ms=None if value.expire_timestamp == NO_TIMESTAMP else value.expire_timestamp,
        topic_id=value.topic_id,
    )
