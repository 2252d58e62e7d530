"""Requests of today, spoken in every version that a broker may still want."""

import pytest

from trivium.client.old_forms import in_version, newest_form
from trivium.client.versions import NEWEST
from trivium.messages.api import ApiKey
from trivium.messages.api.delete_topics import DeleteTopicsRequest, DeleteTopicState
from trivium.messages.api.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from trivium.messages.api.leave_group import LeaveGroupRequest, MemberIdentity
from trivium.messages.api.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from trivium.messages.codec import decode, encode
from trivium.messages.schema import Request
from trivium.wire.uuid_text import ZERO_UUID

REQUESTS: list[Request] = [
    FindCoordinatorRequest(key_type=0, coordinator_keys=["billing"]),
    OffsetFetchRequest(
        groups=[
            OffsetFetchRequestGroup(
                group_id="billing", topics=[OffsetFetchRequestTopics(name="orders", partition_indexes=[0, 2])]
            )
        ]
    ),
    DeleteTopicsRequest(topics=[DeleteTopicState(name="orders", topic_id=ZERO_UUID)], timeout_ms=5),
    LeaveGroupRequest(group_id="billing", members=[MemberIdentity(member_id="m1")]),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda each: type(each).__name__)
def test_request_says_the_same_in_every_version(request_: Request) -> None:
    """All the words are there, whatever fields they stand in."""
    newest = NEWEST.get(ApiKey(request_.API_KEY), request_.VERSIONS.last)
    for version in range(newest + 1):
        if isinstance(request_, FindCoordinatorRequest) and version == 0:
            request_ = FindCoordinatorRequest(coordinator_keys=["billing"])
        data = encode(in_version(request_, version), version)
        decode(type(request_), version, data)
        for word in (b"billing", b"orders", b"m1"):
            assert (word in data) == (word.decode() in repr(request_))


def test_offset_fetch_of_all_topics_stays_that_in_old_versions() -> None:
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="billing", topics=None)])
    old = in_version(request, 7)
    assert isinstance(old, OffsetFetchRequest)
    assert old.topics is None


def test_old_answer_to_find_coordinator_reads_like_a_new_one() -> None:
    asked = FindCoordinatorRequest(coordinator_keys=["billing"])
    old = FindCoordinatorResponse(error_code=0, node_id=7, host="a", port=9092)
    (found,) = newest_form(asked, old, 3).coordinators
    assert (found.key, found.node_id, found.host, found.port) == ("billing", 7, "a", 9092)


def test_old_answer_to_offset_fetch_reads_like_a_new_one() -> None:
    asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="billing", topics=None)])
    partition = OffsetFetchResponsePartition(
        partition_index=2, committed_offset=9, committed_leader_epoch=4, metadata="m", error_code=0
    )
    old = OffsetFetchResponse(
        topics=[OffsetFetchResponseTopic(name="orders", partitions=[partition])], error_code=15
    )
    (group,) = newest_form(asked, old, 7).groups
    assert (group.group_id, group.error_code) == ("billing", 15)
    (topic,) = group.topics
    (found,) = topic.partitions
    assert (topic.name, found.partition_index, found.committed_offset, found.committed_leader_epoch) == (
        "orders",
        2,
        9,
        4,
    )
