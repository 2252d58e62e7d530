"""Encoding and decoding: what versions lack, what may be null, what nobody knows."""

import pytest

from trivium.messages import decode, encode, encode_parts
from trivium.messages.api.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    LeaderIdAndEpoch,
    PartitionData,
    ReplicaState,
)
from trivium.messages.api.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from trivium.messages.api.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestTopic
from trivium.messages.schema import Message, Struct, field
from trivium.messages.stored.consumer_groups import ClassicMemberMetadata, ConsumerGroupMemberMetadataValue
from trivium.messages.types import Bytes, Int8, Int32, Int64, String, Uuid
from trivium.wire.errors import DecodeError, EncodeError
from trivium.wire.uuid_text import ZERO_UUID


class Part(Struct):
    number: Int64
    note: String | None = None


class Parcel(Message, versions="0-2", flexible="1+"):
    ids: list[Uuid]
    numbers: list[Int32] | None
    blob: Bytes
    part: Part | None
    extra: Int8 = field("2+", default=5)
    quiet: Int8 = field("2+", default=6, ignorable=True)
    flag: Int32 = field("1+", default=-1, tag=3)
    deep: Part | None = field("1+", default=None, tag=1)


def parcel() -> Parcel:
    return Parcel(ids=[bytes(range(16))], numbers=[1, -2], blob=b"\xff", part=None)


def test_version_that_is_not_flexible_has_plain_lengths() -> None:
    assert encode(parcel(), 0).hex() == (
        "00000001 000102030405060708090a0b0c0d0e0f 00000002 00000001 fffffffe 00000001 ff ff"
    ).replace(" ", "")


def test_version_that_is_flexible_has_compact_lengths_and_tags() -> None:
    message = parcel()
    message.part = Part(number=1, note="n")
    message.flag = 9
    message.deep = Part(number=2)
    assert encode(message, 1).hex() == (
        "02 000102030405060708090a0b0c0d0e0f 03 00000001 fffffffe 02 ff"
        "01 0000000000000001 02 6e 00"
        "02 01 0b 01 0000000000000002 00 00 03 04 00000009"
    ).replace(" ", "")
    assert decode(Parcel, 1, encode(message, 1))[0] == message


def test_absent_field_with_its_default_is_left_out_and_comes_back() -> None:
    message, _ = decode(Parcel, 0, encode(parcel(), 0))
    assert (message.extra, message.quiet, message.flag, message.deep) == (5, 6, -1, None)


def test_absent_field_with_another_value_is_refused() -> None:
    message = parcel()
    message.extra = 1
    with pytest.raises(EncodeError, match=r"Parcel\.extra"):
        encode(message, 1)
    assert decode(Parcel, 2, encode(message, 2))[0].extra == 1


def test_absent_field_that_is_ignorable_is_dropped() -> None:
    message = parcel()
    message.quiet = 1
    assert encode(message, 1) == encode(parcel(), 1)


def test_absent_tagged_struct_with_a_value_is_refused() -> None:
    request = FetchRequest(max_wait_ms=1, min_bytes=1, topics=[], replica_state=ReplicaState(replica_id=3))
    with pytest.raises(EncodeError, match="replica_state"):
        encode(request, 12)
    assert decode(FetchRequest, 15, encode(request, 15))[0].replica_state.replica_id == 3


def test_null_where_the_version_forbids_it_is_refused_in_both_directions() -> None:
    everything = MetadataRequest(topics=None)
    assert encode(everything, 1).hex() == "ffffffff"
    with pytest.raises(EncodeError):
        encode(everything, 0)
    with pytest.raises(DecodeError):
        decode(MetadataRequest, 0, bytes.fromhex("ffffffff"))
    with pytest.raises(EncodeError):
        encode(MetadataRequest(topics=[MetadataRequestTopic(name=None)]), 9)


def test_nullable_tagged_struct_null_and_set_have_kafkas_bytes() -> None:
    """Kafka's default there is an empty struct, so null has to be written: a size of 1 and a 0."""
    value = ConsumerGroupMemberMetadataValue(
        instance_id=None,
        rack_id=None,
        client_id="",
        client_host="",
        subscribed_topic_names=[],
        subscribed_topic_regex=None,
        server_assignor=None,
        classic_member_metadata=None,
    )
    assert encode(value, 0).endswith(bytes.fromhex("01 00 01 00"))
    assert decode(ConsumerGroupMemberMetadataValue, 0, encode(value, 0))[0] == value
    value.classic_member_metadata = ClassicMemberMetadata()
    assert encode(value, 0).endswith(bytes.fromhex("00 00"))
    assert decode(ConsumerGroupMemberMetadataValue, 0, encode(value, 0))[0] == value


def test_unknown_tags_are_kept_and_written_in_order_with_the_known() -> None:
    message = parcel()
    message.flag = 9
    message.unknown_tags = {7: b"late", 2: b"early"}
    data = encode(message, 1)
    assert data.endswith(
        bytes.fromhex("03 02 05") + b"early" + bytes.fromhex("03 04 00000009 07 04") + b"late"
    )
    back, _ = decode(Parcel, 1, data)
    assert back == message
    assert encode(back, 1) == data


