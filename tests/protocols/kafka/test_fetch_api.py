"""Fetch, version by version: formats, bounds, errors, and the vectors of the mission."""

from typing import Any

import pytest

from tests.core.batches import batch, produce
from tests.core.fakes import NODE_ID, World
from tests.protocols.kafka.conversation import HERE, Conversation
from tests.protocols.kafka.data_world import conversation_with, data_world, topic_id
from trivium.core.faults import Fault
from trivium.messages.api.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
    ReplicaState,
)
from trivium.messages.errors import ErrorCode
from trivium.records.batch import check_batches, iter_records
from trivium.records.compression import Compression
from trivium.records.legacy import iter_legacy_records, read_magic

VERSIONS = range(19)
BY_ID_SINCE = 13


def request(
    world: World, version: int, *parts: FetchPartition, topic: str = "t", **fields: Any
) -> FetchRequest:
    named: dict[str, Any] = (
        {"topic_id": topic_id(world, topic)} if version >= BY_ID_SINCE else {"topic": topic}
    )
    settings = {"max_wait_ms": 0, "min_bytes": 1, **fields}
    return FetchRequest(topics=[FetchTopic(partitions=list(parts), **named)], **settings)


def part(index: int = 0, offset: int = 0, **fields: Any) -> FetchPartition:
    return FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1 << 20, **fields)


def ask(conversation: Conversation, message: FetchRequest, version: int) -> list[PartitionData]:
    answer = conversation.ask(message, version, FetchResponse)
    assert answer.error_code == 0
    return [each for topic in answer.responses for each in topic.partitions]


def values(data: PartitionData, version: int) -> list[bytes | None]:
    records = bytes(data.records or b"")
    if not records:
        return []
    if version < 4:
        assert read_magic(records) == (0 if version < 2 else 1)
        return [record.value for record in iter_legacy_records(records)]
    return [
        record.value for position, _ in check_batches(records) for record in iter_records(records, position)
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_fetch_gives_records_in_every_version(version: int) -> None:
    """001.34, 001.43, 003.24: versions 0 to 18, each in the format that its clients know."""
    world = data_world()
    produce(world, batch(b"a", b"b"))
    produce(world, batch(b"c"))
    (data,) = ask(conversation_with(world), request(world, version, part()), version)
    assert values(data, version) == [b"a", b"b", b"c"]
    assert (data.partition_index, data.error_code, data.high_watermark) == (0, 0, 3)
    assert data.last_stable_offset == (3 if version >= 4 else -1)
    assert data.log_start_offset == (0 if version >= 5 else -1)
    assert data.preferred_read_replica == -1


@pytest.mark.parametrize("version", VERSIONS)
def test_fetch_of_an_empty_partition_is_empty_in_every_version(version: int) -> None:
    """001.42."""
    world = data_world()
    (data,) = ask(conversation_with(world), request(world, version, part(1)), version)
    assert (data.error_code, data.high_watermark, bytes(data.records or b"")) == (0, 0, b"")


@pytest.mark.parametrize("version", VERSIONS)
def test_fetch_out_of_range_is_an_error_of_the_partition_in_every_version(version: int) -> None:
    """001.38."""
    world = data_world()
    bad, good = ask(conversation_with(world), request(world, version, part(0, 99), part(1)), version)
    assert (bad.error_code, bad.high_watermark) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert good.error_code == 0


@pytest.mark.parametrize("version", [4, 11, 18])
def test_aborted_transactions_are_a_list_only_for_committed_reading(version: int) -> None:
    world = data_world()
    produce(world, batch(b"a"))
    conversation = conversation_with(world)
    (all_of_it,) = ask(conversation, request(world, version, part()), version)
    (committed,) = ask(conversation, request(world, version, part(), isolation_level=1), version)
    assert (all_of_it.aborted_transactions, committed.aborted_transactions) == (None, [])


def test_partition_that_is_named_twice_is_read_once() -> None:
    world = data_world()
    produce(world, batch(b"a"))
    (data,) = ask(conversation_with(world), request(world, 12, part(0, 1), part(0, 0)), 12)
    assert values(data, 12) == [b"a"]


# -- vectors of the mission ----------------------------------------------------------------------


def test_seed_fetch_v16_without_topics_is_17_bytes() -> None:
    """001.36: header v1, throttle 0, error 0, session 0, no responses, no tags."""
    conversation = conversation_with(data_world())
    conversation.send(FetchRequest(max_wait_ms=500, min_bytes=1, session_epoch=0, topics=[]), 16)
    sent = b"".join(conversation.session.data_to_send())
    assert sent == bytes.fromhex("00000011 00000000 00 00000000 0000 00000000 01 00")


def test_seed_fetch_v16_of_an_unknown_topic_id() -> None:
    """001.40: one partition, index 0, error 100, offsets 0, nothing aborted, no replica, records null."""
    asked = FetchRequest(
        max_wait_ms=500, min_bytes=1, topics=[FetchTopic(topic_id=b"\x07" * 16, partitions=[part()])]
    )
    conversation = conversation_with(data_world())
    conversation.send(asked, 16)
    body = b"".join(conversation.session.data_to_send())[4 + 5 :]
    assert body == bytes.fromhex(
        "00000000 0000 00000000 02"
        + "07" * 16
        + "02 00000000 0064 0000000000000000 0000000000000000 0000000000000000 01 ffffffff 00 00"
        + "00 00"
    )


# -- old clients ---------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 1, 2, 3])
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4])
def test_compressed_records_are_converted_down(version: int, codec: Compression) -> None:
    world = data_world()
    produce(world, batch(b"a", b"b", b"c", compression=codec))
    (data,) = ask(conversation_with(world), request(world, version, part(0, 1)), version)
    assert values(data, version)[-2:] == [b"b", b"c"]


