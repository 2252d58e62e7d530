"""Requests recorded from real clients, sent again to our broker: every one is answered, in its own version.

What the answers mean depends on topics and groups that are not here; that they come, that they decode, and
that odd ones are taken as Kafka takes them, does not (003.18, 003.19; the README of ``kafka-wire``).
"""

import struct
from collections.abc import Iterator
from typing import Any

import pytest
from tests.messages.recordings import read_recording
from tests.server.wire import Peer

from trivium.messages.api import ApiKey
from trivium.messages.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from trivium.messages.api.metadata import MetadataResponse
from trivium.messages.errors import ErrorCode
from trivium.messages.extensions import EXTENSION_KEY_MIN
from trivium.messages.frames import decode_request, decode_response, encode_request
from trivium.protocols.kafka.apis import APIS
from trivium.testing import Broker

REQUESTS = [line for line in read_recording("wire.jsonl") if line["direction"] == "request"]

SERVED = [
    line
    for line in REQUESTS
    if (api := APIS.get(line["api_key"])) is not None
    and api.version_min <= line["api_version"] <= api.version_last
]


def named(line: dict[str, Any]) -> str:
    return f"{ApiKey(line['api_key']).name.lower()}-v{line['api_version']}-{line['client']}"


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(group_initial_rebalance_delay_ms=0) as broker:
        yield broker


@pytest.fixture
def peer(broker: Broker) -> Iterator[Peer]:
    with Peer(broker.bootstrap) as peer:
        yield peer


def send(peer: Peer, frame: bytes) -> None:
    peer.socket.sendall(struct.pack(">i", len(frame)) + frame)


@pytest.mark.parametrize("line", [line for line in SERVED if line["api_key"] != ApiKey.JOIN_GROUP], ids=named)
def test_recorded_request_sent_again_is_answered_in_its_version(peer: Peer, line: dict[str, Any]) -> None:
    check_answer(peer, line)


@pytest.mark.parametrize("line", [line for line in SERVED if line["api_key"] == ApiKey.JOIN_GROUP], ids=named)
def test_recorded_join_sent_again_is_answered_in_its_version(line: dict[str, Any]) -> None:
    """Each has a broker to itself: in one and the same group they would wait for each other."""
    with Broker(group_initial_rebalance_delay_ms=0) as broker, Peer(broker.bootstrap) as peer:
        check_answer(peer, line)


def check_answer(peer: Peer, line: dict[str, Any]) -> None:
    frame = bytes.fromhex(line["hex"])
    header, _ = decode_request(frame)
    send(peer, frame)
    answer, _ = decode_response(line["api_key"], line["api_version"], peer.frame())
    assert answer.correlation_id == header.correlation_id
    assert peer.is_served()


def test_recordings_hold_most_of_what_is_served() -> None:
    """Whoever cuts the recordings, or the table of APIs, should notice here."""
    assert len({line["api_key"] for line in SERVED}) > 25


def test_metadata_request_with_bytes_after_its_body_lists_all_topics(broker: Broker, peer: Peer) -> None:
    """librdkafka 2.16 sends an int32 where a compact array belongs; Kafka ignores the bytes too many."""
    for topic in ("a", "b"):
        broker.create_topic(topic)
    [request, _] = read_recording("wire-odd.jsonl")
    send(peer, bytes.fromhex(request["hex"]))
    _, response = decode_response(ApiKey.METADATA, 13, peer.frame())
    assert isinstance(response, MetadataResponse)
    assert {"a", "b"} <= {topic.name for topic in response.topics}
    assert peer.is_served()


@pytest.mark.parametrize("version", [5, 99])
def test_api_versions_newer_than_the_broker_is_answered_in_version_0(peer: Peer, version: int) -> None:
    """KIP-511, 001.9: error 35 and one row, with which the client comes back on the same connection."""
    request = ApiVersionsRequest(client_software_name="newer", client_software_version="1")
    known = encode_request(request, 4, 77, "newer")
    send(peer, known[:2] + struct.pack(">h", version) + known[4:])
    header, response = decode_response(ApiKey.API_VERSIONS, 0, peer.frame())
    assert header.correlation_id == 77
    assert isinstance(response, ApiVersionsResponse)
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
    [row] = response.api_keys
    assert (row.api_key, row.min_version, row.max_version) == (ApiKey.API_VERSIONS, 0, 4)
    peer.ask(request, row.max_version)
    _, response = peer.answer(ApiKey.API_VERSIONS, row.max_version)
    rows = response.api_keys  # type: ignore[attr-defined]
    telemetry = {ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY}
    expected = {key for key in APIS if key < EXTENSION_KEY_MIN} - telemetry
    assert [row.api_key for row in rows] == sorted(expected)
