"""What groups there are: listing, describing, deleting, and the offsets of several at once."""

from collections.abc import Callable
from typing import Final

from trivium.core.access import CLUSTER_NAME, Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply
from trivium.core.commands.consumer_groups import DescribeConsumerGroups, DescribedConsumerGroup
from trivium.core.commands.groups import (
    DeletedGroup,
    DeleteGroups,
    DescribedGroup,
    DescribedMember,
    DescribeGroups,
    ListedGroup,
    ListedGroups,
    ListGroups,
)
from trivium.core.commands.offsets import FetchOffsets, GroupOffsets, GroupOffsetsWanted
from trivium.core.commands.share_groups import (
    DescribedShareGroup,
    DescribeShareGroups,
    DescribeShareOffsets,
    ShareGroupOffsets,
    ShareGroupOffsetsWanted,
)
from trivium.core.faults import Fault, Refused
from trivium.core.groups.consumer.describing import described, is_visible
from trivium.core.groups.consumer.rules import ConsumerRules
from trivium.core.groups.consumer.topic_view import TopicView
from trivium.core.groups.group import ClassicGroup, State
from trivium.core.groups.shards import Shards
from trivium.core.groups.share.describing import described as described_share_group
from trivium.core.groups.share.describing import is_visible as shares_are_visible

GROUP_OPERATIONS = (
    Operation.READ,
    Operation.DELETE,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)
"""What can be done with a group at all."""
_HIDDEN_TOPICS: Final = (
    "The group has members that read topics which the client is not authorized to describe."
)


