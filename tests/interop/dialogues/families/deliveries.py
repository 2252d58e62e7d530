"""Records of share groups (KIP-932): acquired, accepted, given back, rejected; sessions right and wrong."""

from typing import Any

from tests.interop.dialogues.batches import Batch, Recipe
from tests.interop.dialogues.families.made import made
from tests.interop.dialogues.family import Family
from tests.interop.dialogues.stand_ins import NEXT_EPOCH, id_of
from tests.interop.dialogues.step import Step
from tests.interop.dialogues.words import Pool

from trivium.messages.api.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
)
from trivium.messages.api.delete_groups import DeleteGroupsRequest
from trivium.messages.api.delete_share_group_offsets import DeleteShareGroupOffsetsRequest
from trivium.messages.api.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from trivium.messages.api.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from trivium.messages.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from trivium.messages.api.share_acknowledge import AcknowledgementBatch as SaidLater
from trivium.messages.api.share_acknowledge import ShareAcknowledgeRequest
from trivium.messages.api.share_fetch import (
    AcknowledgementBatch,
    FetchPartition,
    FetchTopic,
    ShareFetchRequest,
)
from trivium.messages.api.share_group_heartbeat import ShareGroupHeartbeatRequest
from trivium.wire.uuid_text import ZERO_UUID

GROUP_RESOURCE = 32
GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)

RIGHT = (
    (),
    ((0, 0, (ACCEPT,)),),
    ((0, 0, (RELEASE,)),),
    ((0, 1, (RELEASE,)),),
    ((0, 4, (RELEASE,)),),
    ((0, 4, (ACCEPT,)),),
    ((1, 1, (REJECT,)),),
    ((1, 2, (ACCEPT, RELEASE)),),
    ((0, 2, (ACCEPT, RELEASE, REJECT)),),
    ((3, 4, (RELEASE,)),),
    ((0, 0, (ACCEPT,)), (2, 3, (RELEASE,))),
    ((2, 2, (GAP,)),),
)
WRONG = (
    ((0, 0, (9,)),),
    ((0, 0, (-1,)),),
    ((0, 0, ()),),
    ((0, 2, (ACCEPT, RELEASE)),),
    ((2, 0, (ACCEPT,)),),
    ((-1, 0, (ACCEPT,)),),
    ((50, 60, (ACCEPT,)),),
    ((3, 9, (ACCEPT,)),),
    ((0, 1, (ACCEPT,)), (1, 2, (ACCEPT,))),
    ((2, 2, (ACCEPT,)), (0, 0, (ACCEPT,))),
    ((0, 0, (RENEW,)),),
)
EPOCHS = Pool([NEXT_EPOCH], [0, -1, -1, 1, 2, 9, -2])
TOPICS = Pool([id_of("§a"), id_of("§a"), id_of("§b")], [id_of("§unknown"), ZERO_UUID])


def said(kind: Any, ranges: Any) -> list[Any]:
    return [
        kind(first_offset=first, last_offset=last, acknowledge_types=list(kinds))
        for first, last, kinds in ranges
    ]


def fetch(member_id: str, **more: Any) -> ShareFetchRequest:
    topics = {"§a": [0], "§b": [0, 1]}
    return ShareFetchRequest(
        group_id="§g",
        member_id=member_id,
        share_session_epoch=NEXT_EPOCH,
        min_bytes=1,
        batch_size=500,
        topics=[
            FetchTopic(
                topic_id=id_of(name),
                partitions=[
                    FetchPartition(partition_index=each, acknowledgement_batches=[]) for each in indexes
                ],
            )
            for name, indexes in topics.items()
        ],
        forgotten_topics_data=[],
        **more,
    )


def produced(topic: str, batch: Recipe) -> Step:
    part = PartitionProduceData(index=0, records=batch)  # type: ignore[arg-type]
    data = TopicProduceData(name=topic, partition_data=[part])
    return Step(ProduceRequest(transactional_id=None, acks=-1, timeout_ms=10_000, topic_data=[data]), 9)


