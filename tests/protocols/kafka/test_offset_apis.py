"""The APIs of committed offsets, version by version: frames in, frames out (mission 003.5, 003.28)."""

import pytest

from tests.core.groups.coordinated import Coordinated
from tests.protocols.kafka.conversation import Conversation, protocol_of
from trivium.core.faults import Fault
from trivium.messages.api.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from trivium.messages.api.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from trivium.messages.api.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from trivium.messages.errors import ErrorCode
from trivium.wire.uuid_text import ZERO_UUID


@pytest.fixture
def groups() -> Coordinated:
    return Coordinated()


@pytest.fixture
def client(groups: Coordinated) -> Conversation:
    return Conversation(protocol_of(groups.world))


def topic_id(groups: Coordinated) -> bytes:
    return groups.world.image.topics.by_name["t"].topic_id


def commit_request(name: str = "t", topic_id: bytes = ZERO_UUID, generation: int = -1) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id="g",
        generation_id_or_member_epoch=generation,
        topics=[
            OffsetCommitRequestTopic(
                name=name,
                topic_id=topic_id,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=index,
                        committed_offset=42 + index,
                        committed_leader_epoch=3,
                        committed_metadata="note" if index else None,
                    )
                    for index in range(2)
                ],
            )
        ],
    )


def codes(answer: OffsetCommitResponse) -> list[int]:
    return [part.error_code for topic in answer.topics for part in topic.partitions]


# -- committing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(10))
def test_offsets_are_committed_by_name(groups: Coordinated, client: Conversation, version: int) -> None:
    answer = client.ask(commit_request(), version, OffsetCommitResponse)
    assert [(topic.name, len(topic.partitions)) for topic in answer.topics] == [("t", 2)]
    assert codes(answer) == [0, 0]
    assert groups.offsets() == {("t", 0): 42, ("t", 1): 43}


def test_offsets_are_committed_by_topic_id_in_version_10(groups: Coordinated, client: Conversation) -> None:
    request = commit_request("", topic_id(groups))
    answer = client.ask(request, 10, OffsetCommitResponse)
    assert [topic.topic_id for topic in answer.topics] == [topic_id(groups)]
    assert groups.offsets() == {("t", 0): 42, ("t", 1): 43}
    unknown = client.ask(commit_request("", b"x" * 16), 10, OffsetCommitResponse)
    assert unknown.topics[0].topic_id == b"x" * 16
    assert codes(unknown) == [ErrorCode.UNKNOWN_TOPIC_ID] * 2


@pytest.mark.parametrize(
    ("version", "code"), [(1, ErrorCode.ILLEGAL_GENERATION), (8, 22), (9, ErrorCode.GROUP_ID_NOT_FOUND)]
)
def test_member_of_no_group_is_refused_in_the_words_of_its_version(
    client: Conversation, version: int, code: int
) -> None:
    answer = client.ask(commit_request(generation=5), version, OffsetCommitResponse)
    assert codes(answer) == [code, code]


def test_topic_that_is_not_there_is_told_also_to_who_may_not_commit(client: Conversation) -> None:
    answer = client.ask(commit_request("gone", generation=5), 9, OffsetCommitResponse)
    assert codes(answer) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] * 2


@pytest.mark.parametrize("version", [2, 4])
def test_retention_of_old_versions_is_kept(groups: Coordinated, client: Conversation, version: int) -> None:
    request = commit_request()
    request.retention_time_ms = 60_000
    client.ask(request, version, OffsetCommitResponse)
    groups.pass_time(600_001)
    assert groups.offsets() == {}


def test_timestamp_of_version_1_is_kept(groups: Coordinated, client: Conversation) -> None:
    request = commit_request()
    request.topics[0].partitions[0].commit_timestamp = groups.world.clock.wall_ms() - 10_080 * 60_000
    client.ask(request, 1, OffsetCommitResponse)
    groups.pass_time(600_001)
    assert groups.offsets() == {("t", 1): 43}


# -- fetching --------------------------------------------------------------------------------------


def fetch_request(version: int, *, everything: bool = False, name: str = "t") -> OffsetFetchRequest:
    if version < 8:
        topics = None if everything else [OffsetFetchRequestTopic(name=name, partition_indexes=[1, 3])]
        return OffsetFetchRequest(group_id="g", topics=topics)
    asked = None if everything else [OffsetFetchRequestTopics(name=name, partition_indexes=[1, 3])]
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=asked)])


