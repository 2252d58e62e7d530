"""ConsumerGroupDescribe: who is a member, who reads what, and who is to read what."""

from collections.abc import Iterable

from trivium.core.commands.consumer_groups import (
    DescribedConsumer,
    DescribedConsumerGroup,
    MemberKind,
    NamedPartitions,
)
from trivium.core.groups.assignors.subscriber import NOTHING, Part
from trivium.core.groups.consumer.group import ConsumerGroup
from trivium.core.groups.consumer.member import ConsumerMember
from trivium.core.groups.consumer.records import by_topic
from trivium.core.groups.consumer.rules import ConsumerRules
from trivium.core.groups.consumer.topic_view import TopicView


def described(group: ConsumerGroup, rules: ConsumerRules, topics: TopicView) -> DescribedConsumerGroup:
    return DescribedConsumerGroup(
        group.group_id,
        state=group.state_name,
        epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor=rules.assignor_name(member.profile for member in group.members.values()),
        members=[_member(group, member, topics) for member in group.members.values()],
    )


def is_visible(group: ConsumerGroup, topics: TopicView) -> bool:
    """Whether a caller may know of all topics that a description would name."""
    return all(
        topics.may_see(topic.name)
        for member in group.members.values()
        for topic_id in {
            part[0] for part in member.holding.parts | group.target.get(member.member_id, NOTHING)
        }
        if (topic := topics.by_id.get(topic_id)) is not None
    ) and all(map(topics.may_see, group.subscribed_topics))


def _member(group: ConsumerGroup, member: ConsumerMember, topics: TopicView) -> DescribedConsumer:
    profile, holding = member.profile, member.holding
    return DescribedConsumer(
        member.member_id,
        profile.instance_id,
        profile.rack_id,
        holding.epoch,
        profile.client_id,
        profile.client_host,
        sorted(profile.topic_names),
        profile.topic_regex,
        _named(holding.parts, topics),
        _named(group.target.get(member.member_id, NOTHING), topics),
        MemberKind.CONSUMER if profile.classic is None else MemberKind.CLASSIC,
    )


def _named(parts: Iterable[Part], topics: TopicView) -> list[NamedPartitions]:
    """Topics that have just been deleted have no name any more."""
    return [
        NamedPartitions(topic_id, topic.name, numbers)
        for topic_id, numbers in by_topic(parts).items()
        if (topic := topics.by_id.get(topic_id)) is not None
    ]
