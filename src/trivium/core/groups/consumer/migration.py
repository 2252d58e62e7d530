"""A classic group as a consumer group, and the other way round: the same members, holding the same.

Both only say what the other group would be. ``NotMovable`` if members have told each other things that are no
subscriptions and assignments of consumers.
"""

from collections.abc import Mapping
from typing import Final

from trivium.core.groups.assignors.subscriber import Part
from trivium.core.groups.consumer.group import ConsumerGroup
from trivium.core.groups.consumer.member import ClassicSide, Holding, Profile
from trivium.core.groups.consumer.records import (
    Change,
    assignment_epoch_record,
    epoch_record,
    holding_record,
    profile_record,
    target_record,
)
from trivium.core.groups.consumer.topic_view import TopicView
from trivium.core.groups.group import CONSUMER_PROTOCOL, ClassicGroup, State
from trivium.core.groups.member import Member
from trivium.core.groups.moment import Moment
from trivium.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
    decode_assignment,
    decode_subscription,
    encode_assignment,
)
from trivium.wire.errors import DecodeError

_ASSIGNMENT_VERSION_MAX: Final = ConsumerProtocolAssignment.VERSIONS.last


class NotMovable(Exception):
    pass


# -- what classic members tell each other ----------------------------------------------------------


def subscription_of(classic: ClassicSide) -> ConsumerProtocolSubscription:
    """All protocols of a consumer carry the same subscription: the first one's is read."""
    return _subscription(classic.protocols[0].metadata)[1]


def _subscription(metadata: bytes) -> tuple[int, ConsumerProtocolSubscription]:
    try:
        return decode_subscription(metadata)
    except DecodeError as error:
        raise NotMovable(str(error)) from error


def owned_parts(subscription: ConsumerProtocolSubscription, topics: TopicView) -> frozenset[Part]:
    return frozenset(_parts(subscription.owned_partitions, topics))


def assignment_bytes(classic: ClassicSide, holding: Holding, topics: TopicView) -> bytes:
    """What a member holds, as a classic member is told it: in the version that it speaks."""
    version, _ = _subscription(classic.protocols[0].metadata)
    return encode_assignment(
        ConsumerProtocolAssignment(
            assigned_partitions=[
                TopicPartition(topic=name, partitions=numbers)
                for name, numbers in topics.by_topic_name(holding.assigned).items()
            ]
        ),
        min(version, _ASSIGNMENT_VERSION_MAX),
    )


def _parts(topics_parts: list[TopicPartition], topics: TopicView) -> list[Part]:
    return [
        (topic.topic_id, number)
        for each in topics_parts
        if (topic := topics.by_name.get(each.topic)) is not None
        for number in each.partitions
    ]


# -- classic to consumer ---------------------------------------------------------------------------


def upgraded(classic: ClassicGroup, topics: TopicView) -> ConsumerGroup:
    """Everybody holds what the last generation gave it; in whatever follows, nothing is given twice."""
    group = ConsumerGroup(classic.group_id)
    group.epoch = group.assignment_epoch = classic.generation
    taken: set[Part] = set()
    for member in classic.members.values():
        side = ClassicSide(member.session_timeout_ms, member.protocols)
        subscription = subscription_of(side)
        held = _assigned(member, classic.generation, topics, taken)
        taken.update(held)
        group.introduce(
            member.member_id,
            Profile(
                client_id=member.client_id,
                client_host=member.client_host,
                instance_id=member.instance_id,
                rack_id=subscription.rack_id,
                topic_names=frozenset(subscription.topics),
                rebalance_timeout_ms=member.rebalance_timeout_ms,
                classic=side,
            ),
        )
        group.target[member.member_id] = frozenset(held)
        group.hold(member.member_id, Holding(classic.generation, classic.generation, assigned=held))
    group.metadata_hash = topics.hash_of(group.subscribed_topics)
    return group


def _assigned(member: Member, generation: int, topics: TopicView, taken: set[Part]) -> Mapping[Part, int]:
    """A leader may assign what it likes: of two members with the same partition one has it here."""
    if not member.assignment:
        return {}
    try:
        assignment = decode_assignment(member.assignment)[1]
    except DecodeError as error:
        raise NotMovable(str(error)) from error
    parts = _parts(assignment.assigned_partitions, topics)
    return {part: generation for part in parts if part not in taken}


def records_of(group: ConsumerGroup) -> list[Change]:
    """A whole group, to be written at once."""
    group_id, members = group.group_id, group.members
    return [
        *(profile_record(group_id, member_id, member.profile) for member_id, member in members.items()),
        epoch_record(group_id, group.epoch, group.metadata_hash),
        *(target_record(group_id, member_id, group.target[member_id]) for member_id in members),
        assignment_epoch_record(group_id, group.assignment_epoch, group.assigned_at),
        *(holding_record(group_id, member_id, member.holding) for member_id, member in members.items()),
    ]


# -- consumer to classic ---------------------------------------------------------------------------


def downgraded(group: ConsumerGroup, without: frozenset[str], topics: TopicView, now: Moment) -> ClassicGroup:
    """A stable classic group of all members but these; they all speak the classic protocol."""
    classic = ClassicGroup(group.group_id, now)
    classic.generation = group.epoch
    for member_id, each in group.members.items():
        if member_id in without:
            continue
        profile, side = each.profile, each.profile.classic
        assert side is not None, f"{member_id} does not speak the classic protocol"
        member = Member(
            member_id,
            profile.instance_id,
            profile.client_id,
            profile.client_host,
            side.session_timeout_ms,
            profile.rebalance_timeout_ms,
            side.protocols,
            assignment_bytes(side, each.holding, topics),
        )
        classic.add(member, CONSUMER_PROTOCOL)
    classic.protocol_name = classic.select_protocol()
    classic.state = State.STABLE
    classic.read_subscriptions()
    return classic
