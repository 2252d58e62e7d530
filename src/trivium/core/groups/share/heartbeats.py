"""ShareGroupHeartbeat: joining, living in and leaving a share group.

A member that joins a group that is not there makes it. With the first member that subscribes to a topic the
group begins there (``states``), and only then partitions of it are given to members.
"""

from collections.abc import Callable, Sequence
from typing import Final

from trivium.core.access import Access, Operation, Resource
from trivium.core.all_done import AllDone
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply
from trivium.core.commands.share_groups import ShareBeat, ShareHeartbeat
from trivium.core.faults import Fault, Refused
from trivium.core.groups.consumer.records import Change, by_topic, encoded
from trivium.core.groups.consumer.topic_view import TopicView
from trivium.core.groups.moment import Moment
from trivium.core.groups.roster import Roster
from trivium.core.groups.share.group import (
    JOINING_EPOCH,
    LEAVING_EPOCH,
    Holding,
    Profile,
    ShareGroup,
    ShareMember,
)
from trivium.core.groups.share.records import replay
from trivium.core.groups.share.rules import MEMBER_ID_CHARS_MAX, ShareRules
from trivium.core.groups.share.states import ShareStates
from trivium.core.groups.share.step import Step
from trivium.core.internal_topic import KeyedRecord
from trivium.core.ports import Done
from trivium.core.timers import Timers

RETRY_MS: Final = 1000
"""After so long a member whose end could not be written is sent away again."""


class Heartbeats:
    def __init__(
        self,
        groups: Roster,
        rules: ShareRules,
        states: ShareStates,
        cluster: Cluster,
        access: Access,
        timers: Timers,
        now: Callable[[], Moment],
        write: Callable[[Sequence[KeyedRecord], Done], None],
        when_durable: Callable[[Done], None],
    ) -> None:
        self._groups = groups
        self._rules = rules
        self._states = states
        self._cluster = cluster
        self._access = access
        self._timers = timers
        self._now = now
        self._write = write
        self._when_durable = when_durable

    def beat(self, command: ShareHeartbeat, caller: Caller, reply: Reply[ShareBeat]) -> None:
        _check(command)
        for name in command.topic_names or ():
            if not self._access.allows(caller, Operation.DESCRIBE, Resource.TOPIC, name):
                raise Refused(Fault.NOT_AUTHORIZED_TOPIC)
        if command.member_epoch == LEAVING_EPOCH:
            self._leave(command, reply)
        else:
            self._live(command, caller, reply)

    # -- living ----------------------------------------------------------------------------------

    def _live(self, command: ShareHeartbeat, caller: Caller, reply: Reply[ShareBeat]) -> None:
        group, member_id = self._group(command), command.member_id
        known = group.members.get(member_id)
        if known is None and len(group.members) >= self._rules.size_max:
            raise Refused(
                Fault.GROUP_MAX_SIZE_REACHED,
                f"The share group has reached its maximum capacity of {self._rules.size_max} members.",
            )
        if command.member_epoch != JOINING_EPOCH:
            known = group.member(member_id)
            _check_epoch(known.holding, command.member_epoch)
        profile, holding = (Profile(), Holding()) if known is None else (known.profile, known.holding)
        step = self._step(group)
        step.introduce(member_id, _updated(profile, command, caller))
        step.refresh()
        step.assign()
        after = step.follow(member_id, holding)
        tells_all = (
            command.member_epoch == JOINING_EPOCH
            or command.topic_names is not None
            # It speaks in an epoch before: a late heartbeat of it has got the answer that it needs.
            or command.member_epoch != holding.epoch
        )
        answer = ShareBeat(
            None,
            None,
            member_id,
            after.epoch,
            self._rules.heartbeat_interval_ms(group.group_id),
            by_topic(after.parts) if tells_all or after.parts != holding.parts else None,
        )
        self._take(step, lambda fault: reply(answer if fault is None else command.refused(fault)))
        self._groups[group.group_id] = group
        self.renew(group, group.members[member_id])

    def _group(self, command: ShareHeartbeat) -> ShareGroup:
        found = self._groups.get(command.group_id)
        if isinstance(found, ShareGroup):
            return found
        if found is not None:
            raise Refused(Fault.GROUP_ID_NOT_FOUND, f"Group {command.group_id} is not a share group.")
        if command.member_epoch != JOINING_EPOCH:
            raise Refused(Fault.GROUP_ID_NOT_FOUND, f"Share group {command.group_id} not found.")
        return ShareGroup(command.group_id)

    def _step(self, group: ShareGroup) -> Step:
        cluster = self._cluster
        topics = TopicView(
            cluster.image.topics.by_name, cluster.image.topics.by_id, cluster.metadata_offset_end
        )
        return Step(group, self._rules, topics, self._now())

    # -- leaving ---------------------------------------------------------------------------------

    def _leave(self, command: ShareHeartbeat, reply: Reply[ShareBeat]) -> None:
        group = self._groups.require_share(command.group_id)
        answer = ShareBeat(None, None, command.member_id, command.member_epoch)
        self._remove(
            group,
            group.member(command.member_id),
            lambda fault: reply(answer if fault is None else command.refused(fault)),
        )

    def _remove(self, group: ShareGroup, member: ShareMember, done: Done) -> None:
        """The records that it has acquired are not touched: it may still say what has become of them."""
        step = self._step(group)
        step.remove(member.member_id)
        step.refresh()
        self._take(step, done)

    def renew(self, group: ShareGroup, member: ShareMember) -> None:
        """It was heard of: its session begins anew."""
        self._expire_in(self._rules.session_timeout_ms(group.group_id), group, member)

    def _expire_in(self, delay_ms: int, group: ShareGroup, member: ShareMember) -> None:
        member.end_session()
        if not group.is_dead:
            member.session = self._timers.after(delay_ms, lambda: self._give_up(group, member))

    def _give_up(self, group: ShareGroup, member: ShareMember) -> None:
        try:
            self._remove(group, member, _nobody_waits)
        except Refused:
            self._expire_in(RETRY_MS, group, member)

    # -- writing ---------------------------------------------------------------------------------

    def _take(self, step: Step, done: Done) -> None:
        """Write what the step has found, and let it happen. ``Refused`` if it cannot be written."""
        group, waiting = step.group, AllDone(done)
        # What is there already stays: it was begun by a step that could not be written to its end.
        fresh = [key for key in group.share_keys(step.fresh) if self._states.find(key) is None]
        if fresh:
            self._states.begin(fresh, step.epoch, None, waiting.begin())
        self.apply(group, step.records, waiting.begin())
        group.seen_metadata_offset = step.topics.metadata_offset
        waiting.all_begun()

    def apply(self, group: ShareGroup, records: Sequence[Change], done: Done) -> None:
        if not records:
            self._when_durable(done)
            return
        self._write([encoded(change) for change in records], done)
        now = self._now()
        for key, value in records:
            replay(group, key, value, now)


