"""ConsumerGroupHeartbeat: joining, living in and leaving a consumer group.

A member that joins a group that is not there makes it; one that joins a classic group turns it into a
consumer group, whose classic members stay (``classic_members``).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from trivium.core.access import Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.commands.command import Reply
from trivium.core.commands.consumer_groups import ConsumerBeat, ConsumerHeartbeat
from trivium.core.faults import Fault, Refused
from trivium.core.groups.assignors.subscriber import Parts
from trivium.core.groups.consumer.departing import Departing
from trivium.core.groups.consumer.group import ConsumerGroup
from trivium.core.groups.consumer.member import (
    AWAY_EPOCH,
    JOINING_EPOCH,
    LEAVING_EPOCH,
    ConsumerMember,
    Holding,
    Profile,
)
from trivium.core.groups.consumer.migration import NotMovable, records_of, upgraded
from trivium.core.groups.consumer.patience import Patience
from trivium.core.groups.consumer.records import by_topic, encoded, holding_record
from trivium.core.groups.consumer.requests import check
from trivium.core.groups.consumer.step import Step
from trivium.core.groups.consumer.stepping import Stepping
from trivium.core.groups.group import CONSUMER_PROTOCOL, ClassicGroup
from trivium.core.groups.records import group_tombstone
from trivium.core.groups.roster import Roster
from trivium.core.internal_topic import KeyedRecord


class Heartbeats:
    def __init__(
        self,
        groups: Roster,
        stepping: Stepping,
        departing: Departing,
        patience: Patience,
        access: Access,
        new_uuid: Callable[[], str],
    ) -> None:
        self._groups = groups
        self._stepping = stepping
        self._rules = stepping.rules
        self._departing = departing
        self._patience = patience
        self._access = access
        self._new_uuid = new_uuid

    def beat(self, command: ConsumerHeartbeat, caller: Caller, reply: Reply[ConsumerBeat]) -> None:
        check(command, self._rules.assignors)
        for name in command.topic_names or ():
            if not self._access.allows(caller, Operation.DESCRIBE, Resource.TOPIC, name):
                raise Refused(Fault.NOT_AUTHORIZED_TOPIC)
        if command.member_epoch in (LEAVING_EPOCH, AWAY_EPOCH):
            self._leave(command, reply)
        else:
            self._live(command, caller, reply)

    # -- living ----------------------------------------------------------------------------------

    def _live(self, command: ConsumerHeartbeat, caller: Caller, reply: Reply[ConsumerBeat]) -> None:
        group, records = self._group(command)
        member_id = command.member_id or self._new_uuid()
        check_room(group, member_id, self._rules.size_max)
        known = group.members.get(member_id)
        step = self._stepping.begin(group, caller)
        profile, holding = self._found(step, member_id, command)
        step.introduce(member_id, _updated(profile, command, caller))
        step.refresh()
        step.assign()
        after = step.reconcile(
            member_id, holding, _owned(command), is_joining=command.member_epoch == JOINING_EPOCH
        )
        answer = ConsumerBeat(
            None,
            None,
            member_id,
            after.epoch,
            self._rules.heartbeat_interval_ms(group.group_id),
            by_topic(after.assigned)
            if _tells_all(command)
            or (known is not None and known.is_unsure)
            or after.assigned.keys() != holding.assigned.keys()
            else None,
        )
        self._stepping.take(
            step, lambda fault: reply(answer if fault is None else command.refused(fault)), records
        )
        self._settle(group)
        member = group.members[member_id]
        member.is_unsure = known is not None and command.member_epoch == JOINING_EPOCH
        self._patience.renew(group, member, has_moved=after != holding)

    def _group(self, command: ConsumerHeartbeat) -> tuple[ConsumerGroup, Sequence[KeyedRecord]]:
        """The group to live in, and what has to be written for it to be one."""
        group_id, found = command.group_id, self._groups.get(command.group_id)
        if isinstance(found, ConsumerGroup):
            return found, ()
        if command.member_epoch != JOINING_EPOCH:
            if found is None:
                raise Refused(Fault.GROUP_ID_NOT_FOUND, f"Consumer group {group_id} not found.")
            self._groups.require_consumer(group_id)
        if found is None:
            return ConsumerGroup(group_id), ()
        classic = self._groups.classic(group_id)
        if classic is None:
            raise Refused(Fault.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
        if classic.is_empty:
            return ConsumerGroup(group_id), [group_tombstone(group_id)]
        group = self._upgraded(classic)
        return group, [group_tombstone(group_id), *(encoded(change) for change in records_of(group))]

    def _upgraded(self, classic: ClassicGroup) -> ConsumerGroup:
        prefix = f"Cannot upgrade classic group {classic.group_id} to consumer group because"
        if not self._rules.migration.may_upgrade:
            raise Refused(Fault.GROUP_ID_NOT_FOUND, f"{prefix} the online upgrade is disabled.")
        if classic.protocol_type != CONSUMER_PROTOCOL:
            raise Refused(
                Fault.GROUP_ID_NOT_FOUND, f"{prefix} the group does not use the consumer embedded protocol."
            )
        if len(classic.members) > self._rules.size_max:
            raise Refused(
                Fault.GROUP_ID_NOT_FOUND,
                f"{prefix} the group size exceeds the consumer group maximum size.",
            )
        try:
            return upgraded(classic, self._stepping.view())
        except NotMovable as reason:
            raise Refused(
                Fault.GROUP_ID_NOT_FOUND, f"{prefix} the embedded consumer protocol is malformed."
            ) from reason

    def _settle(self, group: ConsumerGroup) -> None:
        """A group that has just been written takes its place, and whoever had it before is told."""
        before = self._groups.get(group.group_id)
        if before is group:
            return
        self._groups[group.group_id] = group
        if before is not None:
            before.die(Fault.REBALANCE_IN_PROGRESS)
        for member in group.members.values():
            self._patience.renew(group, member)

    # -- members ---------------------------------------------------------------------------------

    def _found(self, step: Step, member_id: str, command: ConsumerHeartbeat) -> tuple[Profile, Holding]:
        """What the member has said and held until now."""
        group, instance_id = step.group, command.instance_id
        if command.member_epoch != JOINING_EPOCH:
            member = group.named_member(member_id, instance_id)
            _check_epoch(member, command)
            return member.profile, member.holding
        former = group.static_member(instance_id)
        if former is not None and former.member_id != member_id:
            if former.profile.classic is None and former.holding.epoch != AWAY_EPOCH:
                raise Refused(
                    Fault.UNRELEASED_INSTANCE_ID,
                    f"Static member {member_id} with instance id {instance_id} cannot join the group because "
                    f"the instance id is owned by {former.member_id} member.",
                )
            return former.profile, step.replace(former, member_id)
        known = group.members.get(member_id)
        return (Profile(), Holding()) if known is None else (known.profile, known.holding)

    # -- leaving ---------------------------------------------------------------------------------

    def _leave(self, command: ConsumerHeartbeat, reply: Reply[ConsumerBeat]) -> None:
        group = self._groups.require_consumer(command.group_id)
        member = group.named_member(command.member_id, command.instance_id)
        answer = ConsumerBeat(None, None, command.member_id, command.member_epoch)

        def done(fault: Fault | None) -> None:
            reply(answer if fault is None else command.refused(fault))

        if command.member_epoch == LEAVING_EPOCH:
            self._departing.remove(group, [member], done)
            return
        # It reads nothing any more. Its place, and with it its partitions, wait until its session ends.
        away = replace(member.holding, epoch=AWAY_EPOCH, revoking={})
        self._stepping.apply(group, [holding_record(group.group_id, member.member_id, away)], done)


def check_room(group: ConsumerGroup, member_id: str, size_max: int) -> None:
    if len(group.members) >= size_max and member_id not in group.members:
        raise Refused(
            Fault.GROUP_MAX_SIZE_REACHED,
            f"The consumer group has reached its maximum capacity of {size_max} members.",
        )


def _check_epoch(member: ConsumerMember, command: ConsumerHeartbeat) -> None:
    """The epoch before is taken once more from a member that reads no more than it may: the answer with the
    new one may have been lost on the way.
    """
    holding, epoch = member.holding, command.member_epoch
    if epoch == holding.epoch:
        return
    owned = _owned(command)
    if epoch == holding.previous_epoch and owned is not None and owned.issubset(holding.assigned):
        return
    raise Refused(
        Fault.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a {'greater' if epoch > holding.epoch else 'smaller'} member epoch "
        f"({epoch}) than the one known by the group coordinator ({holding.epoch}). The member must abandon "
        "all its partitions and rejoin.",
    )


def _updated(profile: Profile, command: ConsumerHeartbeat, caller: Caller) -> Profile:
    """What a member has said, with what it says now; what it leaves out stays."""
    regex, timeout_ms = command.topic_regex, command.rebalance_timeout_ms
    return Profile(
        client_id=caller.client_id,
        # Java prints an address with a stroke before it, and tools expect to see it so.
        client_host=f"/{caller.host}",
        instance_id=profile.instance_id if command.instance_id is None else command.instance_id,
        rack_id=profile.rack_id if command.rack_id is None else command.rack_id,
        topic_names=profile.topic_names if command.topic_names is None else frozenset(command.topic_names),
        topic_regex=profile.topic_regex if regex is None else regex,
        rebalance_timeout_ms=profile.rebalance_timeout_ms if timeout_ms is None else timeout_ms,
        assignor=profile.assignor if command.assignor is None else command.assignor,
    )


def _owned(command: ConsumerHeartbeat) -> Parts | None:
    if command.owned is None:
        return None
    return frozenset((topic_id, number) for topic_id, numbers in command.owned.items() for number in numbers)


def _tells_all(command: ConsumerHeartbeat) -> bool:
    """Whether the member has said everything of itself: then it wants to hear everything, too."""
    return command.member_epoch == JOINING_EPOCH or (
        command.rebalance_timeout_ms is not None
        and (command.topic_names is not None or command.topic_regex is not None)
        and command.owned is not None
    )
