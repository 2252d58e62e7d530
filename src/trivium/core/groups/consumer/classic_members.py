"""Members of a consumer group that speak the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

To such a member its epoch is the generation, and it never leads. When it is to give something up, or could
get something, its heartbeat tells it to join again; with that it says what it still reads.
"""

from collections.abc import Callable

from trivium.core.caller import Caller
from trivium.core.commands.command import Reply
from trivium.core.commands.groups import (
    NO_MEMBER_ID,
    Heartbeat,
    Joined,
    JoinGroup,
    LeaveGroup,
    Leaver,
    Left,
    LeftMember,
    Synced,
    SyncGroup,
)
from trivium.core.faults import Fault, Refused
from trivium.core.groups.assignors.subscriber import NOTHING
from trivium.core.groups.consumer.departing import Departing
from trivium.core.groups.consumer.group import ConsumerGroup
from trivium.core.groups.consumer.heartbeats import check_room
from trivium.core.groups.consumer.member import ClassicSide, ConsumerMember, Holding, MemberState, Profile
from trivium.core.groups.consumer.migration import NotMovable, assignment_bytes, owned_parts, subscription_of
from trivium.core.groups.consumer.patience import Patience
from trivium.core.groups.consumer.step import Step
from trivium.core.groups.consumer.stepping import Stepping
from trivium.core.groups.group import CONSUMER_PROTOCOL
from trivium.core.groups.rules import GroupRules
from trivium.core.ports import Done


class ClassicMembers:
    def __init__(
        self,
        rules: GroupRules,
        stepping: Stepping,
        departing: Departing,
        patience: Patience,
        new_uuid: Callable[[], str],
    ) -> None:
        self._rules = rules
        self._stepping = stepping
        self._departing = departing
        self._patience = patience
        self._new_uuid = new_uuid

    # -- joining ---------------------------------------------------------------------------------

    def join(self, group: ConsumerGroup, command: JoinGroup, caller: Caller, reply: Reply[Joined]) -> None:
        rules = self._rules
        if not rules.session_timeout_min_ms <= command.session_timeout_ms <= rules.session_timeout_max_ms:
            raise Refused(Fault.INVALID_SESSION_TIMEOUT)
        is_newcomer = command.member_id == NO_MEMBER_ID
        member_id = self._new_uuid() if is_newcomer else command.member_id
        check_room(group, member_id, self._stepping.rules.size_max)
        side = ClassicSide(command.session_timeout_ms, tuple(command.protocols))
        _check_protocols(group, command, side)
        if is_newcomer and command.wants_member_id and command.instance_id is None:
            reply(Joined(member_id, Fault.MEMBER_ID_REQUIRED))
            return
        step = self._stepping.begin(group, caller)
        holding = self._found(step, member_id, command, is_newcomer=is_newcomer)
        subscription = subscription_of(side)
        step.introduce(
            member_id,
            Profile(
                client_id=caller.client_id,
                client_host=f"/{caller.host}",
                instance_id=command.instance_id,
                rack_id=subscription.rack_id,
                topic_names=frozenset(subscription.topics),
                rebalance_timeout_ms=command.rebalance_timeout_ms,
                classic=side,
            ),
        )
        step.refresh()
        step.assign()
        owned = owned_parts(subscription, step.topics)
        after = step.reconcile(member_id, holding, owned, is_joining=True)
        answer = Joined(
            member_id,
            generation=after.epoch,
            protocol_type=CONSUMER_PROTOCOL,
            protocol_name=command.protocols[0].name,
        )
        self._take(step, lambda fault: reply(answer if fault is None else command.refused(fault)))
        member = group.members.get(member_id)
        if member is not None:
            self._patience.renew(group, member)
            self._patience.await_sync(group, member)

    def _take(self, step: Step, done: Done) -> None:
        """If the last member that spoke the other protocol was replaced, the group is a classic one then."""
        group, was_all_classic = step.group, step.group.is_all_classic
        self._stepping.take(step, _nobody_waits)
        if was_all_classic or not self._departing.leave_to_classic(group, done):
            self._stepping.when_durable(done)

    def _found(self, step: Step, member_id: str, command: JoinGroup, *, is_newcomer: bool) -> Holding:
        """What the member has held until now."""
        group, instance_id = step.group, command.instance_id
        if instance_id is None:
            known = group.members.get(member_id)
            return Holding() if known is None else known.holding
        if not is_newcomer:
            return group.named_member(member_id, instance_id).holding
        former = group.static_member(instance_id)
        return Holding() if former is None else step.replace(former, member_id)

    # -- living ----------------------------------------------------------------------------------

    def sync(self, group: ConsumerGroup, command: SyncGroup, caller: Caller, reply: Reply[Synced]) -> None:
        member, side = self._member(group, command.member_id, command.instance_id, command.generation)
        if command.protocol_type not in (None, CONSUMER_PROTOCOL) or command.protocol_name not in (
            None,
            side.protocols[0].name,
        ):
            raise Refused(Fault.INCONSISTENT_GROUP_PROTOCOL)
        holding = member.holding
        if group.epoch > holding.epoch and holding.state is not MemberState.UNREVOKED_PARTITIONS:
            self._patience.await_join(group, member)
            raise Refused(Fault.REBALANCE_IN_PROGRESS)
        assignment = assignment_bytes(side, holding, self._stepping.view())
        answer = Synced(None, command.protocol_type, command.protocol_name, assignment)
        member.deadlines.cancel("sync")
        self._patience.renew(group, member)
        self._stepping.when_durable(lambda fault: reply(answer if fault is None else command.refused(fault)))

    def beat(
        self, group: ConsumerGroup, command: Heartbeat, caller: Caller, reply: Reply[Fault | None]
    ) -> None:
        member, _ = self._member(group, command.member_id, command.instance_id, command.generation)
        self._patience.renew(group, member)
        if _is_to_join(group, member):
            self._patience.await_join(group, member)
            raise Refused(Fault.REBALANCE_IN_PROGRESS)
        reply(None)

    def _member(
        self, group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int
    ) -> tuple[ConsumerMember, ClassicSide]:
        member = group.named_member(member_id, instance_id)
        side = member.profile.classic
        if side is None:
            raise Refused(Fault.UNKNOWN_MEMBER_ID, f"Member {member_id} does not use the classic protocol.")
        if generation != member.holding.epoch:
            raise Refused(Fault.ILLEGAL_GENERATION)
        return member, side

    # -- leaving ---------------------------------------------------------------------------------

    def leave(self, group: ConsumerGroup, command: LeaveGroup, caller: Caller, reply: Reply[Left]) -> None:
        """Tools also send members away that do not speak the classic protocol."""
        results: list[LeftMember] = []
        leaving: dict[str, ConsumerMember] = {}
        for leaver in command.members:
            fault = None
            try:
                member = _leaver(group, leaver)
                leaving[member.member_id] = member
            except Refused as refused:
                fault = refused.fault
            results.append(LeftMember(leaver.member_id, leaver.instance_id, fault))
        if not leaving:
            reply(Left(members=results))
            return
        self._departing.remove(
            group,
            list(leaving.values()),
            lambda fault: reply(Left(members=results) if fault is None else command.refused(fault)),
        )


