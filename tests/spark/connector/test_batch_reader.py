"""A batch from a broker: the rows, their bounds, and what happens to those who come too late.

Runs on a real Kafka, too, when ``TRIVIUM_TEST_BROKER`` names one (tests/interop).
"""

import pyarrow as pa
import pytest
from confluent_kafka import Producer as ConfluentProducer
from pyspark.sql.datasource import InputPartition

from tests.client.live import eventually, make_topic
from tests.spark.connector.reads import batch, broker_options, grow, rows, values, write, write_many
from trivium.client.cluster import Cluster
from trivium.client.errors import Refused, Unreachable
from trivium.client.offsets import delete_records
from trivium.client.producer import Producer
from trivium.client.topology import TopicPartition
from trivium.records.arrow import SCHEMA
from trivium.spark.connector.errors import BadOption, DataLost
from trivium.spark.connector.ranges import OffsetRange
from trivium.testing import Broker

DAY_MS = 86_400_000
NOON_MS = 20_000 * DAY_MS + DAY_MS // 2


def test_row_has_the_columns_of_a_record(bootstrap: str, cluster: Cluster, topic: str) -> None:
    with Producer(cluster) as producer:
        producer.send(
            topic, b"v", key=b"k", headers=[("h", b"1"), ("h", None)], timestamp_ms=NOON_MS, partition=1
        )
        producer.send(topic, None, timestamp_ms=NOON_MS, partition=1)
    names = SCHEMA.names
    first, second = rows(batch(broker_options(bootstrap, topic), *names))
    assert first["timestamp"].timestamp() * 1000 == NOON_MS
    del first["timestamp"], second["timestamp"]
    common = {"topic": topic, "partition": 1, "timestampType": 0}
    headers = [{"key": "h", "value": b"1"}, {"key": "h", "value": None}]
    assert first == {"key": b"k", "value": b"v", "offset": 0, "headers": headers, **common}
    assert second == {"key": None, "value": None, "offset": 1, "headers": None, **common}