@pytest.mark.parametrize("version", range(1, 8))
def test_offsets_of_one_group_are_found(groups: Coordinated, client: Conversation, version: int) -> None:
    client.ask(commit_request(), 8, OffsetCommitResponse)
    answer = client.ask(fetch_request(version), version, OffsetFetchResponse)
    epoch = 3 if version >= 5 else -1
    assert answer.error_code == 0
    assert [
        (
            part.partition_index,
            part.committed_offset,
            part.committed_leader_epoch,
            part.metadata,
            part.error_code,
        )
        for part in answer.topics[0].partitions
    ] == [(1, 43, epoch, "note", 0), (3, -1, -1, "", 0)]


def test_missing_offset_is_an_error_in_version_0(client: Conversation) -> None:
    client.ask(commit_request(), 8, OffsetCommitResponse)
    answer = client.ask(fetch_request(0), 0, OffsetFetchResponse)
    assert [(part.committed_offset, part.error_code) for part in answer.topics[0].partitions] == [
        (43, 0),
        (-1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]


@pytest.mark.parametrize("version", [8, 9])
def test_offsets_of_several_groups_are_found(client: Conversation, version: int) -> None:
    client.ask(commit_request(), 8, OffsetCommitResponse)
    request = fetch_request(version)
    request.groups.append(OffsetFetchRequestGroup(group_id="other", topics=None))
    known, other = client.ask(request, version, OffsetFetchResponse).groups
    assert [part.committed_offset for part in known.topics[0].partitions] == [43, -1]
    assert (known.group_id, other.group_id, other.error_code, other.topics) == ("g", "other", 0, [])


@pytest.mark.parametrize("version", [2, 7])
def test_all_offsets_of_a_group_are_found(client: Conversation, version: int) -> None:
    client.ask(commit_request(), 8, OffsetCommitResponse)
    answer = client.ask(fetch_request(version, everything=True), version, OffsetFetchResponse)
    assert [(topic.name, len(topic.partitions)) for topic in answer.topics] == [("t", 2)]


def test_offsets_are_found_by_topic_id_in_version_10(groups: Coordinated, client: Conversation) -> None:
    client.ask(commit_request(), 8, OffsetCommitResponse)
    asked = [
        OffsetFetchRequestTopics(topic_id=each, partition_indexes=[0])
        for each in (topic_id(groups), b"x" * 16)
    ]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=asked)])
    [group] = client.ask(request, 10, OffsetFetchResponse).groups
    assert [(topic.topic_id, topic.partitions[0].committed_offset) for topic in group.topics] == [
        (topic_id(groups), 42),
        (b"x" * 16, -1),
    ]
    assert group.topics[1].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_all_offsets_are_named_by_topic_id_in_version_10(groups: Coordinated, client: Conversation) -> None:
    client.ask(commit_request(), 8, OffsetCommitResponse)
    [group] = client.ask(fetch_request(10, everything=True), 10, OffsetFetchResponse).groups
    assert [(topic.topic_id, len(topic.partitions)) for topic in group.topics] == [(topic_id(groups), 2)]


@pytest.mark.parametrize("version", [1, 2, 7, 8, 10])
def test_error_of_a_group_stands_where_its_version_has_a_place_for_it(
    groups: Coordinated, client: Conversation, version: int
) -> None:
    groups.commit(1)
    groups.log.fault = Fault.STORAGE
    groups.restart()
    client = Conversation(protocol_of(groups.world))
    answer = client.ask(fetch_request(version), version, OffsetFetchResponse)
    if version >= 8:
        assert answer.groups[0].error_code == ErrorCode.NOT_COORDINATOR
    elif version >= 2:
        assert (answer.error_code, answer.topics) == (ErrorCode.NOT_COORDINATOR, [])
    else:
        assert {part.error_code for part in answer.topics[0].partitions} == {ErrorCode.NOT_COORDINATOR}


# -- deleting --------------------------------------------------------------------------------------


def test_offsets_are_deleted(groups: Coordinated, client: Conversation) -> None:
    client.ask(commit_request(), 8, OffsetCommitResponse)
    request = OffsetDeleteRequest(
        group_id="g",
        topics=[
            OffsetDeleteRequestTopic(name=name, partitions=[OffsetDeleteRequestPartition(partition_index=0)])
            for name in ("t", "unknown")
        ],
    )
    answer = client.ask(request, 0, OffsetDeleteResponse)
    assert [(topic.name, topic.partitions[0].error_code) for topic in answer.topics] == [
        ("t", 0),
        ("unknown", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert groups.offsets() == {("t", 1): 43}


def test_offsets_of_no_group_cannot_be_deleted(client: Conversation) -> None:
    answer = client.ask(OffsetDeleteRequest(group_id="no", topics=[]), 0, OffsetDeleteResponse)
    assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    nameless = client.ask(OffsetDeleteRequest(group_id="", topics=[]), 0, OffsetDeleteResponse)
    assert nameless.error_code == ErrorCode.INVALID_GROUP_ID
