"""Produce, version by version: what leaves and what lies in the log afterwards."""

from typing import Any

import pytest

from tests.core.batches import batch
from tests.core.fakes import NOW_MS, World
from tests.protocols.kafka.conversation import Conversation
from tests.protocols.kafka.data_world import conversation_with, data_world, topic_id
from trivium.core.faults import Fault
from trivium.messages.api.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from trivium.messages.errors import ErrorCode
from trivium.records.compression import Compression, compress
from trivium.records.legacy import Message, build_message
from trivium.wire.errors import DecodeError

VERSIONS = range(14)
NEW_VERSIONS = range(3, 14)
BY_ID_SINCE = 13


def request(
    world: World, version: int, *parts: tuple[int, bytes | None], topic: str = "t", acks: int = 1
) -> ProduceRequest:
    data = [PartitionProduceData(index=index, records=records) for index, records in parts]
    named: dict[str, Any] = (
        {"topic_id": topic_id(world, topic)} if version >= BY_ID_SINCE else {"name": topic}
    )
    return ProduceRequest(
        acks=acks, timeout_ms=1_000, topic_data=[TopicProduceData(partition_data=data, **named)]
    )


def ask(conversation: Conversation, message: ProduceRequest, version: int) -> list[PartitionProduceResponse]:
    answer = conversation.ask(message, version, ProduceResponse)
    return [part for topic in answer.responses for part in topic.partition_responses]


