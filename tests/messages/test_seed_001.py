"""The byte examples of seed 001, stage by stage, with the real wire's answer where the seed errs."""

import pytest

from trivium.messages import decode, encode
from trivium.messages.api import ApiKey
from trivium.messages.api.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from trivium.messages.api.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    TopicRequest,
)
from trivium.messages.api.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from trivium.messages.errors import ErrorCode
from trivium.messages.frames import decode_request, decode_response, encode_request, encode_response
from trivium.messages.stored.metadata_log import decode_metadata_record
from trivium.messages.stored.metadata_topics import PartitionRecord, TopicRecord
from trivium.wire.errors import DecodeError
from trivium.wire.framing import KAFKA_LENGTH, Framer, frame
from trivium.wire.limits import FRAME_BYTES_MAX
from trivium.wire.uuid_text import ZERO_UUID
from trivium.wire.varint import read_varint

CORRELATION_ID = 0xABCDEF12 - (1 << 32)
TOPIC_ID = bytes.fromhex("a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6")


def _api(key: int, last: int) -> ApiVersion:
    return ApiVersion(api_key=key, min_version=0, max_version=last)


def test_request_header_v2_fields_stand_where_stage_2_says() -> None:
    """001.6, 001.7: size 0-3, key 4-5, version 6-7, correlation id 8-11, client id, tags."""
    request = ApiVersionsRequest(client_software_name="kafka-cli", client_software_version="0.1")
    framed = frame(KAFKA_LENGTH, encode_request(request, 4, 7, "kafka-cli"))
    assert int.from_bytes(framed[:4], "big") == len(framed) - 4
    assert framed[4:6] == b"\x00\x12"
    assert framed[6:8] == b"\x00\x04"
    assert framed[8:12] == b"\x00\x00\x00\x07"
    assert framed[12:24] == b"\x00\x09kafka-cli\x00"
    header, decoded = decode_request(framed[4:])
    assert (header.correlation_id, header.client_id, decoded) == (7, "kafka-cli", request)


@pytest.mark.parametrize(
    ("apis", "size"),
    [
        ([_api(18, 4)], 19),
        ([_api(18, 4), _api(75, 0)], 26),
        ([_api(1, 16), _api(18, 4), _api(75, 0)], 33),
    ],
    ids=["stage-4", "stage-5", "stage-9"],
)
def test_api_versions_response_has_the_size_of_its_stage(apis: list[ApiVersion], size: int) -> None:
    """001.10, 001.11, 001.13, 001.34: header v0 and a body whose entries have tags."""
    response = ApiVersionsResponse(error_code=0, api_keys=apis)
    framed = frame(KAFKA_LENGTH, encode_response(response, 4, 0x12345678))
    entries = b"".join(
        each.api_key.to_bytes(2, "big") + b"\x00\x00" + each.max_version.to_bytes(2, "big") + b"\x00"
        for each in apis
    )
    assert framed == (
        size.to_bytes(4, "big")
        + bytes.fromhex("12345678 0000")
        + bytes([len(apis) + 1])
        + entries
        + bytes.fromhex("00000000 00")
    )


def test_compact_array_empty_is_1_and_null_is_0() -> None:
    """001.12: the seed says 0 for empty in one place and 1 in another; 1 is right."""
    assert encode(ApiVersionsResponse(error_code=0, api_keys=[]), 4) == bytes.fromhex("0000 01 00000000 00")
    with pytest.raises(DecodeError):
        decode(ApiVersionsResponse, 4, bytes.fromhex("0000 00 00000000 00"))


def test_describe_topic_partitions_request_has_limit_and_cursor() -> None:
    """001.15: the seed leaves out response_partition_limit and the nullable cursor."""
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name="foo")], response_partition_limit=100, cursor=None
    )
    wire = bytes.fromhex("02 04666f6f 00 00000064 ff 00")
    assert encode(request, 0) == wire
    assert decode(DescribeTopicPartitionsRequest, 0, wire) == (request, len(wire))
    request.cursor = Cursor(topic_name="foo", partition_index=3)
    assert encode(request, 0) == bytes.fromhex("02 04666f6f 00 00000064 01 04666f6f 00000003 00 00")