def _check(command: ShareHeartbeat) -> None:
    """What a heartbeat must say to be one, in the order in which Kafka looks."""
    if not command.member_id or len(command.member_id) > MEMBER_ID_CHARS_MAX:
        raise Refused(Fault.INVALID_REQUEST)
    if not command.group_id:
        raise Refused(Fault.INVALID_REQUEST, "GroupId can't be empty.")
    if command.rack_id == "":
        raise Refused(Fault.INVALID_REQUEST, "RackId can't be empty.")
    if command.member_epoch == JOINING_EPOCH and not command.topic_names:
        raise Refused(Fault.INVALID_REQUEST, "SubscribedTopicNames must be set in first request.")
    if command.member_epoch < LEAVING_EPOCH:
        raise Refused(Fault.INVALID_REQUEST, "MemberEpoch is invalid.")


def _check_epoch(holding: Holding, epoch: int) -> None:
    """The epoch before is taken once more: the answer with the new one may have been lost on the way."""
    if epoch in (holding.epoch, holding.previous_epoch):
        return
    if epoch > holding.epoch:
        how = (
            f"a greater member epoch ({epoch}) than the one known by the group coordinator ({holding.epoch})"
        )
    else:
        how = (
            f"a smaller member epoch ({epoch}) than the one known by the group coordinator "
            f"({holding.epoch}), and it does not match the previous member epoch ({holding.previous_epoch})"
        )
    raise Refused(
        Fault.FENCED_MEMBER_EPOCH,
        f"The share group member has {how}. The member must abandon all its partitions and rejoin.",
    )


def _updated(profile: Profile, command: ShareHeartbeat, caller: Caller) -> Profile:
    """What a member has said, with what it says now; what it leaves out stays."""
    return Profile(
        client_id=caller.client_id,
        # Java prints an address with a stroke before it, and tools expect to see it so.
        client_host=f"/{caller.host}",
        rack_id=profile.rack_id if command.rack_id is None else command.rack_id,
        topic_names=profile.topic_names if command.topic_names is None else frozenset(command.topic_names),
    )


def _nobody_waits(_fault: Fault | None) -> None:
    """If it was never written, the shard is given up, and the next start finds the member once more."""
