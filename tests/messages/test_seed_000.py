"""The ApiVersions notes of seed 000, point by point, with the real wire's answer where the seed errs."""

import pytest

from trivium.messages import decode, encode
from trivium.messages.api.api_versions import ApiVersion, ApiVersionsResponse
from trivium.messages.frames import decode_response, encode_response
from trivium.wire.builder import Builder
from trivium.wire.cursor import Cursor
from trivium.wire.errors import DecodeError
from trivium.wire.tagged_fields import write_tagged_fields
from trivium.wire.varint import encode_uvarint, read_uvarint

ONE_API = ApiVersionsResponse(error_code=0, api_keys=[ApiVersion(api_key=18, min_version=0, max_version=4)])
THREE_APIS = ApiVersionsResponse(
    error_code=0,
    api_keys=[
        ApiVersion(api_key=0, min_version=0, max_version=7),
        ApiVersion(api_key=1, min_version=0, max_version=8),
        ApiVersion(api_key=18, min_version=0, max_version=4),
    ],
)

SEED_ONE_API = bytes.fromhex("0000 02 0012 0000 0004 00000000 01 00")
SEED_THREE_APIS = bytes.fromhex("0000 04 0000 0000 0007 0001 0000 0008 0012 0000 0004 00000000 01 00")


def test_uvarint_300_is_ac_02() -> None:
    """000.8, 000.9: the worked example, in both directions."""
    assert encode_uvarint(300) == bytes.fromhex("ac02")
    assert read_uvarint(bytes.fromhex("ac02"), 0) == (300, 2)


@pytest.mark.parametrize(("count", "spelled"), [(1, "02"), (3, "04")])
def test_compact_array_count_is_one_more_than_it_means(count: int, spelled: str) -> None:
    """000.3."""
    assert Builder().compact_array_count(count).build().hex() == spelled


def test_api_versions_one_api_has_the_bytes_of_the_real_wire() -> None:
    """000.1, 000.2, 000.4, 000.5, 000.7, 000.10, 000.17; 000.14 and 000.15: an entry has its own tags, and
    an empty section is one byte, so the seed's last bytes ``01 00`` are not what Kafka sends."""
    wire = bytes.fromhex("0000 02 0012 0000 0004 00 00000000 00")
    assert encode(ONE_API, 3) == wire
    assert decode(ApiVersionsResponse, 3, wire) == (ONE_API, len(wire))


def test_api_versions_three_apis_have_the_bytes_of_the_real_wire() -> None:
    """000.6."""
    wire = bytes.fromhex("0000 04 0000 0000 0007 00 0001 0000 0008 00 0012 0000 0004 00 00000000 00")
    assert encode(THREE_APIS, 3) == wire
    assert decode(ApiVersionsResponse, 3, wire) == (THREE_APIS, len(wire))


@pytest.mark.parametrize(("seed", "message"), [(SEED_ONE_API, ONE_API), (SEED_THREE_APIS, THREE_APIS)])
def test_seed_example_shows_error_count_entries_and_throttle_time(
    seed: bytes, message: ApiVersionsResponse
) -> None:
    """What the literal bytes of the seed do show (000.2-000.7), read by hand."""
    cursor = Cursor(seed)
    assert cursor.int16() == message.error_code
    apis = [(cursor.int16(), cursor.int16(), cursor.int16()) for _ in range(cursor.compact_array_count(6))]
    assert apis == [(api.api_key, api.min_version, api.max_version) for api in message.api_keys]
    assert cursor.int32() == message.throttle_time_ms
    assert bytes(cursor.take(cursor.remaining)) == bytes.fromhex("0100")


@pytest.mark.parametrize("seed", [SEED_ONE_API, SEED_THREE_APIS])
def test_seed_example_is_not_a_version_3_body(seed: bytes) -> None:
    """000.14, 000.15: without tags behind each entry the bytes mean something else, and do not fit."""
    try:
        message, end = decode(ApiVersionsResponse, 3, seed)
    except DecodeError:
        return
    assert end != len(seed) or message not in (ONE_API, THREE_APIS)


def test_tagged_field_is_tag_length_and_data() -> None:
    """000.11-000.13: count, then tag, length, data; no fields are a single 0."""
    assert write_tagged_fields(Builder(), {5: b"abc"}).build() == b"\x01\x05\x03abc"
    assert write_tagged_fields(Builder(), {}).build() == b"\x00"


def test_tagged_fields_stand_last() -> None:
    """000.12: in the message as in each struct."""
    message, _ = decode(ApiVersionsResponse, 3, encode(ONE_API, 3))
    message.unknown_tags = {9: b"later"}
    assert encode(message, 3).endswith(b"\x01\x09\x05later")


@pytest.mark.parametrize("version", [0, 3, 4])
def test_api_versions_response_header_never_has_tags(version: int) -> None:
    """000.16: correlation id, then the body at once, even in flexible versions."""
    frame = encode_response(ONE_API, version, 7)
    assert frame == bytes.fromhex("00000007") + encode(ONE_API, version)
    header, message = decode_response(18, version, frame)
    assert (header.correlation_id, message) == (7, ONE_API)