def _described(
    error: ErrorCode, topic_id: bytes, partitions: list[DescribeTopicPartitionsResponsePartition]
) -> bytes:
    response = DescribeTopicPartitionsResponse(
        throttle_time_ms=0,
        topics=[
            DescribeTopicPartitionsResponseTopic(
                error_code=error,
                name="foo",
                topic_id=topic_id,
                is_internal=False,
                partitions=partitions,
                topic_authorized_operations=0,
            )
        ],
        next_cursor=None,
    )
    return frame(KAFKA_LENGTH, encode_response(response, 0, CORRELATION_ID))


def test_describe_topic_partitions_unknown_topic_has_the_bytes_of_stage_6() -> None:
    """001.16-001.18: header v1, error 3, zero id; the bytes are the seed's, their sum is 41, not 47."""
    assert _described(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ZERO_UUID, []) == bytes.fromhex(
        "00000029 abcdef12 00 00000000 02 0003 04666f6f 00000000000000000000000000000000"
        "00 01 00000000 00 ff 00"
    )


def test_topic_authorized_operations_not_asked_for_is_the_least_int32() -> None:
    """001.19: the seed sends 0; Kafka's default says "not asked for"."""
    topic = DescribeTopicPartitionsResponseTopic(error_code=3, name="foo", topic_id=ZERO_UUID, partitions=[])
    assert topic.topic_authorized_operations == -(1 << 31)


def test_describe_topic_partitions_known_topic_has_int32_broker_ids() -> None:
    """001.28, 001.29: the seed counts 74 bytes and shows ids of one byte; they have four, and it is 69."""
    partition = DescribeTopicPartitionsResponsePartition(
        error_code=0,
        partition_index=0,
        leader_id=1,
        leader_epoch=0,
        replica_nodes=[1],
        isr_nodes=[1],
        eligible_leader_replicas=[],
        last_known_elr=[],
        offline_replicas=[],
    )
    assert _described(ErrorCode.NONE, TOPIC_ID, [partition]) == bytes.fromhex(
        "00000045 abcdef12 00 00000000 02 0000 04666f6f a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6 00 02"
        "0000 00000000 00000001 00000000 02 00000001 02 00000001 01 01 01 00"
        "00000000 00 ff 00"
    )


def test_topic_and_partition_records_have_their_type_in_the_value() -> None:
    """001.25, 001.26: frame version, type and version lead the value; the key is null."""
    value = bytes.fromhex("01 02 00 04666f6f a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6 00")
    assert decode_metadata_record(value) == (2, 0, TopicRecord(name="foo", topic_id=TOPIC_ID))
    value = bytes.fromhex(
        "01 03 00 00000000 a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6 02 00000001 02 00000001 01 01"
        "00000001 00000000 00000000 00"
    )
    kind, version, record = decode_metadata_record(value)
    assert (kind, version) == (3, 0)
    assert record == PartitionRecord(
        partition_id=0,
        topic_id=TOPIC_ID,
        replicas=[1],
        isr=[1],
        removing_replicas=[],
        adding_replicas=[],
        leader=1,
        leader_epoch=0,
        partition_epoch=0,
    )


@pytest.mark.parametrize(("spelled", "value"), [("00", 0), ("01", -1), ("02", 1), ("ffffffff0f", -(1 << 31))])
def test_varint_is_zigzag_and_one_to_five_bytes(spelled: str, value: int) -> None:
    """001.27."""
    data = bytes.fromhex(spelled)
    assert read_varint(data, 0) == (value, len(data))


