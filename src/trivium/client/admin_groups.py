"""Groups: list, describe, delete. Their offsets are in ``group_offsets``.

Classic groups, those of KIP-848 and share groups are described by different requests and come out alike.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trivium.client.admin_cluster import describe_cluster
from trivium.client.cluster import Cluster
from trivium.client.deadline import Deadline
from trivium.client.errors import Refused
from trivium.client.topology import TopicPartition
from trivium.messages.api import consumer_group_describe as consumer_groups
from trivium.messages.api import describe_groups as classic_groups
from trivium.messages.api import share_group_describe as share_groups
from trivium.messages.api.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from trivium.messages.api.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from trivium.messages.api.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from trivium.messages.api.list_groups import ListGroupsRequest, ListGroupsResponse
from trivium.messages.api.share_group_describe import ShareGroupDescribeRequest, ShareGroupDescribeResponse
from trivium.messages.consumer_protocol import decode_assignment
from trivium.messages.errors import ErrorCode
from trivium.wire.errors import DecodeError

CONSUMER_PROTOCOL = "consumer"
"""What classic groups of consumers call their protocol; members of others explain themselves differently."""

SHARE = "share"
"""The type of a share group (KIP-932)."""

DEAD = "Dead"
"""The state in which brokers before KIP-1043 describe a group that is not there."""


@dataclass(frozen=True, slots=True)
class ListedGroup:
    group_id: str
    protocol_type: str
    state: str
    """Empty where an old broker does not tell; so is the type."""

    group_type: str


@dataclass(frozen=True, slots=True)
class Member:
    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class Group:
    group_id: str
    state: str
    group_type: str
    assignor: str
    coordinator_id: int
    members: tuple[Member, ...]


def list_groups(cluster: Cluster) -> list[ListedGroup]:
    """The groups of all brokers, by id; each broker knows those that it coordinates."""
    found: dict[str, ListedGroup] = {}
    for node in describe_cluster(cluster).nodes:
        answer = cluster.call(
            cluster.node_of(node.node_id),
            ListGroupsRequest(),
            ListGroupsResponse,
            codes=lambda response: [response.error_code],
        )
        code = ErrorCode.of(answer.error_code)
        if code is not ErrorCode.NONE:
            raise Refused(code, f"broker {node.node_id}")
        for each in answer.groups:
            found[each.group_id] = ListedGroup(
                each.group_id, each.protocol_type, each.group_state, each.group_type.lower()
            )
    return sorted(found.values(), key=lambda group: group.group_id)


def describe_group(cluster: Cluster, group_id: str) -> Group:
    """A group with its members; one that is not there is ``Refused``."""
    deadline = Deadline(cluster.timeout_s)
    coordinator = cluster.coordinator(group_id)(deadline)
    if coordinator.versions.offers(ConsumerGroupDescribeRequest):
        answer = cluster.call(
            cluster.coordinator(group_id),
            ConsumerGroupDescribeRequest(group_ids=[group_id], include_authorized_operations=False),
            ConsumerGroupDescribeResponse,
            codes=lambda response: [each.error_code for each in response.groups],
            deadline=deadline,
        )
        (described,) = answer.groups
        code = ErrorCode.of(described.error_code)
        if code is ErrorCode.NONE:
            return _consumer_group(described, cluster.coordinator_id(group_id))
        # Not a group of the new kind; it may still be another one.
        if code is not ErrorCode.GROUP_ID_NOT_FOUND:
            raise Refused(code, f"group {group_id}", described.error_message)
    shared = _described_share_group(cluster, group_id, deadline)
    if shared is not None:
        return _share_group(shared, cluster.coordinator_id(group_id))
    return _describe_classic_group(cluster, group_id, deadline)


def is_share_group(cluster: Cluster, group_id: str) -> bool:
    return _described_share_group(cluster, group_id, Deadline(cluster.timeout_s)) is not None


def delete_groups(cluster: Cluster, group_ids: Sequence[str]) -> dict[str, Refused | None]:
    """Delete groups with their offsets; None is done. A group with members is refused."""
    outcomes: dict[str, Refused | None] = {}
    for group_id in group_ids:
        answer = cluster.call(
            cluster.coordinator(group_id),
            DeleteGroupsRequest(groups_names=[group_id]),
            DeleteGroupsResponse,
            codes=lambda response: [each.error_code for each in response.results],
        )
        for each in answer.results:
            code = ErrorCode.of(each.error_code)
            outcomes[each.group_id] = (
                None if code is ErrorCode.NONE else Refused(code, f"group {each.group_id}")
            )
    return outcomes


def _described_share_group(
    cluster: Cluster, group_id: str, deadline: Deadline
) -> share_groups.DescribedGroup | None:
    """None if there is no share group of that name, or the broker has none at all."""
    if not cluster.coordinator(group_id)(deadline).versions.offers(ShareGroupDescribeRequest):
        return None
    answer = cluster.call(
        cluster.coordinator(group_id),
        ShareGroupDescribeRequest(group_ids=[group_id], include_authorized_operations=False),
        ShareGroupDescribeResponse,
        codes=lambda response: [each.error_code for each in response.groups],
        deadline=deadline,
    )
    (described,) = answer.groups
    code = ErrorCode.of(described.error_code)
    if code in (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION):
        return None
    if code is not ErrorCode.NONE:
        raise Refused(code, f"group {group_id}", described.error_message)
    return described


def _describe_classic_group(cluster: Cluster, group_id: str, deadline: Deadline) -> Group:
    answer = cluster.call(
        cluster.coordinator(group_id),
        DescribeGroupsRequest(groups=[group_id]),
        DescribeGroupsResponse,
        codes=lambda response: [each.error_code for each in response.groups],
        deadline=deadline,
    )
    (described,) = answer.groups
    code = ErrorCode.of(described.error_code)
    if code is ErrorCode.NONE and described.group_state == DEAD:
        code = ErrorCode.GROUP_ID_NOT_FOUND
    if code is not ErrorCode.NONE:
        raise Refused(code, f"group {group_id}", described.error_message)
    is_consumer = described.protocol_type == CONSUMER_PROTOCOL
    members = [
        Member(
            member.member_id,
            member.group_instance_id,
            member.client_id,
            member.client_host,
            _assigned(member) if is_consumer else (),
        )
        for member in described.members
    ]
    coordinator_id = cluster.coordinator_id(group_id)
    return Group(
        group_id, described.group_state, "classic", described.protocol_data, coordinator_id, tuple(members)
    )


def _assigned(member: classic_groups.DescribedGroupMember) -> tuple[TopicPartition, ...]:
    """The partitions of a member. While a group rebalances nobody has any, and the bytes are empty."""
    if not member.member_assignment:
        return ()
    try:
        _, assignment = decode_assignment(member.member_assignment)
    except DecodeError:
        return ()  # Members may tell each other what they like; it is theirs to understand.
    return tuple(
        TopicPartition(topic.topic, partition)
        for topic in assignment.assigned_partitions
        for partition in topic.partitions
    )


def _named(
    topics: Iterable[consumer_groups.TopicPartitions | share_groups.TopicPartitions],
) -> tuple[TopicPartition, ...]:
    return tuple(
        TopicPartition(topic.topic_name, partition) for topic in topics for partition in topic.partitions
    )


def _consumer_group(described: consumer_groups.DescribedGroup, coordinator_id: int) -> Group:
    members = [
        Member(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            _named(member.assignment.topic_partitions),
        )
        for member in described.members
    ]
    return Group(
        described.group_id,
        described.group_state,
        "consumer",
        described.assignor_name,
        coordinator_id,
        tuple(members),
    )


def _share_group(described: share_groups.DescribedGroup, coordinator_id: int) -> Group:
    members = [
        Member(
            member.member_id,
            None,
            member.client_id,
            member.client_host,
            _named(member.assignment.topic_partitions),
        )
        for member in described.members
    ]
    return Group(
        described.group_id,
        described.group_state,
        SHARE,
        described.assignor_name,
        coordinator_id,
        tuple(members),
    )
