"""ShareGroupDescribe: who is a member, and who reads what."""

from collections.abc import Iterable
from typing import Final

from trivium.core.commands.consumer_groups import NamedPartitions
from trivium.core.commands.share_groups import DescribedShareGroup, DescribedShareMember
from trivium.core.groups.assignors.subscriber import Part
from trivium.core.groups.consumer.records import by_topic
from trivium.core.groups.consumer.topic_view import TopicView
from trivium.core.groups.share.group import ShareGroup

ASSIGNOR: Final = "simple"
"""The only one that there is for share groups."""


def described(group: ShareGroup, topics: TopicView) -> DescribedShareGroup:
    return DescribedShareGroup(
        group.group_id,
        state=group.state_name,
        epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor=ASSIGNOR,
        members=[
            DescribedShareMember(
                member.member_id,
                member.profile.rack_id,
                member.holding.epoch,
                member.profile.client_id,
                member.profile.client_host,
                sorted(member.profile.topic_names),
                _named(member.holding.parts, topics),
            )
            for member in group.members.values()
        ],
    )


def is_visible(group: ShareGroup, topics: TopicView) -> bool:
    """Whether a caller may know of all topics that a description would name."""
    subscribed = {name for member in group.members.values() for name in member.profile.topic_names}
    return all(map(topics.may_see, subscribed))


def _named(parts: Iterable[Part], topics: TopicView) -> list[NamedPartitions]:
    """Topics that have just been deleted have no name any more."""
    return [
        NamedPartitions(topic_id, topic.name, numbers)
        for topic_id, numbers in by_topic(parts).items()
        if (topic := topics.by_id.get(topic_id)) is not None
    ]