@pytest.mark.parametrize("version", [0, 3])
def test_zstd_cannot_be_converted_down(version: int) -> None:
    world = data_world()
    produce(world, batch(b"a", compression=Compression.ZSTD))
    (data,) = ask(conversation_with(world), request(world, version, part()), version)
    assert (data.error_code, bytes(data.records or b"")) == (ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, b"")


@pytest.mark.parametrize(("version", "code"), [(4, 76), (9, 76), (10, 0), (18, 0)])
def test_topic_that_prescribes_zstd_needs_version_10(version: int, code: int) -> None:
    world = data_world()
    world.create_topic("z", compression_type="zstd")
    produce(world, batch(b"a"), topic="z")
    (data,) = ask(conversation_with(world), request(world, version, part(), topic="z"), version)
    assert data.error_code == code


@pytest.mark.parametrize("version", [4, 9])
def test_zstd_of_a_producer_goes_to_clients_that_know_batches(version: int) -> None:
    """aiokafka reads zstd with Fetch v4; Kafka sends it, too."""
    world = data_world()
    produce(world, batch(b"a", compression=Compression.ZSTD))
    (data,) = ask(conversation_with(world), request(world, version, part()), version)
    assert values(data, version) == [b"a"]


@pytest.mark.parametrize(("version", "code"), [(5, 6), (6, 56), (18, 56)])
def test_storage_error_is_said_in_words_that_the_client_knows(version: int, code: int) -> None:
    """6 is NOT_LEADER_OR_FOLLOWER, 56 KAFKA_STORAGE_ERROR."""
    world = data_world()
    produce(world, batch(b"a"))
    world.log("t").fault = Fault.STORAGE
    (data,) = ask(conversation_with(world), request(world, version, part()), version)
    assert data.error_code == code


# -- leaders -------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [12, 16, 18])
def test_fenced_epoch_tells_who_leads_and_where(version: int) -> None:
    """KIP-951: endpoints from version 16 on."""
    world = data_world()
    world.cluster.partition("t", 0).leader_epoch = 4
    answer = conversation_with(world).ask(
        request(world, version, part(current_leader_epoch=3)), version, FetchResponse
    )
    (data,) = answer.responses[0].partitions
    assert data.error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert (data.current_leader.leader_id, data.current_leader.leader_epoch) == (NODE_ID, 4)
    endpoints = [(each.node_id, each.host, each.port) for each in answer.node_endpoints]
    assert endpoints == ([(NODE_ID, HERE.host, HERE.port)] if version >= 16 else [])


def test_diverging_epoch_is_told() -> None:
    world = data_world()
    produce(world, batch(b"a"))
    world.cluster.partition("t", 0).leader_epoch = 2
    produce(world, batch(b"b"))
    (data,) = ask(conversation_with(world), request(world, 12, part(0, 2, last_fetched_epoch=0)), 12)
    assert (data.diverging_epoch.epoch, data.diverging_epoch.end_offset) == (0, 1)


@pytest.mark.parametrize("version", [4, 14, 15, 18])
def test_fetch_of_a_replica_is_refused(version: int) -> None:
    world = data_world()
    replica: dict[str, Any] = (
        {"replica_state": ReplicaState(replica_id=5)} if version >= 15 else {"replica_id": 5}
    )
    (data,) = ask(conversation_with(world), request(world, version, part(), **replica), version)
    assert data.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


# -- waiting -------------------------------------------------------------------------------------


def test_long_poll_is_answered_behind_earlier_requests_and_before_later_ones() -> None:
    """001.49: answers leave in the order of the requests."""
    world = data_world()
    conversation = conversation_with(world)
    conversation.send(request(world, 12, part(), max_wait_ms=1_000), 12)
    conversation.send(request(world, 12, part(1)), 12)
    assert conversation.answers() == []
    produce(world, batch(b"a"))
    world.turn()
    first, second = conversation.answers()
    assert values(first.responses[0].partitions[0], 12) == [b"a"]
    assert second.responses[0].partitions[0].partition_index == 1