def test_unknown_tags_of_inner_structs_are_kept() -> None:
    request = FetchRequest(max_wait_ms=1, min_bytes=1, topics=[])
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)
    partition.unknown_tags = {9: b"new"}
    request.topics.append(FetchTopic(topic="t", partitions=[partition]))
    back, _ = decode(FetchRequest, 12, encode(request, 12))
    assert back.topics[0].partitions[0].unknown_tags == {9: b"new"}
    assert encode(back, 12) == encode(request, 12)


def test_known_tag_that_does_not_end_where_it_says_is_refused() -> None:
    message = parcel()
    message.flag = 9
    data = encode(message, 1)
    assert data.endswith(bytes.fromhex("01 03 04 00000009"))
    for size, end in (("03", "00000009"), ("05", "0000000900")):
        with pytest.raises(DecodeError):
            decode(Parcel, 1, data[:-6] + bytes.fromhex("03" + size + end))


def test_decode_starts_where_it_is_told_and_ends_behind_the_message() -> None:
    data = encode(parcel(), 1)
    message, end = decode(Parcel, 1, b"before" + data + b"after", 6)
    assert message == parcel()
    assert end == 6 + len(data)


@pytest.mark.parametrize("buffer", [bytes, bytearray, memoryview])
def test_decode_takes_any_buffer(buffer: type) -> None:
    message, _ = decode(Parcel, 2, buffer(encode(parcel(), 2)))
    assert message == parcel()
    assert type(message.blob) is bytes
    assert type(message.ids[0]) is bytes


def test_encode_parts_hold_records_uncopied_and_join_to_the_same_bytes() -> None:
    records = memoryview(bytes(5000))
    partition = PartitionData(partition_index=0, error_code=0, high_watermark=1, records=records)
    response = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])])
    parts = encode_parts(response, 12)
    assert any(part is records for part in parts)
    assert b"".join(parts) == encode(response, 12)


def test_tagged_struct_that_is_set_is_written() -> None:
    partition = PartitionData(partition_index=0, error_code=6, high_watermark=-1, records=None)
    partition.current_leader = LeaderIdAndEpoch(leader_id=2, leader_epoch=5)
    response = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])])
    back, _ = decode(FetchResponse, 12, encode(response, 12))
    assert back.responses[0].partitions[0].current_leader == LeaderIdAndEpoch(leader_id=2, leader_epoch=5)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 126, 127, 128, 300])
@pytest.mark.parametrize("version", [0, 1])
def test_numbers_of_any_count_come_back(count: int, version: int) -> None:
    """Few and many numbers go different ways, and so do counts of one byte and of two."""
    message = parcel()
    message.numbers = list(range(count))
    message.ids = [number.to_bytes(16, "big") for number in range(count)]
    assert decode(Parcel, version, encode(message, version))[0] == message


@pytest.mark.parametrize("length", [0, 126, 127, 128, 16_382, 16_383, 16_384, 32_767])
def test_text_of_any_length_comes_back(length: int) -> None:
    request = OffsetDeleteRequest(group_id="x" * length, topics=[])
    assert decode(OffsetDeleteRequest, 0, encode(request, 0))[0] == request
    topics = MetadataRequest(topics=[MetadataRequestTopic(name="x" * length)])
    assert decode(MetadataRequest, 9, encode(topics, 9))[0] == topics


@pytest.mark.parametrize(
    "request_",
    [
        OffsetDeleteRequest(group_id="x" * 32_768, topics=[]),
        OffsetDeleteRequest(group_id="\ud800", topics=[]),
        OffsetDeleteRequest(group_id=None, topics=[]),  # type: ignore[arg-type]
        OffsetDeleteRequest(group_id="g", topics=None),  # type: ignore[arg-type]
        OffsetDeleteRequest(group_id="g", topics=[None]),  # type: ignore[list-item]
        OffsetDeleteRequest(group_id="g", topics=[OffsetDeleteRequestTopic(name=1, partitions=[])]),  # type: ignore[arg-type]
    ],
)
def test_value_without_a_place_on_the_wire_is_refused(request_: OffsetDeleteRequest) -> None:
    with pytest.raises(EncodeError):
        encode(request_, 0)


@pytest.mark.parametrize("topic_id", [b"", bytes(15), bytes(17)])
def test_uuid_of_another_length_is_refused_not_padded(topic_id: bytes) -> None:
    with pytest.raises(EncodeError, match="16 bytes"):
        encode(
            FetchRequest(max_wait_ms=1, min_bytes=1, topics=[FetchTopic(topic_id=topic_id, partitions=[])]),
            13,
        )
    message = parcel()
    message.ids = [ZERO_UUID, topic_id]
    with pytest.raises(EncodeError, match="16 bytes"):
        encode(message, 1)


@pytest.mark.parametrize("version", [-1, 14, 32_767])
def test_version_that_a_message_lacks_is_refused(version: int) -> None:
    with pytest.raises(DecodeError, match="versions 0-13"):
        decode(MetadataRequest, version, bytes(100))
    with pytest.raises(EncodeError, match="versions 0-13"):
        encode(MetadataResponse(brokers=[], topics=[]), version)


def test_text_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(DecodeError, match="UTF-8"):
        decode(OffsetDeleteRequest, 0, b"\x00\x01\xff\x00\x00\x00\x00")