def test_fetch_v16_without_topics_has_17_bytes() -> None:
    """001.36, 001.37: header v1, throttle 0, error 0, session 0, no responses, no tags."""
    framed = frame(KAFKA_LENGTH, encode_response(FetchResponse(responses=[]), 16, 7))
    assert framed == bytes.fromhex("00000011 00000007 00 00000000 0000 00000000 01 00")


def test_fetch_v16_request_reads_every_field_of_stage_11() -> None:
    """001.39: topics by id, with limits, isolation level and session."""
    body = bytes.fromhex(
        "000001f4 00000001 03200000 01 00000000 00000000"
        "02 a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6 02 00000000 00000000 0000000000000005 ffffffff"
        "0000000000000000 00100000 00 00 01 01 00"
    )
    request, end = decode(FetchRequest, 16, body)
    assert end == len(body)
    assert (request.max_wait_ms, request.min_bytes, request.max_bytes) == (500, 1, 52_428_800)
    assert (request.isolation_level, request.session_id, request.session_epoch) == (1, 0, 0)
    (topic,) = request.topics
    assert topic.topic_id == TOPIC_ID
    assert [(each.partition, each.fetch_offset) for each in topic.partitions] == [(0, 5)]


def test_fetch_v16_unknown_topic_id_has_the_bytes_of_stage_11() -> None:
    """001.40: one partition, error 100, watermarks 0, nothing aborted, no preferred replica, records null."""
    partition = PartitionData(
        partition_index=0,
        error_code=ErrorCode.UNKNOWN_TOPIC_ID,
        high_watermark=0,
        last_stable_offset=0,
        log_start_offset=0,
        aborted_transactions=[],
        preferred_read_replica=-1,
        records=None,
    )
    response = FetchResponse(responses=[FetchableTopicResponse(topic_id=TOPIC_ID, partitions=[partition])])
    wire = encode_response(response, 16, 7)
    assert wire == bytes.fromhex(
        "00000007 00 00000000 0000 00000000 02 a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6 02 00000000 0064"
        "0000000000000000 0000000000000000 0000000000000000 01 ffffffff 00 00 00 00"
    )
    assert decode_response(ApiKey.FETCH, 16, wire)[1] == response


def test_error_codes_that_the_seed_names_have_their_numbers() -> None:
    """001.51."""
    assert [
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.UNKNOWN_TOPIC_ID,
    ] == [0, 3, 35, 100]


def test_manual_request_with_a_wrong_size_is_refused_not_awaited() -> None:
    """001.52: it announces 26 bytes and sends 35. The first 26 are a frame, and not one that can be read; the
    9 that follow announce nonsense. Nothing hangs and nothing is misread."""
    sent = bytes.fromhex("0000001a0012000467890abc00096b61666b612d636c69000a6b61666b612d636c6904302e3100")
    framer = Framer(KAFKA_LENGTH, FRAME_BYTES_MAX)
    framer.feed(sent)
    cut = framer.next_frame()
    assert cut == sent[4:30]
    with pytest.raises(DecodeError):
        decode_request(cut)
    with pytest.raises(DecodeError):
        framer.next_frame()


def test_manual_request_with_its_right_size_is_read() -> None:
    """001.52, as it was meant."""
    sent = bytes.fromhex("000000230012000467890abc00096b61666b612d636c69000a6b61666b612d636c6904302e3100")
    framer = Framer(KAFKA_LENGTH, FRAME_BYTES_MAX)
    framer.feed(sent)
    (whole,) = framer.frames()
    header, request = decode_request(whole)
    assert (header.correlation_id, header.client_id) == (0x67890ABC, "kafka-cli")
    assert request == ApiVersionsRequest(client_software_name="kafka-cli", client_software_version="0.1")


def test_response_header_v0_and_v1_differ_by_the_tags() -> None:
    """001.16: v1 = correlation id and tags, v0 = correlation id only."""
    response = FetchResponse(responses=[])
    assert encode_response(response, 11, 7)[:8] == bytes.fromhex("00000007 00000000")
    assert encode_response(response, 12, 7)[:9] == bytes.fromhex("00000007 00 00000000")
