"""Fetch: mission 004.6-004.9, 004.14; what readers see of transactions: X.6."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.batches import batch, produce
from tests.protocols.rustlog.conversation import Conversation, Door
from trivium.core.faults import Fault
from trivium.protocols.rustlog.fetch import READ_BYTES_MIN, READS_MAX
from trivium.records.batch import build_batch, check_batches, read_header, seal
from trivium.records.compression import Compression
from trivium.records.control import EndTxnMarker, build_end_txn
from trivium.records.record import Record


@pytest.fixture
def client() -> Conversation:
    return Door().connect()


def append(client: Conversation, data: bytes, topic: str = "t") -> None:
    """What another protocol has written, and what only a coordinator writes."""
    held = bytearray(data)
    client.world.log(topic).append(held, check_batches(held), 0)


def transactional(*values: bytes, producer_id: int = 7, sequence: int = 0) -> bytes:
    return batch(
        *values, producer_id=producer_id, producer_epoch=0, base_sequence=sequence, transactional=True
    )


def marker(committed: bool, producer_id: int = 7) -> bytes:
    return build_end_txn(EndTxnMarker(committed, 0), producer_id=producer_id, producer_epoch=0, timestamp=0)


# -- offsets -----------------------------------------------------------------------------------------


def test_fetch_from_within_a_batch_leaves_out_what_is_before(client: Conversation) -> None:
    client.produce(b"a", b"b", b"c")
    assert client.fetch(1) == ([(1, b"b"), (2, b"c")], 3)


def test_fetch_at_the_end_is_empty_and_names_the_end(client: Conversation) -> None:
    client.produce(b"a", b"b")
    assert client.fetch(2) == ([], 2)


@pytest.mark.parametrize("offset", [3, 1_000_000, 2**63 - 1, 2**63, 2**64 - 1])
def test_fetch_beyond_the_end_is_empty_and_names_the_end(client: Conversation, offset: int) -> None:
    client.produce(b"a", b"b")
    assert client.fetch(offset) == ([], 2)


def test_fetch_of_an_empty_partition_is_empty(client: Conversation) -> None:
    assert client.fetch(0) == ([], 0)


def test_fetch_before_the_start_is_out_of_range(client: Conversation) -> None:
    """004.9; records that retention has taken away."""
    client.produce(b"a", b"b", b"c")
    client.world.log("t").delete_before(2, lambda _fault: None)
    error = client.refused("Fetch", topic="t", partition=0, offset=1, max_bytes=100)
    assert error["message"] == "offset out of range"
    assert "the first is 2" in error["detail"]
    assert client.fetch(2) == ([(2, b"c")], 3)


@pytest.mark.parametrize("partition", [4, 2**32 - 1])
def test_fetch_of_what_is_not_there_says_so(client: Conversation, partition: int) -> None:
    error = client.refused("Fetch", topic="t", partition=partition, offset=0, max_bytes=1)
    assert error == {"message": f"partition not found: topic=t, partition={partition}"}


def test_fetch_on_a_disk_that_fails_is_an_error(client: Conversation) -> None:
    client.produce(b"a")
    client.world.log("t").fault = Fault.STORAGE
    assert "disk" in client.refused("Fetch", topic="t", partition=0, offset=0, max_bytes=1)["message"]


# -- groups ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("committed", "requested", "first"), [(2, 0, 2), (2, 2, 2), (1, 3, 3), (None, 0, 0), (0, 1, 1)]
)
def test_group_fetch_begins_at_the_higher_of_committed_and_requested(
    client: Conversation, committed: int | None, requested: int, first: int
) -> None:
    """004.7."""
    client.produce(b"a", b"b", b"c", b"d")
    if committed is not None:
        client.ask("OffsetCommit", topic="t", partition=0, group_id="g", offset=committed)
    records, next_offset = client.fetch(requested, group_id="g")
    assert records[0][0] == first
    assert next_offset == 4


def test_group_that_has_committed_beyond_the_end_gets_the_end(client: Conversation) -> None:
    client.produce(b"a")
    client.ask("OffsetCommit", topic="t", partition=0, group_id="g", offset=50)
    assert client.fetch(0, group_id="g") == ([], 1)


def test_fetch_of_a_group_commits_nothing(client: Conversation) -> None:
    """004.10: commits are manual."""
    client.produce(b"a")
    client.fetch(0, group_id="g")
    assert client.ask("OffsetFetch", topic="t", partition=0, group_id="g") == {"offset": None}


def test_group_fetch_of_an_unknown_topic_is_the_same_error(client: Conversation) -> None:
    error = client.refused("Fetch", topic="nope", partition=0, offset=0, max_bytes=1, group_id="g")
    assert error == {"message": "partition not found: topic=nope, partition=0"}


# -- sizes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("max_bytes", "count"), [(0, 1), (1, 1), (10, 1), (19, 1), (20, 2), (39, 3), (40, 4)]
)
def test_fetch_gives_one_record_at_least_and_as_much_as_asked_for(
    client: Conversation, max_bytes: int, count: int
) -> None:
    """004.8; over the borders of batches."""
    client.produce(bytes(10), bytes(10))
    client.produce(bytes(10), bytes(10))
    records, next_offset = client.fetch(0, max_bytes=max_bytes)
    assert len(records) == next_offset == count


def test_fetch_of_a_record_larger_than_asked_for_gives_it_alone(client: Conversation) -> None:
    client.produce(bytes(5000), b"small")
    assert client.fetch(0, max_bytes=100) == ([(0, bytes(5000))], 1)


@given(st.lists(st.lists(st.binary(max_size=30), min_size=1, max_size=5), max_size=6), st.integers(0, 80))
def test_everything_is_read_once_and_in_order_whatever_is_asked_for_at_a_time(
    writes: list[list[bytes]], max_bytes: int
) -> None:
    client = Door().connect()
    for payloads in writes:
        client.produce(*payloads)
    written = [payload for payloads in writes for payload in payloads]
    read: list[tuple[int, bytes]] = []
    offset = 0
    while True:
        records, offset = client.fetch(offset, max_bytes=max_bytes)
        if not records:
            break
        read += records
    assert read == list(enumerate(written))


def test_answer_in_json_fits_into_a_frame(client: Conversation) -> None:
    """004.2: the sender of an answer keeps to the limit as well; the rest is asked for next."""
    payload = b"\xff" * 500_000
    for _ in range(6):
        append(client, batch(payload))
    client.send("Fetch", topic="t", partition=0, offset=0, max_bytes=2**40)
    (body,) = client.bodies()
    assert len(body) <= 10_485_760
    assert body.count(b"payload") == 5


def test_record_that_fits_into_no_frame_is_an_error_that_says_what_to_do(client: Conversation) -> None:
    append(client, batch(b"\xff" * 3_000_000))
    error = client.refused("Fetch", topic="t", partition=0, offset=0, max_bytes=1)
    assert error["message"] == "max frame size exceeded"
    assert "another dialect" in error["detail"]
    fetched = client.ask_packed("Fetch", topic="t", partition=0, offset=0, max_bytes=1)
    assert fetched["records"] == [{"offset": 0, "payload": b"\xff" * 3_000_000}]


# -- what other protocols write ----------------------------------------------------------------------


def test_key_headers_and_compression_of_a_kafka_record_do_not_matter(client: Conversation) -> None:
    records = [Record(0, 5, b"key", b"value", (("h", b"x"),)), Record(0, 5, None, None)]
    produce(client.world, build_batch(records, compression=Compression.ZSTD))
    assert client.fetch(0) == ([(0, b"value"), (1, b"")], 2)


def test_records_of_aborted_transactions_and_markers_are_never_seen(client: Conversation) -> None:
    """X.6: offsets have gaps there."""
    client.produce(b"before")
    append(client, transactional(b"bad", b"bad"))
    append(client, marker(committed=False))
    append(client, transactional(b"good", sequence=2))
    append(client, marker(committed=True))
    client.produce(b"after")
    assert client.fetch(0) == ([(0, b"before"), (4, b"good"), (6, b"after")], 7)


def test_open_transaction_ends_what_is_seen_and_nothing_of_it_is_lost(client: Conversation) -> None:
    """X.6: the end that is named is where reading goes on, not where writing has got to."""
    client.produce(b"before")
    append(client, transactional(b"open"))
    client.produce(b"after")
    assert client.fetch(0) == ([(0, b"before")], 1)
    assert client.fetch(1) == ([], 1)
    assert client.fetch(2) == ([], 1)
    append(client, marker(committed=True))
    assert client.fetch(1) == ([(1, b"open"), (2, b"after")], 3)
    assert client.fetch(3) == ([], 4)


def test_fetch_into_a_stretch_of_nothing_finds_the_next_record(client: Conversation) -> None:
    """004.8: at least one record if there is any, however far away."""
    for number in range(3):
        append(client, transactional(bytes(READ_BYTES_MIN), sequence=number))
    append(client, marker(committed=False))
    client.produce(b"found")
    reads = client.world.log("t").reads
    assert client.fetch(0, max_bytes=1) == ([(4, b"found")], 5)
    assert client.world.log("t").reads - reads > 1


def test_endless_stretch_of_nothing_is_answered_with_how_far_it_was_read(client: Conversation) -> None:
    for number in range(READS_MAX + 3):
        append(client, transactional(bytes(READ_BYTES_MIN), sequence=number))
    append(client, marker(committed=False))
    client.produce(b"found")
    assert client.fetch(0, max_bytes=1) == ([], READS_MAX)
    assert client.fetch(READS_MAX, max_bytes=1)[0] == [(READS_MAX + 4, b"found")]


def test_batch_with_a_broken_inside_is_an_error_and_not_the_end_of_the_connection(
    client: Conversation,
) -> None:
    """A checksum says that it arrived as it was sent, not that it made sense."""
    sound = batch(b"a", b"b")
    broken = seal(read_header(sound), b"\x7f" * (len(sound) - 61), Compression.NONE)
    client.produce(b"good")
    append(client, broken)
    assert client.fetch(0) == ([(0, b"good")], 1)
    error = client.refused("Fetch", topic="t", partition=0, offset=1, max_bytes=100)
    assert "offset 1 on cannot be read" in error["message"]
    assert client.fetch(0)[0]
