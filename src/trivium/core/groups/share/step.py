"""What a heartbeat changes in a share group, worked out before anything is written.

Every finding is a record; the group itself is not touched. When the records have been written they are
replayed into it, and only then it has happened.
"""

from trivium.core.groups.assignors.simple import assign_simply
from trivium.core.groups.assignors.subscriber import NOTHING, Parts, Subscriber
from trivium.core.groups.consumer.records import Change
from trivium.core.groups.consumer.topic_view import TopicView
from trivium.core.groups.moment import Moment
from trivium.core.groups.share.group import Holding, Profile, ShareGroup
from trivium.core.groups.share.records import (
    assignment_epoch_record,
    begun_record,
    epoch_record,
    holding_record,
    member_tombstones,
    profile_record,
    target_record,
)
from trivium.core.groups.share.rules import ShareRules
from trivium.core.groups.target import Target


class Step:
    def __init__(self, group: ShareGroup, rules: ShareRules, topics: TopicView, now: Moment) -> None:
        self.group = group
        self.topics = topics
        self._rules = rules
        self._now = now
        self.records: list[Change] = []
        self._profiles = {member_id: member.profile for member_id, member in group.members.items()}
        self._target = Target(group)
        self._begun = group.begun
        self.epoch = group.epoch
        self._is_changed = False
        self.fresh: Parts = NOTHING
        """Where the group has to begin first: whoever takes this step sees to it."""

    # -- members ---------------------------------------------------------------------------------

    def introduce(self, member_id: str, profile: Profile) -> None:
        """A member comes, or says something new of itself."""
        before = self._profiles.get(member_id)
        if before != profile:
            self._profiles[member_id] = profile
            self.records.append(profile_record(self.group.group_id, member_id, profile))
        if before is None or before.topic_names != profile.topic_names:
            self._is_changed = True

    def remove(self, member_id: str) -> None:
        self.records += member_tombstones(self.group.group_id, member_id)
        del self._profiles[member_id]
        self._is_changed = True

    # -- the group -------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Come to the next epoch if there is a reason to. Without one, nothing is looked at twice."""
        group, topics = self.group, self.topics
        if not self._is_changed and group.seen_metadata_offset == topics.metadata_offset:
            return
        names = {name for profile in self._profiles.values() for name in profile.topic_names}
        wanted = frozenset(
            (topic.topic_id, number)
            for name in names
            if (topic := topics.by_name.get(name)) is not None
            for number in topic.partitions
        )
        self.fresh = wanted - self._begun
        metadata_hash = topics.hash_of(names)
        if self._is_changed or self.fresh or metadata_hash != group.metadata_hash:
            self.epoch += 1
            self.records.append(epoch_record(group.group_id, self.epoch, metadata_hash))
        if self.fresh:
            self._begun |= self.fresh
            topic_names = {topic_id: topic.name for topic_id, topic in topics.by_id.items()}
            self.records.append(begun_record(group.group_id, self._begun, topic_names))

    def assign(self) -> None:
        """Work out the target assignment, if the group has moved on and the last one stood long enough."""
        group_id, target = self.group.group_id, self._target
        if not target.is_due(self.epoch, self._now, self._rules.assignment_interval_ms(group_id)):
            return
        subscribers = {
            member_id: Subscriber(self.topics.ids_of(profile.topic_names), target.of(member_id))
            for member_id, profile in self._profiles.items()
        }
        for member_id in target.work_out(self.epoch, subscribers, self.topics.by_id, assign_simply):
            self.records.append(target_record(group_id, member_id, target.of(member_id)))
        self.records.append(assignment_epoch_record(group_id, self.epoch, self._now))

    # -- one member ------------------------------------------------------------------------------

    def follow(self, member_id: str, holding: Holding) -> Holding:
        """What the member may read from now on: its target, as far as it still subscribes to it."""
        topic_ids = self.topics.ids_of(self._profiles[member_id].topic_names)
        parts = frozenset(part for part in self._target.of(member_id) if part[0] in topic_ids)
        epoch = self._target.epoch
        if (epoch, parts) == (holding.epoch, holding.parts):
            return holding
        after = Holding(epoch, holding.epoch, parts)
        self.records.append(holding_record(self.group.group_id, member_id, after))
        return after
