"""Subscriptions and assignments inside JoinGroup and SyncGroup, with real clients' bytes among them."""

import pytest

from tests.messages.recordings import read_recording
from trivium.messages.api import ApiKey
from trivium.messages.api.join_group import JoinGroupRequest
from trivium.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from trivium.messages.frames import decode_request
from trivium.wire.errors import DecodeError


def test_subscription_of_each_version_comes_back() -> None:
    subscription = ConsumerProtocolSubscription(topics=["a", "b"], user_data=None)
    for version in ConsumerProtocolSubscription.VERSIONS:
        data = encode_subscription(subscription, version)
        assert data[:2] == version.to_bytes(2, "big")
        assert decode_subscription(data) == (version, subscription)


def test_assignment_of_each_version_comes_back() -> None:
    assignment = ConsumerProtocolAssignment(
        assigned_partitions=[TopicPartition(topic="a", partitions=[0, 1])], user_data=b"u"
    )
    for version in ConsumerProtocolAssignment.VERSIONS:
        assert decode_assignment(encode_assignment(assignment, version)) == (version, assignment)


def test_subscription_newer_than_known_is_read_as_the_newest_known() -> None:
    subscription = ConsumerProtocolSubscription(topics=["a"], user_data=b"", rack_id="r")
    data = b"\x00\x09" + encode_subscription(subscription, 3)[2:] + b"what version 9 added"
    assert decode_subscription(data) == (9, subscription)


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff\xff", b"\x00\x00\x7f\xff\xff\xff"])
def test_subscription_that_is_damaged_is_refused(data: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_subscription(data)


def test_subscriptions_of_recorded_clients_are_read_and_written_alike() -> None:
    seen = 0
    for line in read_recording("wire.jsonl"):
        if line["api_key"] == ApiKey.JOIN_GROUP and line["direction"] == "request":
            _, request = decode_request(bytes.fromhex(line["hex"]))
            assert isinstance(request, JoinGroupRequest)
            for protocol in request.protocols:
                version, subscription = decode_subscription(protocol.metadata)
                assert subscription.topics
                assert encode_subscription(subscription, version) == protocol.metadata
                seen += 1
    assert seen