def test_batches_of_rows_have_the_schema_that_was_asked_for(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    write(cluster, topic, "a")
    reader = batch(broker_options(bootstrap, topic), "value", "offset")
    (partition,) = reader.partitions()
    (part,) = reader.read(partition)
    assert part.schema == pa.schema([SCHEMA.field("value"), SCHEMA.field("offset")])


def test_many_fetches_give_every_record_once_and_in_order(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    """Each fetch is cut at a size, often within a batch."""
    written = write_many(cluster, topic, 3000)
    small = broker_options(bootstrap, topic, **{"kafka.max.partition.fetch.bytes": 4000})
    assert values(batch(small)) == written


def test_parts_of_a_partition_meet_at_offsets_within_a_batch(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    written = write_many(cluster, topic, 100)
    reader = batch(broker_options(bootstrap, topic, minPartitions=7))
    assert len(reader.partitions()) == 7
    assert values(reader) == written


def test_topic_without_records_gives_no_rows_also_for_the_empty_partition_that_spark_plans(
    bootstrap: str, topic: str
) -> None:
    reader = batch(broker_options(bootstrap, topic))
    assert reader.partitions() == []
    assert list(reader.read(InputPartition(None))) == []


def test_pattern_finds_whole_names_and_nothing_internal(bootstrap: str, cluster: Cluster, name: str) -> None:
    for suffix in ("-a", "-b", "-a-more"):
        write(cluster, make_topic(cluster, name + suffix, 1), suffix)
    options: dict[str, object] = {"kafka.bootstrap.servers": bootstrap, "subscribePattern": f"{name}-(a|b)"}
    assert values(batch(options)) == [b"-a", b"-b"]
    assert values(batch({**options, "subscribePattern": "__.*"})) == []


def test_assigned_partitions_are_read_and_no_others(bootstrap: str, cluster: Cluster, topic: str) -> None:
    write(cluster, topic, "zero", partition=0)
    write(cluster, topic, "one", partition=1)
    options: dict[str, object] = {"kafka.bootstrap.servers": bootstrap, "assign": f'{{"{topic}": [1]}}'}
    assert values(batch(options)) == [b"one"]
    with pytest.raises(BadOption, match=f"assign names partition 2 of topic {topic}, which has 2 partitions"):
        batch({**options, "assign": f'{{"{topic}": [2]}}'}).partitions()


def test_offsets_bound_a_read_at_both_ends(bootstrap: str, cluster: Cluster, topic: str) -> None:
    write(cluster, topic, *"abcdef")
    bounded = broker_options(
        bootstrap,
        topic,
        startingOffsets=f'{{"{topic}": {{"0": 2, "1": -2}}}}',
        endingOffsets=f'{{"{topic}": {{"0": 4, "1": -1}}}}',
    )
    assert values(batch(bounded)) == [b"c", b"d"]


def test_times_bound_a_read_and_what_is_too_young_is_left_out(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    for hour, text in enumerate("abc"):
        write(cluster, topic, text, timestamp_ms=NOON_MS + hour)
        write(cluster, topic, text.upper(), timestamp_ms=NOON_MS + hour, partition=1)
    by_time = broker_options(bootstrap, topic, startingTimestamp=NOON_MS + 1, endingTimestamp=NOON_MS + 2)
    assert values(batch(by_time)) == [b"b", b"B"]
    single = f'{{"{topic}": {{"0": {NOON_MS + 2}, "1": {NOON_MS}}}}}'
    assert values(batch(broker_options(bootstrap, topic, startingOffsetsByTimestamp=single))) == [
        b"c",
        *(b"A", b"B", b"C"),
    ]


def test_starting_time_after_the_last_record_is_an_error_or_the_end(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    write(cluster, topic, "a", timestamp_ms=NOON_MS)
    late = broker_options(bootstrap, topic, startingTimestamp=NOON_MS + 1)
    with pytest.raises(
        BadOption, match=f"Topic {topic}, partition 0 has no record at or after {NOON_MS + 1}"
    ):
        batch(late).partitions()
    assert values(batch({**late, "startingOffsetsByTimestampStrategy": "latest"})) == []


@pytest.mark.parametrize(
    ("offsets", "sentence"),
    [
        ('{"TOPIC": {"0": 1}}', "startingOffsets says nothing for partition TOPIC-1; name every partition"),
        ('{"TOPIC": {"0": 1, "1": 1, "2": 0}}', "startingOffsets names TOPIC-2, which is not read"),
    ],
)
def test_offsets_that_do_not_fit_the_topic_are_refused(
    bootstrap: str, topic: str, offsets: str, sentence: str
) -> None:
    reader = batch(broker_options(bootstrap, topic, startingOffsets=offsets.replace("TOPIC", topic)))
    with pytest.raises(BadOption) as refused:
        reader.partitions()
    assert sentence.replace("TOPIC", topic) in str(refused.value)


def test_ending_offset_behind_the_end_is_refused_with_the_end(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    write(cluster, topic, "a")
    ends = f'{{"{topic}": {{"0": 5, "1": 0}}}}'
    reader = batch(broker_options(bootstrap, topic, endingOffsets=ends))
    with pytest.raises(BadOption, match=f"{topic}, partition 0 up to offset 5, but it ends at 1"):
        reader.partitions()


def test_offsets_removed_before_planning_are_named_or_skipped(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    key = TopicPartition(topic, 0)
    write(cluster, topic, *"abc")
    delete_records(cluster, {key: 2})
    options = broker_options(bootstrap, topic, startingOffsets=f'{{"{topic}": {{"0": 1, "1": 0}}}}')
    with pytest.raises(DataLost, match=f"Topic {topic}, partition 0: the records from offset 1 to 1 were"):
        batch(options).partitions()
    assert values(batch({**options, "failOnDataLoss": False})) == [b"c"]


def test_offsets_removed_after_planning_are_named_or_skipped(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    """Retention overtakes a reader: the rows between are never silently missing."""
    key = TopicPartition(topic, 0)
    write(cluster, topic, *"abcde")
    strict, lenient = (
        batch(broker_options(bootstrap, topic, failOnDataLoss=fails)) for fails in (True, False)
    )
    planned = strict.partitions()
    delete_records(cluster, {key: 3})
    with pytest.raises(DataLost) as lost:
        rows(strict, planned)
    assert "from offset 0 to 2 were removed before they were read; it begins at 3 now." in str(lost.value)
    assert values(lenient, planned) == [b"d", b"e"]


def test_range_of_a_topic_that_was_made_anew_is_named(bootstrap: str, cluster: Cluster, topic: str) -> None:
    write(cluster, topic, "a")
    reader = batch(broker_options(bootstrap, topic))
    with pytest.raises(DataLost, match=f"{topic}, partition 0 ends at offset 1, but was read up to 7 before"):
        rows(reader, [OffsetRange(topic, 0, 7, 9)])


def test_aborted_and_open_transactions_are_seen_only_by_who_reads_uncommitted(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    """Control records are never rows, and the gaps that they leave are no loss (mission 003.33)."""
    producer = ConfluentProducer({"bootstrap.servers": bootstrap, "transactional.id": topic})
    producer.init_transactions()
    for number, end in enumerate((producer.commit_transaction, producer.abort_transaction, None)):
        producer.begin_transaction()
        producer.produce(topic, b"%d" % number, partition=0)
        producer.flush()
        if end is not None:
            end()
    committed = broker_options(bootstrap, topic, **{"kafka.isolation.level": "read_committed"})
    assert values(batch(committed)) == [b"0"]
    assert values(batch(broker_options(bootstrap, topic))) == [b"0", b"1", b"2"]
    producer.abort_transaction()


def test_gaps_that_compaction_leaves_are_no_loss() -> None:
    """From the beginning, from within a gap, and where a part of the range has no record at all."""
    settings = {
        "log.initial.task.delay.ms": "0",
        "log.flush.offset.checkpoint.interval.ms": "50",
        "log.retention.check.interval.ms": "50",
        "log.cleaner.backoff.ms": "50",
    }
    policy = {"cleanup.policy": "compact", "segment.ms": "1", "min.cleanable.dirty.ratio": "0"}
    with Broker(settings=settings) as broker:
        broker.create_topic("state", 1, policy)
        for number in range(8):
            key = "once" if number == 3 else "again"
            broker.produce("state", [(key, str(number))], timestamp_ms=NOON_MS + 10 * number)
        eventually(lambda: [record.offset for record in broker.records("state")], [3, 7])
        for more in ({}, {"startingOffsets": '{"state": {"0": 1}}'}, {"minPartitions": 8}):
            found = rows(batch(broker_options(broker.bootstrap, "state", **more), "offset", "value"))
            assert [(row["offset"], row["value"]) for row in found] == [(3, b"3"), (7, b"7")]


def test_reader_that_stops_half_way_leaves_nothing_for_the_next(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    """``limit`` takes a few rows; the fetch that is under way then must not be taken for the next answer."""
    written = write_many(cluster, topic, 2000)
    reader = batch(broker_options(bootstrap, topic, **{"kafka.max.partition.fetch.bytes": 4000}))
    (partition,) = reader.partitions()
    some = iter(reader.read(partition))
    next(some)
    some.close()  # type: ignore[attr-defined]
    assert values(reader, [partition]) == written


def test_partition_that_is_younger_than_the_workers_connection_is_read(
    bootstrap: str, cluster: Cluster, name: str
) -> None:
    """Workers keep what they know of a topic; the driver looks before each plan."""
    topic = make_topic(cluster, name, 1)
    write(cluster, topic, "old")
    reader = batch(broker_options(bootstrap, topic))
    assert values(reader, [OffsetRange(topic, 0, 0, 1)]) == [b"old"]
    grow(cluster, topic, 2)
    write(cluster, topic, "new", partition=1)
    assert values(reader, [OffsetRange(topic, 1, 0, 1)]) == [b"new"]


def test_unknown_topic_is_a_sentence(bootstrap: str, name: str) -> None:
    with pytest.raises(Refused, match=f"There is no topic {name}"):
        batch(broker_options(bootstrap, name)).partitions()


def test_broker_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(Unreachable, match="Nothing listens at 127"):
        batch(broker_options("127.0.0.1:1", "t")).partitions()


def test_broker_that_restarts_while_it_is_read_costs_no_row(cluster: Cluster) -> None:
    with Broker() as broker:
        broker.create_topic("t", 1)
        with Cluster.connect(broker.bootstrap) as own:
            written = write_many(own, "t", 2000)
        reader = batch(broker_options(broker.bootstrap, "t", **{"kafka.max.partition.fetch.bytes": 4000}))
        (partition,) = reader.partitions()
        parts = iter(reader.read(partition))
        found = next(parts).column("value").to_pylist()
        broker.restart()
        for part in parts:
            found += part.column("value").to_pylist()
    assert found == written
