"""ListOffsets and OffsetForLeaderEpoch, version by version."""

from typing import Any

import pytest

from tests.core.batches import batch, produce
from tests.core.fakes import NOW_MS, World
from tests.protocols.kafka.data_world import conversation_with, data_world
from trivium.messages.api.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from trivium.messages.api.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from trivium.messages.errors import ErrorCode
from trivium.records.batch import check_batches

UNSUPPORTED = ErrorCode.UNSUPPORTED_VERSION


def filled() -> World:
    world = data_world()
    produce(world, batch(b"a", b"b", timestamp=NOW_MS))
    produce(world, batch(b"c", timestamp=NOW_MS - 5_000))
    return world


def ask(
    world: World, version: int, *parts: tuple[int, int], isolation_level: int = 0, **fields: Any
) -> list[ListOffsetsPartitionResponse]:
    """Partitions with the timestamps that are asked for."""
    asked = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=isolation_level,
        topics=[
            ListOffsetsTopic(
                name="t",
                partitions=[
                    ListOffsetsPartition(partition_index=index, timestamp=timestamp, **fields)
                    for index, timestamp in parts
                ],
            )
        ],
    )
    answer = conversation_with(world).ask(asked, version, ListOffsetsResponse)
    return [part for topic in answer.topics for part in topic.partitions]


@pytest.mark.parametrize("version", range(1, 12))
@pytest.mark.parametrize(
    ("timestamp", "since", "offset", "found_ms"),
    [
        (-1, 0, 3, -1),
        (-2, 0, 0, -1),
        (NOW_MS, 0, 0, NOW_MS),
        (NOW_MS + 9_000, 0, -1, -1),
        (-3, 7, 1, NOW_MS + 1),
        (-4, 8, 0, -1),
        (-5, 9, -1, -1),
        (-6, 11, -1, -1),
        (-7, 99, -1, -1),
    ],
)
def test_place_is_found_from_its_version_on(
    version: int, timestamp: int, since: int, offset: int, found_ms: int
) -> None:
    (part,) = ask(filled(), version, (0, timestamp))
    if version < since:
        assert (part.error_code, part.offset) == (UNSUPPORTED, -1)
        return
    assert (part.error_code, part.offset, part.timestamp) == (0, offset, found_ms)
    assert part.leader_epoch == (0 if version >= 4 and offset >= 0 else -1)


@pytest.mark.parametrize(
    ("timestamp", "offsets_max", "offsets"),
    [
        (-1, 1, [3]),
        (-1, 5, [3, 0]),
        (-2, 5, [0]),
        (NOW_MS + 1, 1, [1]),
        (NOW_MS + 9_000, 1, [3]),
        (-1, 0, []),
    ],
)
def test_version_0_gets_a_list_newest_first(timestamp: int, offsets_max: int, offsets: list[int]) -> None:
    (part,) = ask(filled(), 0, (0, timestamp), max_num_offsets=offsets_max)
    assert (part.error_code, part.old_style_offsets) == (0, offsets)


def test_version_0_knows_no_other_places() -> None:
    (part,) = ask(filled(), 0, (0, -3))
    assert (part.error_code, part.old_style_offsets) == (UNSUPPORTED, [])


@pytest.mark.parametrize("version", [2, 11])
def test_committed_end_is_before_an_open_transaction(version: int) -> None:
    world = filled()
    begun = bytearray(batch(b"x", producer_id=1, producer_epoch=0, base_sequence=0, transactional=True))
    world.log("t").append(begun, check_batches(begun), 0)
    ends = [ask(world, version, (0, -1), isolation_level=level)[0].offset for level in (0, 1)]
    assert ends == [4, 3]


@pytest.mark.parametrize("version", [0, 1, 11])
def test_missing_partition_is_an_error_of_its_own(version: int) -> None:
    parts = ask(filled(), version, (0, -1), (9, -1))
    assert [part.error_code for part in parts] == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_partition_that_is_asked_for_twice_is_an_invalid_request() -> None:
    parts = ask(filled(), 7, (0, -1), (1, -1), (0, -2))
    assert [(part.partition_index, part.error_code) for part in parts] == [
        (1, 0),
        (0, ErrorCode.INVALID_REQUEST),
    ]


@pytest.mark.parametrize("version", range(5))
def test_epoch_end_is_answered_in_every_version(version: int) -> None:
    world = filled()
    asked = OffsetForLeaderEpochRequest(
        topics=[
            OffsetForLeaderTopic(
                topic="t",
                partitions=[
                    OffsetForLeaderPartition(partition=0, leader_epoch=0),
                    OffsetForLeaderPartition(partition=5, leader_epoch=0),
                ],
            )
        ]
    )
    answer = conversation_with(world).ask(asked, version, OffsetForLeaderEpochResponse)
    epoch = 0 if version >= 1 else -1
    missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert answer.topics[0].partitions == [
        EpochEndOffset(error_code=0, partition=0, leader_epoch=epoch, end_offset=3),
        EpochEndOffset(error_code=missing, partition=5, leader_epoch=-1, end_offset=-1),
    ]
