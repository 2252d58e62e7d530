"""OffsetCommit and OffsetFetch: mission 004.10-004.12, 004.15, 004.16, X.3."""

import pytest

from tests.protocols.rustlog.conversation import Conversation, Door


@pytest.fixture
def client() -> Conversation:
    return Door().connect()


def committed(client: Conversation, group_id: str = "g") -> int | None:
    offset: int | None = client.ask("OffsetFetch", topic="t", partition=0, group_id=group_id)["offset"]
    return offset


def test_offset_of_a_group_that_has_never_committed_is_null(client: Conversation) -> None:
    assert committed(client) is None


def test_commit_overwrites_also_backwards(client: Conversation) -> None:
    """004.10."""
    for offset in (5, 9, 3, 0):
        assert client.ask("OffsetCommit", topic="t", partition=0, group_id="g", offset=offset) == {
            "success": True
        }
        assert committed(client) == offset


def test_offsets_are_kept_by_group_topic_and_partition(client: Conversation) -> None:
    client.ask("OffsetCommit", topic="t", partition=0, group_id="g", offset=5)
    assert committed(client, "other") is None
    assert client.ask("OffsetFetch", topic="t", partition=1, group_id="g") == {"offset": None}


def test_committed_offset_survives_a_restart(client: Conversation) -> None:
    """004.11: RustLog loses it, here it is a record."""
    client.ask("OffsetCommit", topic="t", partition=0, group_id="g", offset=5)
    client.door.restart()
    assert committed(client) == 5


def test_committed_offset_is_the_kafka_groups_own(client: Conversation) -> None:
    """X.3: one store, the next offset to read for both."""
    groups = client.door.groups
    client.ask("OffsetCommit", topic="t", partition=0, group_id="g", offset=5)
    assert groups.offsets() == {("t", 0): 5}
    groups.commit(8)
    assert committed(client) == 8


@pytest.mark.parametrize(("topic", "partition"), [("nope", 0), ("t", 4)])
def test_commit_for_what_is_not_there_is_no_success(client: Conversation, topic: str, partition: int) -> None:
    """004.15."""
    answer = client.ask("OffsetCommit", topic=topic, partition=partition, group_id="g", offset=1)
    assert answer == {
        "success": False,
        "message": f"partition not found: topic={topic}, partition={partition}",
    }
    assert client.ask("OffsetFetch", topic=topic, partition=partition, group_id="g") == {"offset": None}


@pytest.mark.parametrize("offset", [2**63, 2**64 - 1])
def test_commit_of_an_offset_that_no_record_has_is_no_success(client: Conversation, offset: int) -> None:
    answer = client.ask("OffsetCommit", topic="t", partition=0, group_id="g", offset=offset)
    assert not answer["success"]
    assert committed(client) is None


def test_commit_is_acknowledged_when_it_is_synced(client: Conversation) -> None:
    client.ask("OffsetCommit", topic="t", partition=0, group_id="g", offset=1)
    client.world.storage.holds_syncs = True
    client.send("OffsetCommit", topic="t", partition=0, group_id="g", offset=2)
    assert client.answers() == []
    client.world.storage.sync()
    assert client.answers() == [{"OffsetCommit": {"success": True}}]


def test_commit_into_a_group_with_kafka_members_says_why_not(client: Conversation) -> None:
    """Groups share offsets, not membership: the members' offsets are theirs while they are at work."""
    client.door.groups.stable()
    answer = client.ask("OffsetCommit", topic="t", partition=0, group_id="g", offset=1)
    assert not answer["success"]
    assert "members" in answer["message"]