def has_partitions(answer: Any) -> bool:
    return bool(
        isinstance(answer, dict) and answer["assignment"] and answer["assignment"]["topic_partitions"]
    )


def is_right(answer: Any) -> bool:
    return isinstance(answer, dict) and answer["error_code"] == 0


EARLIEST = IncrementalAlterConfigsRequest(
    resources=[
        AlterConfigsResource(
            resource_type=GROUP_RESOURCE,
            resource_name="§g",
            configs=[AlterableConfig(name="share.auto.offset.reset", config_operation=0, value="earliest")],
        )
    ],
    validate_only=False,
)
JOINED = ShareGroupHeartbeatRequest(
    group_id="§g", member_id="m1", member_epoch=0, subscribed_topic_names=["§a", "§b"]
)

DELIVERIES = Family(
    "deliveries",
    {
        ShareFetchRequest: 10,
        ShareAcknowledgeRequest: 8,
        ProduceRequest: 2,
        DescribeShareGroupOffsetsRequest: 2,
        AlterShareGroupOffsetsRequest: 1,
        DeleteShareGroupOffsetsRequest: 1,
        DeleteGroupsRequest: 1,
    },
    {
        "group_id": Pool(["§g"], ["§h", ""]),
        # A group without a name gets no answer from Kafka, ever.
        "DescribeShareGroupOffsetsRequestGroup.group_id": Pool(["§g"], ["§h"]),
        "ShareFetchRequest.group_id": Pool(["§g"], ["§h", "", None]),
        "ShareAcknowledgeRequest.group_id": Pool(["§g"], ["§h", "", None]),
        "groups_names": Pool([["§g"]], [["§h"]]),
        "member_id": Pool(["m1", "m1", "m1", "m2"], ["", None, "x" * 40]),
        "share_session_epoch": EPOCHS,
        "max_wait_ms": Pool([0]),
        "min_bytes": Pool([0, 1], [100_000, -1]),
        "max_bytes": Pool([1 << 20], [0, 1, 200]),
        "max_records": Pool([500, 500, 2, 1], [0, -1]),
        "batch_size": Pool([500, 500, 1, 2], [0]),
        "share_acquire_mode": Pool([0, 0, 1], [2]),
        "topic_id": TOPICS,
        "partition_index": Pool([0, 0, 0, 1], [-1, 7]),
        "FetchPartition.acknowledgement_batches": Pool(
            [[], *(said(AcknowledgementBatch, each) for each in RIGHT)],
            [said(AcknowledgementBatch, each) for each in WRONG],
        ),
        "AcknowledgePartition.acknowledgement_batches": Pool(
            [said(SaidLater, each) for each in RIGHT], [said(SaidLater, each) for each in WRONG]
        ),
        "forgotten_topics_data": Pool([[]]),
        "name": Pool(["§a", "§a", "§b"]),
        "topic_name": Pool(["§a", "§b"]),
        "index": Pool([0, 0, 1]),
        "acks": Pool([-1]),
        "timeout_ms": Pool([10_000]),
        "transactional_id": Pool([None]),
        "records": Pool([Batch((b"1",)), Batch((b"1", b"2")), Batch((b"1", b"2", b"3"))]),
        "partitions": Pool([[0]], [[0, 1]]),
        "start_offset": Pool([0, 1, 3]),
        "AlterShareGroupOffsetsRequestTopic.partitions": Pool(
            [
                [AlterShareGroupOffsetsRequestPartition(partition_index=0, start_offset=start)]
                for start in (0, 1, 3)
            ]
        ),
    },
    is_whole=True,
    beginnings=(
        (
            made("§a", 1),
            made("§b", 2),
            Step(EARLIEST, 1),
            Step(JOINED, 1, until=has_partitions),
            Step(fetch("m1", max_wait_ms=300, max_records=500), 1, until=is_right),
            produced("§a", Batch((b"0", b"1", b"2"))),
            produced("§a", Batch((b"3", b"4"))),
            produced("§b", Batch((b"0", b"1", b"2"))),
        ),
    ),
)