def _leaver(group: ConsumerGroup, leaver: Leaver) -> ConsumerMember:
    if leaver.member_id == NO_MEMBER_ID and leaver.instance_id is not None:
        # An administrator sends a static member away by the name that is known to people.
        member = group.static_member(leaver.instance_id)
        if member is None:
            raise Refused(Fault.UNKNOWN_MEMBER_ID)
        return member
    return group.named_member(leaver.member_id, leaver.instance_id)


def _is_to_join(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """The group has moved on, or it has to give something up, or what it waits for has become free."""
    holding = member.holding
    if holding.epoch < group.epoch or holding.state is MemberState.UNREVOKED_PARTITIONS:
        return True
    missing = group.target.get(member.member_id, NOTHING).difference(holding.assigned)
    return holding.state is MemberState.UNRELEASED_PARTITIONS and all(map(group.is_free, missing))


def _check_protocols(group: ConsumerGroup, command: JoinGroup, side: ClassicSide) -> None:
    """A classic member must be a consumer, and share a protocol with all others of its kind: they may be left
    alone with each other.
    """
    others = [
        {protocol.name for protocol in member.profile.classic.protocols}
        for member in group.members.values()
        if member.profile.classic is not None
    ]
    shared = {protocol.name for protocol in side.protocols}.intersection(*others)
    if command.protocol_type != CONSUMER_PROTOCOL or not shared:
        raise Refused(Fault.INCONSISTENT_GROUP_PROTOCOL)
    try:
        subscription_of(side)
    except NotMovable as reason:
        raise Refused(Fault.INCONSISTENT_GROUP_PROTOCOL, str(reason)) from reason


def _nobody_waits(_fault: Fault | None) -> None:
    """Whoever asks waits for what is written after it."""
