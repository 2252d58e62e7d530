"""Where coordinators keep their state."""

import pytest

from tests.core.fakes import World
from trivium.core.faults import Fault, Refused
from trivium.core.internal_topic import InternalTopic, Stored, TransactionEnd, java_hash
from trivium.records.batch import iter_batches
from trivium.records.compression import Compression
from trivium.records.control import EndTxnMarker, build_end_txn


def topic_of(world: World, compression: Compression = Compression.NONE) -> InternalTopic:
    topic = InternalTopic(
        world.cluster,
        "__state",
        world.topics.new_topic_records,
        lambda: 3,
        {"cleanup.policy": "compact", "max.message.bytes": "1000"},
        compression,
    )
    topic.ensure()
    return topic


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("hello", 99162322),
        ("\U0001f600", 1772899),
        ("polygenelubricants", 0),
    ],
)
def test_hash_is_that_of_java(text: str, expected: int) -> None:
    assert java_hash(text) == expected


@pytest.mark.parametrize(("key", "partition"), [("g-static", 0), ("g-classic", 1), ("g-txn", 2)])
def test_key_lies_where_kafka_puts_it(key: str, partition: int) -> None:
    """R11: these groups were found so in a log that Kafka wrote."""
    assert topic_of(World()).partition_of(key) == partition


@pytest.mark.parametrize("compression", list(Compression))
def test_records_come_back_in_order(compression: Compression) -> None:
    topic = topic_of(World(), compression)
    done: list[Fault | None] = []
    topic.append(1, [(b"a", b"1"), (b"b", b"2"), (b"a", None)], done.append)
    assert done == [None]
    assert list(topic.replay(1)) == [
        Stored(0, -1, b"a", b"1"),
        Stored(1, -1, b"b", b"2"),
        Stored(2, -1, b"a", None),
    ]
    assert list(topic.replay(0)) == []


def test_more_than_a_batch_may_hold_is_split() -> None:
    world = World()
    topic = topic_of(world)
    records: list[tuple[bytes, bytes | None]] = [(b"%d" % number, bytes(300)) for number in range(10)]
    topic.append(0, records, lambda _fault: None)
    log = world.log("__state", 0)
    runs = log.read(0, 1 << 20, committed=False).runs
    sizes = [header.size_bytes for run in runs for _at, header in iter_batches(run)]
    assert len(sizes) == 5
    assert max(sizes) <= 1000
    assert [(entry.key, entry.value) for entry in topic.replay(0) if isinstance(entry, Stored)] == records


def test_record_that_is_too_large_is_refused_and_nothing_written() -> None:
    world = World()
    topic = topic_of(world)
    with pytest.raises(Refused) as refused:
        topic.append(0, [(b"a", b"1"), (b"b", bytes(1000))], lambda _fault: None)
    assert refused.value.fault is Fault.RECORD_LIST_TOO_LARGE
    assert world.log("__state", 0).log_end_offset == 0


def test_end_of_a_transaction_is_replayed_in_its_place() -> None:
    world = World()
    topic = topic_of(world)
    marker = bytearray(build_end_txn(EndTxnMarker(True, 0), producer_id=9, producer_epoch=0, timestamp=1))
    world.log("__state", 2).append(marker, list(iter_batches(marker)), 0)
    assert list(topic.replay(2)) == [TransactionEnd(9, True)]


def test_write_waits_for_no_sync_where_durability_is_the_page_cache() -> None:
    world = World()
    topic = topic_of(world)
    live = world.cluster.partition("__state", 0)
    live.rules = live.rules._replace(durable=False)
    world.storage.holds_syncs = True
    done: list[Fault | None] = []
    topic.append(0, [(b"a", b"1")], done.append)
    assert done == [None]