def records_for(version: int, *values: bytes) -> bytes:
    """Records in the format that clients of this version send."""
    if version >= 3:
        return batch(*values)
    magic = 1 if version == 2 else 0
    return b"".join(
        build_message(Message(number, magic, 0, NOW_MS if magic else -1, b"k", value))
        for number, value in enumerate(values)
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_produce_is_answered_and_written_in_every_version(version: int) -> None:
    """001.45, 003.23."""
    world = data_world()
    conversation = conversation_with(world)
    first = ask(conversation, request(world, version, (0, records_for(version, b"a", b"b"))), version)
    second = ask(conversation, request(world, version, (0, records_for(version, b"c"))), version)
    assert [part.base_offset for part in first + second] == [0, 2]
    assert {part.error_code for part in first + second} == {0}
    assert [value for _, _, value in world.log("t").records()] == [b"a", b"b", b"c"]


@pytest.mark.parametrize("version", VERSIONS)
def test_produce_to_two_partitions_answers_both_in_every_version(version: int) -> None:
    world = data_world()
    parts = [(index, records_for(version, b"v")) for index in (0, 1, 5)]
    answers = ask(conversation_with(world), request(world, version, *parts), version)
    assert [(part.index, part.error_code) for part in answers] == [
        (0, 0),
        (1, 0),
        (5, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]


@pytest.mark.parametrize("version", [5, 9, 13])
def test_answer_to_one_partition_is_the_same_bytes_from_its_form_as_from_its_class(version: int) -> None:
    """The commonest answer is kept encoded. Two topics, partitions and numbers keep apart."""
    world = data_world()
    world.create_topic("stamped", 3, message_timestamp_type="LogAppendTime")
    conversation = conversation_with(world)
    for topic, index, expected in (
        ("t", 0, (0, -1)),
        ("stamped", 2, (0, NOW_MS)),
        ("t", 1, (0, -1)),
        ("t", 0, (1, -1)),
    ):
        answer = conversation.ask(
            request(world, version, (index, batch(b"v")), topic=topic), version, ProduceResponse
        )
        (only,) = answer.responses
        (part,) = only.partition_responses
        assert (only.topic_id == topic_id(world, topic)) if version >= BY_ID_SINCE else only.name == topic
        assert (part.index, part.base_offset, part.log_append_time_ms) == (index, *expected)
        assert (part.log_start_offset, part.error_message, part.record_errors) == (0, None, [])


# -- old formats ---------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", [Compression.GZIP, Compression.SNAPPY, Compression.LZ4])
def test_compressed_message_set_is_converted(codec: Compression) -> None:
    world = data_world()
    inner = records_for(2, b"a", b"b")
    wrapper = build_message(Message(1, 1, codec, NOW_MS, None, compress(codec, inner)))
    (part,) = ask(conversation_with(world), request(world, 2, (0, wrapper)), 2)
    assert part.error_code == 0
    assert [value for _, _, value in world.log("t").records()] == [b"a", b"b"]


def test_message_set_with_a_wrong_checksum_is_corrupt() -> None:
    world = data_world()
    damaged = bytearray(records_for(1, b"abc"))
    damaged[-1] ^= 1
    (part,) = ask(conversation_with(world), request(world, 1, (0, bytes(damaged))), 1)
    assert (part.error_code, world.log("t").log_end_offset) == (ErrorCode.CORRUPT_MESSAGE, 0)


def test_new_batches_in_an_old_request_are_taken() -> None:
    """Kafka has never minded, and some clients do it."""
    world = data_world()
    (part,) = ask(conversation_with(world), request(world, 2, (0, batch(b"a"))), 2)
    assert part.error_code == 0


@pytest.mark.parametrize("version", [3, 7, 13])
def test_old_messages_in_a_new_request_are_refused(version: int) -> None:
    world = data_world()
    (part,) = ask(conversation_with(world), request(world, version, (0, records_for(2, b"a" * 99))), version)
    assert part.error_code == ErrorCode.INVALID_RECORD


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("version", [3, 8, 13])
@pytest.mark.parametrize(
    "records", [None, b"", batch(b"a") + batch(b"b"), batch(b"a")[:-1], batch(b"a") + b"\0", b"\0" * 10]
)
def test_anything_but_one_batch_is_an_invalid_record(version: int, records: bytes | None) -> None:
    world = data_world()
    (part,) = ask(conversation_with(world), request(world, version, (0, records)), version)
    assert (part.error_code, part.base_offset) == (ErrorCode.INVALID_RECORD, -1)
    assert world.log("t").log_end_offset == 0


@pytest.mark.parametrize(("version", "code"), [(3, 76), (6, 76), (7, 0), (13, 0)])
def test_zstd_needs_version_7(version: int, code: int) -> None:
    """KIP-110: 76 is UNSUPPORTED_COMPRESSION_TYPE."""
    world = data_world()
    sent = request(world, version, (0, batch(b"a", compression=Compression.ZSTD)))
    (part,) = ask(conversation_with(world), sent, version)
    assert part.error_code == code


@pytest.mark.parametrize("version", [3, 13])
def test_wrong_checksum_is_a_corrupt_message_and_the_connection_lives(version: int) -> None:
    world = data_world()
    conversation = conversation_with(world)
    damaged = bytearray(batch(b"value"))
    damaged[-1] ^= 1
    (part,) = ask(conversation, request(world, version, (0, bytes(damaged))), version)
    assert part.error_code == ErrorCode.CORRUPT_MESSAGE
    (part,) = ask(conversation, request(world, version, (0, batch(b"value"))), version)
    assert (part.error_code, part.base_offset) == (0, 0)


def test_refused_records_are_named_from_version_8_on() -> None:
    """KIP-467."""
    world = data_world()
    world.create_topic("c", cleanup_policy="compact")
    conversation = conversation_with(world)
    sent = batch(b"a", b"b", key=None)
    (old,) = ask(conversation, request(world, 7, (0, sent), topic="c"), 7)
    (new,) = ask(conversation, request(world, 8, (0, sent), topic="c"), 8)
    assert (old.error_code, old.record_errors) == (ErrorCode.INVALID_RECORD, [])
    assert [error.batch_index for error in new.record_errors] == [0, 1]
    assert "compacted" in str(new.error_message)


def test_unknown_topic_id_is_named_so() -> None:
    world = data_world()
    sent = request(world, 13, (0, batch(b"a")))
    sent.topic_data[0].topic_id = bytes(15) + b"\x99"
    (part,) = ask(conversation_with(world), sent, 13)
    assert part.error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_unknown_acks_are_refused_for_every_partition() -> None:
    world = data_world()
    answers = ask(conversation_with(world), request(world, 9, (0, batch(b"a")), (1, batch(b"b")), acks=3), 9)
    assert [part.error_code for part in answers] == [ErrorCode.INVALID_REQUIRED_ACKS] * 2


# -- acks=0 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 7, 13])
def test_acks_0_is_written_and_never_answered(version: int) -> None:
    world = data_world()
    conversation = conversation_with(world)
    conversation.send(request(world, version, (0, records_for(version, b"a")), acks=0), version)
    assert conversation.session.data_to_send() == []
    assert conversation.session.in_flight == 0
    assert world.log("t").log_end_offset == 1


@pytest.mark.parametrize("records", [b"garbage" * 20, None])
def test_acks_0_that_fails_closes_the_connection(records: bytes | None) -> None:
    """Its client can be told in no other way; Kafka does the same."""
    world = data_world()
    conversation = conversation_with(world)
    with pytest.raises(DecodeError, match="wants no answer"):
        conversation.send(request(world, 9, (0, records), acks=0), 9)
    assert world.log("t").log_end_offset == 0


def test_acks_0_that_fails_later_closes_the_connection_at_once() -> None:
    """Not with the next request: there may be none, and its client would go on in good faith."""
    world = data_world()
    world.create_topic("synced", flush_messages="1")
    wakes: list[str] = []
    conversation = conversation_with(world)
    conversation.session._wake = lambda: wakes.append("now")
    world.storage.holds_syncs = True
    conversation.send(request(world, 9, (0, batch(b"a")), topic="synced", acks=0), 9)
    assert conversation.session.has_room
    world.storage.sync(Fault.STORAGE)
    assert wakes
    assert not conversation.session.has_room
    with pytest.raises(DecodeError, match="wants no answer"):
        conversation.session.proceed()


def test_acks_0_that_fails_lets_what_was_asked_before_be_answered() -> None:
    world = data_world()
    world.create_topic("synced", flush_messages="1")
    conversation = conversation_with(world)
    world.storage.holds_syncs = True
    conversation.send(request(world, 9, (0, batch(b"a")), topic="synced", acks=1), 9)
    conversation.send(request(world, 9, (0, None), topic="synced", acks=0), 9)
    conversation.session.proceed()
    world.storage.sync()
    assert len(conversation.answers()) == 1
    with pytest.raises(DecodeError, match="wants no answer"):
        conversation.session.proceed()
