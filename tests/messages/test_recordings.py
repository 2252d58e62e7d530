"""Frames between real clients and a real broker, and records that the broker stored: read, and written alike.

Promise R11 in the small, and what DESIGN asks of messages: recordings decode and re-encode to their bytes.
"""

from typing import Any

import pytest

from tests.messages.recordings import read_recording
from trivium.messages.api import ApiKey
from trivium.messages.api.metadata import MetadataRequest
from trivium.messages.errors import ErrorCode
from trivium.messages.frames import (
    UnsupportedRequestError,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from trivium.messages.schema import Request
from trivium.messages.stored.control_records import (
    decode_control_key,
    decode_control_value,
    encode_control_key,
    encode_control_value,
)
from trivium.messages.stored.group_log import GROUP_LOG
from trivium.messages.stored.metadata_log import decode_metadata_record, encode_metadata_record
from trivium.messages.stored.transaction_log import TRANSACTION_LOG

WIRE = read_recording("wire.jsonl")
ODD = read_recording("wire-odd.jsonl")
STORED = read_recording("stored.jsonl")


def _is_newer_than_the_broker(line: dict[str, Any]) -> bool:
    return (line["api_key"], line["api_version"]) == (ApiKey.API_VERSIONS, 5)


def _reencode(line: dict[str, Any]) -> bytes:
    frame, version = bytes.fromhex(line["hex"]), line["api_version"]
    if line["direction"] == "request":
        header, request = decode_request(frame)
        assert (header.request_api_key, header.request_api_version) == (line["api_key"], version)
        return encode_request(request, version, header.correlation_id, header.client_id)
    answer, response = decode_response(line["api_key"], version, frame)
    return encode_response(response, version, answer.correlation_id)


@pytest.mark.parametrize(
    "api_key", sorted({line["api_key"] for line in WIRE}), ids=lambda key: ApiKey(key).name
)
def test_frame_recorded_is_read_and_written_alike(api_key: int) -> None:
    for line in WIRE:
        if line["api_key"] == api_key and not _is_newer_than_the_broker(line):
            assert _reencode(line).hex() == line["hex"], line["client"]


def test_api_versions_newer_than_known_keeps_its_header_for_the_answer() -> None:
    """001.9, KIP-511: the request cannot be read, and yet it is answered, in version 0 with error 35."""
    request, response = (line for line in WIRE if _is_newer_than_the_broker(line))
    with pytest.raises(UnsupportedRequestError) as refusal:
        decode_request(bytes.fromhex(request["hex"]))
    header = refusal.value.header
    assert (header.request_api_key, header.request_api_version) == (ApiKey.API_VERSIONS, 5)

    answer, body = decode_response(ApiKey.API_VERSIONS, 0, bytes.fromhex(response["hex"]))
    assert answer.correlation_id == header.correlation_id
    assert body.error_code == ErrorCode.UNSUPPORTED_VERSION  # type: ignore[attr-defined]
    assert encode_response(body, 0, header.correlation_id).hex() == response["hex"]


def test_metadata_request_with_bytes_after_its_body_is_read_as_kafka_reads_it() -> None:
    """librdkafka 2.16 asks for all topics and sends three bytes too many."""
    line = ODD[0]
    frame = bytes.fromhex(line["hex"])
    header, request = decode_request(frame)
    assert request == MetadataRequest(
        topics=None, allow_auto_topic_creation=False, include_topic_authorized_operations=False
    )
    assert encode_request(request, 13, header.correlation_id, header.client_id) == frame[:-3]


def test_metadata_response_to_the_odd_request_is_written_alike() -> None:
    assert _reencode(ODD[1]).hex() == ODD[1]["hex"]


def test_recordings_cover_requests_of_many_kinds() -> None:
    """The file is there whole: fewer frames than were recorded would prove less, silently."""
    assert len(WIRE) == 400
    assert len({(line["api_key"], line["api_version"]) for line in WIRE}) == 148


@pytest.mark.parametrize("line", STORED, ids=[f"{line['name']}-v{line['version']}" for line in STORED])
def test_stored_record_recorded_is_read_and_written_alike(line: dict[str, Any]) -> None:
    key = None if line["key"] is None else bytes.fromhex(line["key"])
    value = None if line["value"] is None else bytes.fromhex(line["value"])
    if line["log"] == "__cluster_metadata":
        assert value is not None
        kind, version, record = decode_metadata_record(value)
        assert (type(record).__name__, record.API_KEY) == (line["name"], kind)
        assert encode_metadata_record(record, version) == value
    elif line["log"] == "control":
        assert key is not None
        assert value is not None
        control = decode_control_key(key)
        version, message = decode_control_value(control, value)
        assert type(message).__name__ == line["name"]
        assert (encode_control_key(control), encode_control_value(message, version)) == (key, value)
    else:
        log = {"__consumer_offsets": GROUP_LOG, "__transaction_state": TRANSACTION_LOG}[line["log"]]
        assert key is not None
        key_message = log.decode_key(key)
        assert log.encode_key(key_message) == key
        value_message = log.decode_value(key_message, value)
        if value_message is None:
            assert value is None
        else:
            assert log.encode_value(value_message, line["version"]) == value


def test_produce_request_decoded_shares_its_records_with_the_frame() -> None:
    """Produce hands its records on as views: a megabyte is not copied by decoding it."""
    line = next(line for line in WIRE if line["api_key"] == 0 and line["direction"] == "request")
    frame = bytes.fromhex(line["hex"])
    _, request = decode_request(frame)
    assert isinstance(request, Request)
    records = request.topic_data[0].partition_data[0].records  # type: ignore[attr-defined]
    assert isinstance(records, memoryview)
    assert records.obj is frame
