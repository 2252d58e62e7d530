"""The flows that RustLog's document works through, one test each (mission 004.19)."""

import pytest

from tests.core.batches import batch, produce
from tests.protocols.rustlog.conversation import Conversation, Door


@pytest.fixture
def client() -> Conversation:
    door = Door()
    door.world.create_topic("orders", 1)
    return door.connect()


def fill(client: Conversation, count: int) -> None:
    """As many records as the document has before its flow begins."""
    produce(client.world, batch(*[b"before"] * count), topic="orders")


def test_flow_1_produce_twice_offsets_go_on(client: Conversation) -> None:
    fill(client, 1000)
    first = client.ask("Produce", topic="orders", partition=0, records=[[10, 20], [30, 40]])
    assert first == {"offsets": [1000, 1001]}
    assert client.ask("Produce", topic="orders", partition=0, records=[[50, 60]]) == {"offsets": [1002]}


def test_flow_2_group_fetches_commits_and_goes_on_after_a_restart(client: Conversation) -> None:
    client.produce(b"\x0a\x14", b"\x1e\x28", topic="orders")
    fields = {
        "topic": "orders",
        "partition": 0,
        "offset": 0,
        "max_bytes": 1_048_576,
        "group_id": "processor",
    }
    assert client.ask("Fetch", **fields) == {
        "records": [{"offset": 0, "payload": [10, 20]}, {"offset": 1, "payload": [30, 40]}],
        "next_offset": 2,
    }
    committed = client.ask("OffsetCommit", topic="orders", partition=0, group_id="processor", offset=2)
    assert committed == {"success": True}
    client.produce(b"\x32\x3c", topic="orders")
    assert client.door.connect().ask("Fetch", **fields) == {
        "records": [{"offset": 2, "payload": [50, 60]}],
        "next_offset": 3,
    }


def test_flow_3_fetch_without_group_reads_where_it_says(client: Conversation) -> None:
    fill(client, 100)
    client.produce(b"\x0a\x14", b"\x1e\x28", topic="orders")
    answer = client.ask("Fetch", topic="orders", partition=0, offset=100, max_bytes=1_048_576, group_id=None)
    assert answer == {
        "records": [{"offset": 100, "payload": [10, 20]}, {"offset": 101, "payload": [30, 40]}],
        "next_offset": 102,
    }


def test_flow_4_fetch_of_an_unknown_topic_is_the_documents_error(client: Conversation) -> None:
    error = client.refused(
        "Fetch", topic="nonexistent", partition=0, offset=0, max_bytes=1_048_576, group_id=None
    )
    assert error == {"message": "partition not found: topic=nonexistent, partition=0"}
