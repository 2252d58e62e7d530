"""Produce: mission 004.5, 004.13, and R1 at this door."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.fakes import NOW_MS
from tests.protocols.rustlog.conversation import Conversation, Door
from trivium.core.faults import Fault
from trivium.protocols.rustlog.produce import (
    BATCH_BYTES_MAX,
    PRODUCE_TIMEOUT_MS,
    RECORD_OVERHEAD_BYTES_MAX,
)
from trivium.records.batch import check_batches, iter_records


@pytest.fixture
def client() -> Conversation:
    return Door().connect()


def batches_of(client: Conversation, topic: str = "t") -> list[list[bytes | None]]:
    """The values of each batch in the log."""
    piece = client.world.log(topic).read(0, 1 << 40, committed=False)
    return [
        [record.value for record in iter_records(run, position)]
        for run in piece.runs
        for position, _ in check_batches(run)
    ]


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=20))
def test_payloads_are_stored_in_order_with_offsets_that_follow(payloads: list[bytes]) -> None:
    client = Door().connect()
    assert client.produce(*payloads) == list(range(len(payloads)))
    assert client.world.log("t").records() == [
        (offset, None, payload) for offset, payload in enumerate(payloads)
    ]


def test_produced_records_have_the_time_of_their_arrival(client: Conversation) -> None:
    client.produce(b"a")
    (run,) = client.world.log("t").read(0, 1000, committed=False).runs
    assert [record.timestamp for record in iter_records(run)] == [NOW_MS]


def test_produce_without_records_changes_nothing(client: Conversation) -> None:
    assert client.produce() == []
    assert client.world.log("t").log_end_offset == 0


@pytest.mark.parametrize("records", [[], [[1]]])
@pytest.mark.parametrize(("topic", "partition"), [("nope", 0), ("t", 4), ("t", 2**32 - 1), ("", 0)])
def test_produce_to_what_is_not_there_says_so(
    client: Conversation, topic: str, partition: int, records: list[list[int]]
) -> None:
    error = client.refused("Produce", topic=topic, partition=partition, records=records)
    assert error == {"message": f"partition not found: topic={topic}, partition={partition}"}


def test_produce_is_acknowledged_when_it_is_synced(client: Conversation) -> None:
    """R1, R2: the answer waits for the disk."""
    client.world.storage.holds_syncs = True
    client.send("Produce", topic="t", partition=0, records=[[1]])
    assert client.answers() == []
    assert not client.session.is_idle
    client.world.storage.sync()
    assert client.answers() == [{"Produce": {"offsets": [0]}}]
    assert client.wakes == 1


def test_produce_on_a_disk_that_fails_is_an_error(client: Conversation) -> None:
    client.world.log("t").fault = Fault.STORAGE
    assert "disk" in client.refused("Produce", topic="t", partition=0, records=[[1]])["message"]
    client.world.log("t").fault = None
    assert client.produce(b"again") == [0]


def test_produce_whose_sync_does_not_return_is_answered_after_its_time(client: Conversation) -> None:
    client.world.storage.holds_syncs = True
    client.send("Produce", topic="t", partition=0, records=[[1]])
    client.world.pass_time(PRODUCE_TIMEOUT_MS - 1)
    assert client.answers() == []
    client.world.pass_time(200)
    ((kind, error),) = client.answers()[0].items()
    assert kind == "Error"
    assert "not confirmed" in error["message"]


def test_many_records_are_cut_into_batches_that_a_topic_takes(client: Conversation) -> None:
    payload = bytes(100_000)
    body = b"\x01\0\1t\0\0\0\0\0\0\0\x1e" + (len(payload).to_bytes(4, "big") + payload) * 30
    assert client.ask_body(body) == b"\x01" + bytes(8) + b"\0\0\0\x1e"
    batches = batches_of(client)
    assert len(batches) > 1
    assert [value for values in batches for value in values] == [payload] * 30


def test_batch_is_filled_up_to_its_limit(client: Conversation) -> None:
    """A record more than fits begins the next batch."""
    payload = bytes(1000)
    fitting = (BATCH_BYTES_MAX - 61) // (len(payload) + RECORD_OVERHEAD_BYTES_MAX)
    blob = len(payload).to_bytes(4, "big") + payload
    client.ask_body(b"\x01\0\1t\0\0\0\0" + (fitting + 1).to_bytes(4, "big") + blob * (fitting + 1))
    assert [len(values) for values in batches_of(client)] == [fitting, 1]


def test_topic_that_takes_smaller_batches_gets_them_one_record_each(client: Conversation) -> None:
    client.world.create_topic("small", 1, max_message_bytes="200")
    assert client.produce(bytes(100), bytes(100), bytes(100), topic="small") == [0, 1, 2]
    assert batches_of(client, "small") == [[bytes(100)]] * 3


def test_record_that_a_topic_does_not_take_is_refused_with_all_others(client: Conversation) -> None:
    client.world.create_topic("small", 1, max_message_bytes="200")
    error = client.refused("Produce", topic="small", partition=0, records=[[1], [1] * 300])
    assert "max.message.bytes" in error["message"] or "200" in error["message"]
    assert client.world.log("small").log_end_offset == 0


def test_topic_made_at_this_door_takes_records_of_nearly_a_frame(client: Conversation) -> None:
    """004.5: a record may have 10 MB, as far as a frame holds it."""
    client.ask("CreateTopic", topic="large", partitions=1)
    payload = bytes(10_485_760 - 100)
    body = b"\x01\0\5large\0\0\0\0\0\0\0\1" + len(payload).to_bytes(4, "big") + payload
    assert client.ask_body(body) == b"\x01" + bytes(8) + b"\0\0\0\1"


def test_internal_topics_are_not_written_to(client: Conversation) -> None:
    client.ask("OffsetCommit", topic="t", partition=0, group_id="g", offset=1)
    error = client.refused("Produce", topic="__consumer_offsets", partition=0, records=[[1]])
    assert "broker" in error["message"]
