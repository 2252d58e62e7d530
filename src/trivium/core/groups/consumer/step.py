"""One step of a consumer group, worked out before anything is written: a member comes, lives on, or goes.

    introduce    what the member says of itself
    replace      it takes the place of its former self
    remove       it goes
    refresh      have subscriptions or topics changed? Then the group comes to its next epoch
    assign       the target assignment for that epoch, if it is time
    reconcile    what the member holds from now on

Nothing changes here. The outcome is a list of records, and the group changes when they are written; what the
step has found so far stands before what the group knows.
"""

from dataclasses import replace

from trivium.core.faults import Fault, Refused
from trivium.core.groups.assignors.subscriber import Parts, Subscriber
from trivium.core.groups.consumer.group import ConsumerGroup, Resolved, topics_of
from trivium.core.groups.consumer.member import JOINING_EPOCH, ConsumerMember, Holding, Profile
from trivium.core.groups.consumer.reconciling import reconciled
from trivium.core.groups.consumer.records import (
    Change,
    assignment_epoch_record,
    epoch_record,
    holding_record,
    member_tombstones,
    profile_record,
    regex_record,
    target_record,
)
from trivium.core.groups.consumer.rules import ConsumerRules
from trivium.core.groups.consumer.topic_view import TopicView
from trivium.core.groups.moment import Moment
from trivium.core.groups.patterns.automaton import pattern
from trivium.core.groups.patterns.syntax import InvalidPattern
from trivium.core.groups.target import Target


class Step:
    def __init__(self, group: ConsumerGroup, rules: ConsumerRules, topics: TopicView, now: Moment) -> None:
        self.group = group
        self.records: list[Change] = []
        self.topics = topics
        self._rules = rules
        self._now = now
        self._profiles: dict[str, Profile] | None = None
        self._resolved = group.resolved
        self._target = Target(group)
        self._epoch = group.epoch
        self._is_changed = False
        """Whether members or subscriptions are others than before."""

    @property
    def profiles(self) -> dict[str, Profile]:
        """Everybody as this step leaves them; looked up only if somebody has changed."""
        if self._profiles is None:
            self._profiles = {member_id: each.profile for member_id, each in self.group.members.items()}
        return self._profiles

    def _profile_of(self, member_id: str) -> Profile | None:
        """One of them. Most heartbeats say nothing new, and need not know all the others."""
        if self._profiles is not None:
            return self._profiles.get(member_id)
        member = self.group.members.get(member_id)
        return None if member is None else member.profile

    # -- members ---------------------------------------------------------------------------------

    def introduce(self, member_id: str, profile: Profile) -> None:
        """A member comes, or says something new of itself."""
        if profile.topic_regex and profile.topic_regex not in self._resolved:
            _check_regex(profile.topic_regex)
        before = self._profile_of(member_id)
        if before != profile:
            self.profiles[member_id] = profile
            self.records.append(profile_record(self.group.group_id, member_id, profile))
        before = before or Profile()
        if (before.topic_names, before.topic_regex) != (profile.topic_names, profile.topic_regex):
            self._is_changed = True

    def replace(self, old: ConsumerMember, member_id: str) -> Holding:
        """A static member is back under another member id, with all that it held; the group notices nothing
        of that.
        """
        group_id, target = self.group.group_id, self._target.hand_over(old.member_id, member_id)
        holding = replace(old.holding, epoch=JOINING_EPOCH, previous_epoch=JOINING_EPOCH)
        self.profiles[member_id] = self.profiles.pop(old.member_id)
        self.records += [
            *member_tombstones(group_id, old.member_id),
            profile_record(group_id, member_id, old.profile),
            target_record(group_id, member_id, target),
            holding_record(group_id, member_id, holding),
        ]
        return holding

    def remove(self, *members: ConsumerMember) -> None:
        for member in members:
            self.records += member_tombstones(self.group.group_id, member.member_id)
            del self.profiles[member.member_id]
        self._is_changed = True

    # -- the group -------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Come to the next epoch if there is a reason to. Without one, nothing is looked at twice."""
        topics = self.topics
        if not self._is_changed and self.group.seen_metadata_offset == topics.metadata_offset:
            return
        self._resolve()
        names = {name for profile in self.profiles.values() for name in topics_of(profile, self._resolved)}
        metadata_hash = topics.hash_of(names)
        if self._is_changed or metadata_hash != self.group.metadata_hash:
            self._epoch += 1
            self.records.append(epoch_record(self.group.group_id, self._epoch, metadata_hash))

    def _resolve(self) -> None:
        """Which topics match the regular expressions of members."""
        group_id, resolved = self.group.group_id, dict(self._resolved)
        wanted = {profile.topic_regex for profile in self.profiles.values() if profile.topic_regex}
        for regex in sorted(resolved.keys() - wanted):
            del resolved[regex]
            self.records.append(regex_record(group_id, regex, None))
        for regex in sorted(wanted):
            found, before = self._matching(regex), resolved.get(regex)
            if found is not None and (before is None or found != before.topics):
                resolved[regex] = Resolved(found, self.topics.metadata_offset, self._now.wall_ms)
                self.records.append(regex_record(group_id, regex, resolved[regex]))
                self._is_changed = True
        self._resolved = resolved

    def _matching(self, regex: str) -> frozenset[str] | None:
        """None if it cannot be said: then what was found before still counts."""
        try:
            found = pattern(regex).matching(self.topics.by_name)
        except InvalidPattern as invalid:
            if regex in self._resolved:
                return None
            raise _invalid(regex, invalid) from invalid
        return frozenset(name for name in found if self.topics.may_see(name))

    def assign(self) -> None:
        """Work out the target assignment, if the group has moved on and the last one stood long enough."""
        group_id, target = self.group.group_id, self._target
        if not target.is_due(self._epoch, self._now, self._rules.assignment_interval_ms(group_id)):
            return
        subscribers = {
            member_id: Subscriber(self._topic_ids_of(profile), target.of(member_id), profile.instance_id)
            for member_id, profile in self.profiles.items()
        }
        assignor = self._rules.assignor_for(self.profiles.values())
        for member_id in target.work_out(self._epoch, subscribers, self.topics.by_id, assignor):
            self.records.append(target_record(group_id, member_id, target.of(member_id)))
        self.records.append(assignment_epoch_record(group_id, self._epoch, self._now))

    # -- one member ------------------------------------------------------------------------------

    def reconcile(
        self, member_id: str, holding: Holding, owned: Parts | None, *, is_joining: bool
    ) -> Holding:
        """What the member holds from now on. What it does not subscribe to any more is taken from it at once,
        whatever the target says.
        """
        target = self._target.of(member_id)
        if self._target.epoch != self._epoch:
            topic_ids = self._topic_ids_of(self.profiles[member_id])
            target = frozenset(part for part in target if part[0] in topic_ids)
        after = reconciled(
            holding, self._target.epoch, target, self.group.is_free, owned, is_joining=is_joining
        )
        if after != holding:
            self.records.append(holding_record(self.group.group_id, member_id, after))
        return after

    def _topic_ids_of(self, profile: Profile) -> frozenset[bytes]:
        return self.topics.ids_of(topics_of(profile, self._resolved))


def _check_regex(regex: str) -> None:
    try:
        pattern(regex)
    except InvalidPattern as invalid:
        raise _invalid(regex, invalid) from invalid


def _invalid(regex: str, invalid: InvalidPattern) -> Refused:
    return Refused(
        Fault.INVALID_REGULAR_EXPRESSION,
        f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {invalid}.",
    )
