"""Frames with their headers: mission 001.6, 001.16, 003.10, 003.11, 000.16."""

import pytest

from trivium.messages.api import ApiKey, api_name, request_class, response_class
from trivium.messages.api.controlled_shutdown import ControlledShutdownRequest
from trivium.messages.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from trivium.messages.frames import (
    UnsupportedRequestError,
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
    request_parts,
    response_parts,
)
from trivium.messages.header import request_header_version, response_header_version
from trivium.messages.version_range import VersionRange
from trivium.wire.errors import DecodeError

# What a Kafka 4.3.1 broker advertises, and 71 and 72, which it keeps for other listeners.
ADVERTISED = {
    0: "0-13", 1: "4-18", 2: "1-11", 3: "0-13", 8: "2-10", 9: "1-10", 10: "0-6", 11: "0-9", 12: "0-4",
    13: "0-5", 14: "0-5", 15: "0-6", 16: "0-5", 17: "0-1", 18: "0-4", 19: "2-7", 20: "1-6", 21: "0-2",
    22: "0-5", 23: "2-4", 24: "0-5", 25: "0-4", 26: "0-5", 27: "1-2", 28: "0-5", 29: "1-3", 30: "1-3",
    31: "1-3", 32: "1-4", 33: "0-2", 34: "1-2", 35: "1-5", 36: "0-2", 37: "0-3", 38: "1-3", 39: "1-2",
    40: "1-2", 41: "1-3", 42: "0-2", 43: "0-2", 44: "0-1", 45: "0-1", 46: "0", 47: "0", 48: "0-1",
    49: "0-1", 50: "0", 51: "0", 55: "0-2", 57: "0-2", 60: "0-2", 61: "0", 64: "0", 65: "0", 66: "0-2",
    68: "0-1", 69: "0-1", 71: "0", 72: "0", 74: "0-1", 75: "0", 76: "1", 77: "1", 78: "1-2", 79: "1-2",
    80: "0-1", 81: "0", 83: "0", 84: "0", 85: "0-1", 86: "0", 87: "0-1", 88: "0", 89: "0", 90: "0-1",
    91: "0", 92: "0",
}  # fmt: skip

HEARTBEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


@pytest.mark.parametrize(
    ("version", "header_hex"), [(0, "000c 0000 00000007 0001 63"), (4, "000c 0004 00000007 0001 63 00")]
)
def test_request_header_has_tags_in_flexible_versions_only(version: int, header_hex: str) -> None:
    data = encode_request(HEARTBEAT, version, 7, "c")
    assert data.startswith(bytes.fromhex(header_hex))
    header, request = decode_request(data)
    assert (header.request_api_key, header.request_api_version) == (12, version)
    assert (header.correlation_id, header.client_id, request) == (7, "c", HEARTBEAT)


def test_request_header_client_id_may_be_null() -> None:
    assert decode_request(encode_request(HEARTBEAT, 4, 7))[0].client_id is None


def test_controlled_shutdown_v0_has_no_client_id() -> None:
    data = encode_request(ControlledShutdownRequest(broker_id=3), 0, 7, "dropped")
    assert data == bytes.fromhex("0007 0000 00000007 00000003")
    assert decode_request(data)[0].client_id is None


def test_response_header_has_tags_in_flexible_versions_only() -> None:
    response = HeartbeatResponse(error_code=0)
    assert encode_response(response, 3, 7) == bytes.fromhex("00000007 00000000 0000")
    assert encode_response(response, 4, 7) == bytes.fromhex("00000007 00 00000000 0000 00")
    for version in (3, 4):
        header, message = decode_response(ApiKey.HEARTBEAT, version, encode_response(response, version, 7))
        assert (header.correlation_id, message) == (7, response)


def test_header_versions_of_every_api_follow_the_flexible_range() -> None:
    for key in ApiKey:
        for version in request_class(key).VERSIONS:
            is_flexible = version in request_class(key).FLEXIBLE
            expected = 2 if is_flexible else 0 if (key, version) == (7, 0) else 1
            assert request_header_version(request_class(key), version) == expected
            assert response_header_version(response_class(key), version) == (is_flexible and key != 18)


def test_bytes_after_a_request_are_ignored() -> None:
    assert decode_request(encode_request(HEARTBEAT, 4, 7) + b"more")[1] == HEARTBEAT


def test_request_of_an_unknown_version_tells_its_header() -> None:
    data = bytearray(encode_request(HEARTBEAT, 4, 7, "c"))
    data[3] = 99
    with pytest.raises(UnsupportedRequestError) as refusal:
        decode_request(data)
    assert (refusal.value.header.correlation_id, refusal.value.header.client_id) == (7, "c")


@pytest.mark.parametrize(
    "frame", [b"", b"\x00\x12\x00", b"\x03\xe7\x00\x00\x00\x00\x00\x07\xff\xff", b"\xff\xff\x00\x00"]
)
def test_request_without_a_known_key_is_refused(frame: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_request_header(frame)


def test_parts_join_to_the_same_frame() -> None:
    assert b"".join(request_parts(HEARTBEAT, 4, 7, "c")) == encode_request(HEARTBEAT, 4, 7, "c")
    response = HeartbeatResponse(error_code=0)
    assert b"".join(response_parts(response, 4, 7)) == encode_response(response, 4, 7)


def test_every_api_key_has_its_two_classes() -> None:
    """003.5-003.9: one module a key, the same versions both ways."""
    for key in ApiKey:
        request, response = request_class(key), response_class(key)
        assert request.API_KEY == response.API_KEY == key
        assert request.VERSIONS == response.VERSIONS
        assert request.FLEXIBLE == response.FLEXIBLE
        assert api_name(key).lower() == key.name.replace("_", "").lower()


def test_every_version_that_kafka_advertises_is_there() -> None:
    for key, advertised in ADVERTISED.items():
        assert request_class(key).VERSIONS.covers(VersionRange.parse(advertised)), api_name(key)
