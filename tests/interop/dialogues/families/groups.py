"""Classic groups: members that join, sync, live and leave in any order, and the offsets of groups."""

from tests.interop.dialogues.families.made import made
from tests.interop.dialogues.family import Family
from tests.interop.dialogues.stand_ins import id_of
from tests.interop.dialogues.step import Step
from tests.interop.dialogues.words import Pool

from trivium.messages.api.consumer_group_describe import ConsumerGroupDescribeRequest
from trivium.messages.api.delete_groups import DeleteGroupsRequest
from trivium.messages.api.describe_groups import DescribeGroupsRequest
from trivium.messages.api.find_coordinator import FindCoordinatorRequest
from trivium.messages.api.heartbeat import HeartbeatRequest
from trivium.messages.api.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from trivium.messages.api.leave_group import LeaveGroupRequest
from trivium.messages.api.list_groups import ListGroupsRequest
from trivium.messages.api.offset_commit import OffsetCommitRequest
from trivium.messages.api.offset_delete import OffsetDeleteRequest
from trivium.messages.api.offset_fetch import OffsetFetchRequest
from trivium.messages.api.sync_group import SyncGroupRequest
from trivium.messages.consumer_protocol import ConsumerProtocolSubscription, encode_subscription
from trivium.wire.uuid_text import ZERO_UUID

SUBSCRIBED = encode_subscription(ConsumerProtocolSubscription(topics=["t"]), 0)


def protocols(*names: str, metadata: bytes = SUBSCRIBED) -> list[JoinGroupRequestProtocol]:
    return [JoinGroupRequestProtocol(name=name, metadata=metadata) for name in names]


def join(member_id: str, protocol_type: str = "consumer") -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="§g",
        session_timeout_ms=30_000,
        rebalance_timeout_ms=30_000,
        member_id=member_id,
        protocol_type=protocol_type,
        protocols=protocols("range"),
    )


def sync(member_id: str) -> SyncGroupRequest:
    return SyncGroupRequest(group_id="§g", generation_id=1, member_id=member_id, assignments=[])


TOPICS = (made("§a", 1), made("§b", 3))
ALONE = (
    *TOPICS,
    Step(join(""), 4),
    Step(join("<member 1>"), 4),
    Step(sync("<member 1>"), 3),
)
OFFSETS = {
    "name": Pool(["§a", "§b"], ["§unknown", "", "§ü"]),
    "topic_id": Pool([id_of("§a"), id_of("§b")], [id_of("§unknown"), ZERO_UUID]),
    "partition_index": Pool([0, 0, 1], [-1, 7]),
    "partition_indexes": Pool([[0], [0, 1]], [[], [-1], [7], [0, 0]]),
    "committed_offset": Pool([0, 1, 5], [-1, -2]),
    "committed_leader_epoch": Pool([-1, 0], [5]),
    "committed_metadata": Pool(["", "note"], ["x" * 4096, "x" * 4097, None]),
    "require_stable": Pool([False, True]),
    "retention_time_ms": Pool([-1], [0, 1000]),
    "group_id": Pool(["§g"], ["§h", "", "§ü"]),
    "groups_names": Pool([["§g"], ["§h"]], [[], [""], ["§g", "§g"], ["§unknown"]]),
    "groups": Pool([["§g"]], [[], ["§h", "§g"], [""], ["§unknown"], ["§g", "§g"]]),
    "group_ids": Pool([["§g"]], [["§h", "§g"], [""], ["§unknown"]]),
    "include_authorized_operations": Pool([False, True]),
    "key": Pool(["§g"], ["", "§tx"]),
    "coordinator_keys": Pool([["§g"]], [[], ["", "§g"], ["§g", "§g"]]),
    "key_type": Pool([0, 0], [1, 2, 3, -1]),
    "states_filter": Pool([[], ["Stable"], ["Empty"]], [["nonsense"], ["stable", "EMPTY"], [""]]),
    "types_filter": Pool([[], ["classic"]], [["CONSUMER"], ["nonsense"], [""]]),
}
MEMBERS = Pool(["<member 1>", "<member 1>", "<member 2>", ""], ["<member 9>", "stranger"])

COMMITTED_TO = Pool(["§g"], ["§h", "§ü"])
"""Not to the group without a name: it would be one and the same in all plays."""

GROUPS = Family(
    "groups",
    {
        JoinGroupRequest: 8,
        SyncGroupRequest: 8,
        HeartbeatRequest: 5,
        LeaveGroupRequest: 3,
        OffsetCommitRequest: 3,
        OffsetFetchRequest: 2,
        OffsetDeleteRequest: 1,
        DescribeGroupsRequest: 4,
        ListGroupsRequest: 2,
        DeleteGroupsRequest: 1,
        FindCoordinatorRequest: 1,
        ConsumerGroupDescribeRequest: 1,
    },
    {
        **OFFSETS,
        "session_timeout_ms": Pool([30_000], [0, -1, 5_999, 1_800_001, 6_000]),
        "rebalance_timeout_ms": Pool([30_000], [-1, 0]),
        "member_id": MEMBERS,
        "OffsetFetchRequestGroup.member_id": Pool([None, None, "<member 1>"], ["", "stranger"]),
        "member_epoch": Pool([-1, -1, 1], [0, 5]),
        "group_instance_id": Pool([None, None, None, None, "one"], ["two", ""]),
        "protocol_type": Pool(["consumer"], ["", "connect", None]),
        "JoinGroupRequest.protocol_type": Pool(["consumer"], ["", "connect"]),
        "JoinGroupRequest.protocols": Pool(
            [protocols("range"), protocols("range", "sticky")],
            [
                [],
                protocols("sticky"),
                protocols("range", metadata=b""),
                protocols("range", metadata=b"\x00"),
                protocols("range", "range"),
            ],
        ),
        "protocol_name": Pool(["range"], ["sticky", "", None]),
        "generation_id": Pool([1, 1, 2, 3], [-1, 0, 9]),
        "generation_id_or_member_epoch": Pool([1, 2, -1], [0, 9, -2]),
        "assignment": Pool([b"", b"some"], []),
        "reason": Pool([None, "because"], ["x" * 300]),
    },
    beginnings=(TOPICS, ALONE, ALONE),
    peers=3,
    extra={
        OffsetCommitRequest: {
            "member_id": Pool(["<member 1>", "", ""], ["stranger"]),
            "group_id": COMMITTED_TO,
        },
    },
)

OFFSETS_OF_NOBODY = Family(
    "offsets",
    {
        OffsetCommitRequest: 6,
        OffsetFetchRequest: 6,
        OffsetDeleteRequest: 3,
        DeleteGroupsRequest: 1,
        DescribeGroupsRequest: 1,
        ListGroupsRequest: 1,
        FindCoordinatorRequest: 1,
    },
    {
        **OFFSETS,
        "member_id": Pool([""], ["stranger"]),
        "OffsetFetchRequestGroup.member_id": Pool([None], ["", "stranger"]),
        "group_instance_id": Pool([None], ["one"]),
        "generation_id_or_member_epoch": Pool([-1], [0, 1, -2]),
        "member_epoch": Pool([-1], [0, 5]),
    },
    beginnings=(TOPICS,),
    extra={OffsetCommitRequest: {"group_id": COMMITTED_TO}},
)
