"""What RustLog's broker has besides its document: mission 004.27."""

import pytest

from tests.protocols.rustlog.conversation import Conversation, Door


@pytest.fixture
def client() -> Conversation:
    return Door().connect()


def test_created_topic_is_there_and_takes_records(client: Conversation) -> None:
    assert client.ask("CreateTopic", topic="orders", partitions=2) == {"success": True}
    assert client.produce(b"x", topic="orders", partition=1) == [0]


def test_topic_that_exists_is_refused_and_unchanged(client: Conversation) -> None:
    error = client.refused("CreateTopic", topic="t", partitions=9)
    assert error["message"] == "topic already exists: topic=t"
    assert len(client.ask("DescribeTopic", topic="t")["partitions"]) == 4


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0b", "x" * 250, "ä"])
def test_topic_with_a_name_that_none_may_have_is_refused(client: Conversation, name: str) -> None:
    """S14."""
    assert "invalid" in client.refused("CreateTopic", topic=name, partitions=1)["message"]


def test_topic_without_partitions_is_refused(client: Conversation) -> None:
    assert (
        client.refused("CreateTopic", topic="none", partitions=0)["message"] == "invalid partition count: 0"
    )
    assert "none" not in client.world.image.topics.by_name


def test_topic_with_too_many_partitions_is_refused(client: Conversation) -> None:
    client.refused("CreateTopic", topic="many", partitions=2**32 - 1)
    assert "many" not in client.world.image.topics.by_name


def test_list_has_topics_of_clients_and_not_the_brokers_own(client: Conversation) -> None:
    client.ask("OffsetCommit", topic="t", partition=0, group_id="g", offset=1)
    assert "__consumer_offsets" in client.world.image.topics.by_name
    client.ask("CreateTopic", topic="a", partitions=1)
    assert client.ask("ListTopics") == {
        "topics": [{"topic": "a", "partitions": 1}, {"topic": "t", "partitions": 4}]
    }


def test_description_tells_where_partitions_begin_and_end(client: Conversation) -> None:
    client.produce(b"a", b"b", b"c", partition=1)
    client.world.log("t", 1).delete_before(2, lambda _fault: None)
    described = client.ask("DescribeTopic", topic="t")
    assert described["topic"] == "t"
    assert described["partitions"][:2] == [
        {"partition": 0, "start_offset": 0, "next_offset": 0},
        {"partition": 1, "start_offset": 2, "next_offset": 3},
    ]
    one = client.ask("DescribePartition", topic="t", partition=1)
    assert one == {"topic": "t", "partition": 1, "start_offset": 2, "next_offset": 3}


@pytest.mark.parametrize("name", ["nope", "", "a/b"])
def test_description_of_an_unknown_topic_says_so(client: Conversation, name: str) -> None:
    assert client.refused("DescribeTopic", topic=name) == {"message": f"topic not found: topic={name}"}


@pytest.mark.parametrize(("topic", "partition"), [("nope", 0), ("t", 4)])
def test_description_of_an_unknown_partition_says_so(
    client: Conversation, topic: str, partition: int
) -> None:
    error = client.refused("DescribePartition", topic=topic, partition=partition)
    assert error == {"message": f"partition not found: topic={topic}, partition={partition}"}


def test_ping_is_answered(client: Conversation) -> None:
    assert client.ask("Ping") == {}


def test_metrics_count_what_has_passed(client: Conversation) -> None:
    client.produce(b"abc", b"de")
    client.fetch(0)
    lines = client.ask("Metrics")["text"].splitlines()
    assert "messages_produced_total 2" in lines
    assert "bytes_in_total 5" in lines
    assert "messages_fetched_total 2" in lines
    assert "bytes_out_total 5" in lines
    assert "active_connections 1" in lines
