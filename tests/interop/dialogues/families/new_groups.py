"""Groups of KIP-848 and KIP-932: heartbeats in any order, looks at them, and the offsets of share groups."""

from tests.interop.dialogues.families.groups import OFFSETS, TOPICS
from tests.interop.dialogues.family import Family
from tests.interop.dialogues.stand_ins import id_of
from tests.interop.dialogues.step import Step
from tests.interop.dialogues.words import Pool

from trivium.messages.api.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
)
from trivium.messages.api.consumer_group_describe import ConsumerGroupDescribeRequest
from trivium.messages.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from trivium.messages.api.consumer_group_heartbeat import TopicPartitions as Owned
from trivium.messages.api.delete_groups import DeleteGroupsRequest
from trivium.messages.api.delete_share_group_offsets import DeleteShareGroupOffsetsRequest
from trivium.messages.api.describe_groups import DescribeGroupsRequest
from trivium.messages.api.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from trivium.messages.api.heartbeat import HeartbeatRequest
from trivium.messages.api.leave_group import LeaveGroupRequest
from trivium.messages.api.list_groups import ListGroupsRequest
from trivium.messages.api.offset_commit import OffsetCommitRequest
from trivium.messages.api.offset_delete import OffsetDeleteRequest
from trivium.messages.api.offset_fetch import OffsetFetchRequest
from trivium.messages.api.share_group_describe import ShareGroupDescribeRequest
from trivium.messages.api.share_group_heartbeat import ShareGroupHeartbeatRequest

MEMBERS = Pool(["m1", "m1", "m1", "m2"], ["", "stranger", "x" * 40])
EPOCHS = Pool([0, 0, 1, 2, 3], [-1, -2, 9, -3])


def first(member_id: str) -> ConsumerGroupHeartbeatRequest:
    return ConsumerGroupHeartbeatRequest(
        group_id="§g",
        member_id=member_id,
        member_epoch=0,
        rebalance_timeout_ms=30_000,
        subscribed_topic_names=["§a", "§b"],
        topic_partitions=[],
    )


CONSUMERS = Family(
    "consumers",
    {
        ConsumerGroupHeartbeatRequest: 10,
        ConsumerGroupDescribeRequest: 4,
        OffsetCommitRequest: 3,
        OffsetFetchRequest: 2,
        OffsetDeleteRequest: 1,
        DescribeGroupsRequest: 1,
        ListGroupsRequest: 1,
        DeleteGroupsRequest: 1,
        HeartbeatRequest: 1,
        LeaveGroupRequest: 1,
        ShareGroupDescribeRequest: 1,
    },
    {
        **OFFSETS,
        "member_id": MEMBERS,
        "OffsetFetchRequestGroup.member_id": Pool([None, "m1"], ["", "stranger"]),
        "member_epoch": EPOCHS,
        "OffsetFetchRequestGroup.member_epoch": Pool([-1, 1, 2], [0, 9]),
        "generation_id_or_member_epoch": Pool([1, 2], [0, -1, 9]),
        "generation_id": Pool([1], [0]),
        "instance_id": Pool([None, None, None, "one"], ["two", ""]),
        "group_instance_id": Pool([None, None, "one"], ["two"]),
        "rack_id": Pool([None], ["rack", ""]),
        "rebalance_timeout_ms": Pool([30_000], [-1, 0, -2]),
        "subscribed_topic_names": Pool([["§a"], ["§b"], ["§a", "§b"], None], [[], ["§unknown"], [""]]),
        "subscribed_topic_regex": Pool([None], ["", "§.*", "("]),
        "server_assignor": Pool([None, "uniform", "range"], ["", "none"]),
        "ConsumerGroupHeartbeatRequest.topic_partitions": Pool(
            [[], None, [Owned(topic_id=id_of("§a"), partitions=[0])]],
            [
                [Owned(topic_id=id_of("§b"), partitions=[0, 1, 2])],
                [Owned(topic_id=id_of("§unknown"), partitions=[0])],
            ],
        ),
    },
    beginnings=(TOPICS, (*TOPICS, Step(first("m1"), 1))),
    extra={OffsetCommitRequest: {"group_id": Pool(["§g"], ["§h"]), "member_id": Pool(["m1"], ["", "m2"])}},
)


def altered(*indexes: int) -> list[AlterShareGroupOffsetsRequestPartition]:
    return [
        AlterShareGroupOffsetsRequestPartition(partition_index=index, start_offset=0) for index in indexes
    ]


SHARES = Family(
    "shares",
    {
        ShareGroupHeartbeatRequest: 10,
        ShareGroupDescribeRequest: 4,
        DescribeShareGroupOffsetsRequest: 3,
        AlterShareGroupOffsetsRequest: 2,
        DeleteShareGroupOffsetsRequest: 2,
        OffsetCommitRequest: 1,
        OffsetFetchRequest: 1,
        OffsetDeleteRequest: 1,
        DescribeGroupsRequest: 1,
        ConsumerGroupDescribeRequest: 1,
        ListGroupsRequest: 1,
        DeleteGroupsRequest: 1,
    },
    {
        **OFFSETS,
        "topic_name": Pool(["§a", "§b"], ["§unknown", ""]),
        "partitions": Pool([[0]], [[0, 1], [7]]),
        "start_offset": Pool([0]),
        "member_id": MEMBERS,
        "OffsetFetchRequestGroup.member_id": Pool([None]),
        "OffsetFetchRequestGroup.member_epoch": Pool([-1]),
        "member_epoch": EPOCHS,
        "generation_id_or_member_epoch": Pool([-1, 1], [0]),
        "rack_id": Pool([None], ["rack"]),
        "subscribed_topic_names": Pool([["§a"], ["§b"], ["§a", "§b"], None], [[], ["§unknown"], [""]]),
        "group_instance_id": Pool([None]),
    },
    beginnings=(TOPICS,),
    extra={
        OffsetCommitRequest: {"group_id": Pool(["§g"], ["§h"]), "member_id": Pool(["", "m1"])},
        AlterShareGroupOffsetsRequest: {
            "topic_name": Pool(["§a", "§b"]),
            # Kafka makes a group also if no partition is there, and we do not.
            "AlterShareGroupOffsetsRequestTopic.partitions": Pool(
                [altered(0), altered(0, 1)], [altered(0, 7), altered(-1, 0)]
            ),
        },
    },
)