class Listing:
    def __init__(
        self, shards: Shards, access: Access, consumer_rules: ConsumerRules, cluster: Cluster
    ) -> None:
        self._shards = shards
        self._access = access
        self._consumer_rules = consumer_rules
        self._cluster = cluster

    def _allows(self, caller: Caller, operation: Operation, group_id: str) -> bool:
        return self._access.allows(caller, operation, Resource.GROUP, group_id)

    # -- listing ---------------------------------------------------------------------------------

    def list_groups(self, command: ListGroups, caller: Caller, reply: Reply[ListedGroups]) -> None:
        states = {state.casefold() for state in command.states}
        types = {kind.casefold() for kind in command.types}
        sees_all = self._access.shows(caller, Operation.DESCRIBE, Resource.CLUSTER, CLUSTER_NAME)
        groups = [
            ListedGroup(group.group_id, group.protocol_type or "", group.state_name, group.TYPE)
            for shard in self._shards.all()
            for group in shard.groups.values()
            if (not states or group.state_name.casefold() in states)
            and (not types or group.TYPE in types)
            and (sees_all or self._access.shows(caller, Operation.DESCRIBE, Resource.GROUP, group.group_id))
        ]
        reply(ListedGroups(groups=groups))

    # -- describing ------------------------------------------------------------------------------

    def describe(self, command: DescribeGroups, caller: Caller, reply: Reply[list[DescribedGroup]]) -> None:
        reply(
            [
                self._describe_one(group_id, caller, with_operations=command.with_operations)
                for group_id in command.group_ids
            ]
        )

    def _describe_one(self, group_id: str, caller: Caller, *, with_operations: bool) -> DescribedGroup:
        if not self._allows(caller, Operation.DESCRIBE, group_id):
            return DescribedGroup(group_id, Fault.NOT_AUTHORIZED_GROUP)
        try:
            groups = self._shards.of(group_id).groups
        except Refused as refused:
            return DescribedGroup(group_id, refused.fault, refused.message)
        group = groups.classic(group_id)
        if group is None:
            reason = "is not a classic group" if group_id in groups else "not found"
            return DescribedGroup(
                group_id,
                Fault.GROUP_ID_NOT_FOUND,
                f"Group {group_id} {reason}.",
                state=State.DEAD.value,
                operations=self._operations(group_id, caller) if with_operations else None,
            )
        return DescribedGroup(
            group_id,
            state=group.state.value,
            protocol_type=group.protocol_type or "",
            # Between generations it is not decided what members share, or who reads what.
            protocol_name=(group.protocol_name or "") if group.state is State.STABLE else "",
            members=_members(group),
            operations=self._operations(group_id, caller) if with_operations else None,
        )

    def describe_consumers(
        self, command: DescribeConsumerGroups, caller: Caller, reply: Reply[list[DescribedConsumerGroup]]
    ) -> None:
        reply(
            [
                self._describe_consumer_group(group_id, caller, with_operations=command.with_operations)
                for group_id in command.group_ids
            ]
        )

    def _describe_consumer_group(
        self, group_id: str, caller: Caller, *, with_operations: bool
    ) -> DescribedConsumerGroup:
        if not self._allows(caller, Operation.DESCRIBE, group_id):
            return DescribedConsumerGroup(group_id, Fault.NOT_AUTHORIZED_GROUP)
        if not group_id:
            return DescribedConsumerGroup(group_id, Fault.INVALID_GROUP_ID)
        try:
            group = self._shards.of(group_id).groups.require_consumer(group_id)
        except Refused as refused:
            return DescribedConsumerGroup(group_id, refused.fault, refused.message)
        topics = self._view(caller)
        if not is_visible(group, topics):
            return DescribedConsumerGroup(group_id, Fault.NOT_AUTHORIZED_TOPIC, _HIDDEN_TOPICS)
        found = described(group, self._consumer_rules, topics)
        return found._replace(operations=self._operations(group_id, caller)) if with_operations else found

    def describe_shares(
        self, command: DescribeShareGroups, caller: Caller, reply: Reply[list[DescribedShareGroup]]
    ) -> None:
        reply(
            [
                self._describe_share_group(group_id, caller, with_operations=command.with_operations)
                for group_id in command.group_ids
            ]
        )

    def _describe_share_group(
        self, group_id: str, caller: Caller, *, with_operations: bool
    ) -> DescribedShareGroup:
        if not self._allows(caller, Operation.DESCRIBE, group_id):
            return DescribedShareGroup(group_id, Fault.NOT_AUTHORIZED_GROUP)
        if not group_id:
            return DescribedShareGroup(group_id, Fault.INVALID_GROUP_ID)
        try:
            group = self._shards.of(group_id).groups.require_share(group_id)
        except Refused as refused:
            return DescribedShareGroup(group_id, refused.fault, refused.message)
        topics = self._view(caller)
        if not shares_are_visible(group, topics):
            return DescribedShareGroup(group_id, Fault.NOT_AUTHORIZED_TOPIC, _HIDDEN_TOPICS)
        found = described_share_group(group, topics)
        return found._replace(operations=self._operations(group_id, caller)) if with_operations else found

    def describe_share_offsets(
        self, command: DescribeShareOffsets, caller: Caller, reply: Reply[list[ShareGroupOffsets]]
    ) -> None:
        reply([self._share_offsets_of(wanted, caller) for wanted in command.groups])

    def _share_offsets_of(self, wanted: ShareGroupOffsetsWanted, caller: Caller) -> ShareGroupOffsets:
        if not self._allows(caller, Operation.DESCRIBE, wanted.group_id):
            return ShareGroupOffsets(wanted.group_id, Fault.NOT_AUTHORIZED_GROUP)
        try:
            return self._shards.of(wanted.group_id).shares.standing.describe(wanted, caller)
        except Refused as refused:
            return ShareGroupOffsets(wanted.group_id, refused.fault, refused.message)

    def _view(self, caller: Caller) -> TopicView:
        """The topics as a caller may see them."""
        return TopicView(
            self._cluster.image.topics.by_name,
            self._cluster.image.topics.by_id,
            self._cluster.metadata_offset_end,
            lambda name: self._access.allows(caller, Operation.DESCRIBE, Resource.TOPIC, name),
        )

    def _operations(self, group_id: str, caller: Caller) -> frozenset[Operation]:
        return frozenset(
            operation for operation in GROUP_OPERATIONS if self._allows(caller, operation, group_id)
        )

    # -- deleting --------------------------------------------------------------------------------

    def delete(self, command: DeleteGroups, caller: Caller, reply: Reply[list[DeletedGroup]]) -> None:
        outcomes: dict[str, Fault | None] = dict.fromkeys(command.group_ids)
        open_ids = set(outcomes)

        def settle(group_id: str, fault: Fault | None) -> None:
            outcomes[group_id] = fault
            open_ids.remove(group_id)
            if not open_ids:
                reply([DeletedGroup(each, fault) for each, fault in outcomes.items()])

        if not open_ids:
            reply([])
        for group_id in list(outcomes):
            self._delete_one(group_id, caller, settle)

    def _delete_one(self, group_id: str, caller: Caller, settle: Callable[[str, Fault | None], None]) -> None:
        try:
            if not self._allows(caller, Operation.DELETE, group_id):
                raise Refused(Fault.NOT_AUTHORIZED_GROUP)
            self._shards.of(group_id).delete(group_id, lambda fault: settle(group_id, fault))
        except Refused as refused:
            settle(group_id, refused.fault)

    # -- offsets ---------------------------------------------------------------------------------

    def fetch_offsets(self, command: FetchOffsets, caller: Caller, reply: Reply[list[GroupOffsets]]) -> None:
        reply(
            [
                self._offsets_of(wanted, caller, require_stable=command.require_stable)
                for wanted in command.groups
            ]
        )

    def _offsets_of(
        self, wanted: GroupOffsetsWanted, caller: Caller, *, require_stable: bool
    ) -> GroupOffsets:
        if not self._allows(caller, Operation.DESCRIBE, wanted.group_id):
            return GroupOffsets(wanted.group_id, Fault.NOT_AUTHORIZED_GROUP)
        try:
            committing = self._shards.of(wanted.group_id).committing
            return committing.fetch(wanted, caller, require_stable=require_stable)
        except Refused as refused:
            return GroupOffsets(wanted.group_id, refused.fault)


def _members(group: ClassicGroup) -> list[DescribedMember]:
    is_stable = group.state is State.STABLE
    return [
        DescribedMember(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.metadata(group.protocol_name) if is_stable else b"",
            member.assignment,
        )
        for member in group.members.values()
    ]
