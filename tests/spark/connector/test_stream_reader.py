"""A stream from a broker, asked as Spark asks before each micro-batch."""

from threading import Thread

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows, ReadMinRows

from tests.client.live import eventually, make_topic
from tests.spark.connector.reads import broker_options, grow, stream, values, write
from trivium.client.admin_topics import delete_topics
from trivium.client.cluster import Cluster
from trivium.client.group_offsets import committed_offsets
from trivium.client.offsets import delete_records
from trivium.client.topology import TopicPartition
from trivium.spark.connector import stream_reader
from trivium.spark.connector.broker_origin import BrokerOrigin
from trivium.spark.connector.errors import DataLost
from trivium.testing import Broker

ALL = ReadAllAvailable()


def test_stream_begins_at_the_end_unless_it_is_told_otherwise(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    write(cluster, topic, *"abc")
    options = broker_options(bootstrap, topic)
    assert stream(options).initialOffset() == {topic: {"0": 3, "1": 0}}
    assert stream({**options, "startingOffsets": "earliest"}).initialOffset() == {topic: {"0": 0, "1": 0}}


def test_each_batch_has_what_was_written_since_the_last(bootstrap: str, cluster: Cluster, topic: str) -> None:
    reader = stream(broker_options(bootstrap, topic))
    start = reader.initialOffset()
    write(cluster, topic, *"ab")
    write(cluster, topic, "c", partition=1)
    end = reader.latestOffset(start, ALL)
    assert values(reader, reader.partitions(start, end)) == [b"a", b"b", b"c"]
    write(cluster, topic, "d")
    assert values(reader, reader.partitions(end, reader.latestOffset(end, ALL))) == [b"d"]


def test_batch_planned_again_has_the_same_ranges_whatever_came_since(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    """R19: after a crash Spark repeats a batch by its offsets."""
    reader = stream(broker_options(bootstrap, topic))
    start = reader.initialOffset()
    write(cluster, topic, "a")
    end = reader.latestOffset(start, ALL)
    write(cluster, topic, "b")
    assert values(reader, reader.partitions(start, end)) == [b"a"]


def test_nothing_new_is_the_same_offset(bootstrap: str, topic: str) -> None:
    """Then Spark makes no micro-batch."""
    reader = stream(broker_options(bootstrap, topic))
    start = reader.initialOffset()
    assert reader.latestOffset(start, ALL) == start


def test_query_that_only_asks_hears_of_a_record_when_it_comes(
    bootstrap: str, cluster: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second question in a row waits, here for as long as it takes; the first never does."""
    monkeypatch.setattr(stream_reader, "WAIT_MS", 120_000)
    monkeypatch.setattr(stream_reader, "ASKED_SOON_S", 120)
    reader = stream(broker_options(bootstrap, topic))
    start = reader.initialOffset()
    writing = Thread(target=write, args=(cluster, topic, "a"))
    real = BrokerOrigin.await_more

    def await_more(origin: BrokerOrigin, ends: dict[TopicPartition, int], wait_ms: int) -> bool:
        writing.start()
        return real(origin, ends, wait_ms)

    monkeypatch.setattr(BrokerOrigin, "await_more", await_more)
    assert reader.latestOffset(start, ALL) == start
    end = reader.latestOffset(start, ALL)
    writing.join()
    assert end == {topic: {"0": 1, "1": 0}}
    assert reader.latestOffset(end, ALL) == end, "the first question after a record is answered at once"


def test_query_that_only_asks_does_not_wait_for_ever(
    bootstrap: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_reader, "WAIT_MS", 1)
    monkeypatch.setattr(stream_reader, "ASKED_SOON_S", 120)
    reader = stream(broker_options(bootstrap, topic))
    start = reader.initialOffset()
    assert [reader.latestOffset(start, ALL) for _ in range(3)] == [start] * 3


def test_limit_is_kept_and_moves_on_until_all_is_read(bootstrap: str, cluster: Cluster, topic: str) -> None:
    write(cluster, topic, *"abcde")
    reader = stream(broker_options(bootstrap, topic, startingOffsets="earliest", maxOffsetsPerTrigger=2))
    limit = reader.getDefaultReadLimit()
    assert limit == ReadMaxRows(2)
    at, found = reader.initialOffset(), []
    while (end := reader.latestOffset(at, limit)) != at:
        found.append(values(reader, reader.partitions(at, end)))
        at = end
    assert found == [[b"a", b"b"], [b"c", b"d"], [b"e"]]
    assert reader.latestOffset(reader.initialOffset(), ALL) == at, "a single run takes everything at once"


def test_available_now_ends_where_the_topic_ended_when_it_began(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    write(cluster, topic, *"abc")
    reader = stream(broker_options(bootstrap, topic, startingOffsets="earliest", maxOffsetsPerTrigger=2))
    reader.prepareForTriggerAvailableNow()
    start = reader.initialOffset()
    write(cluster, topic, *"de")
    first = reader.latestOffset(start, ReadMaxRows(2))
    second = reader.latestOffset(first, ReadMaxRows(2))
    assert second == {topic: {"0": 3, "1": 0}}
    assert reader.latestOffset(second, ReadMaxRows(2)) == second
    assert reader.reportLatestOffset() == {topic: {"0": 5, "1": 0}}


def test_available_now_that_is_already_past_its_end_reads_nothing(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    """A run that is started again after another has read further."""
    reader = stream(broker_options(bootstrap, topic))
    reader.prepareForTriggerAvailableNow()
    write(cluster, topic, *"ab")
    further = {topic: {"0": 2, "1": 0}}
    assert reader.latestOffset(further, ALL) == further


def test_too_few_offsets_wait_for_more_but_not_longer_than_the_delay(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    write(cluster, topic, *"ab")
    options = broker_options(bootstrap, topic, startingOffsets="earliest", minOffsetsPerTrigger=3)
    reader = stream(options)
    limit = reader.getDefaultReadLimit()
    assert limit == ReadMinRows(3)
    start = reader.initialOffset()
    assert reader.latestOffset(start, limit) == start
    impatient = stream({**options, "maxTriggerDelay": "0s"})
    assert impatient.latestOffset(start, limit) == {topic: {"0": 2, "1": 0}}
    write(cluster, topic, "c", partition=1)
    assert reader.latestOffset(start, limit) == {topic: {"0": 2, "1": 1}}


def test_available_now_does_not_wait_for_more(bootstrap: str, cluster: Cluster, topic: str) -> None:
    write(cluster, topic, "a")
    reader = stream(broker_options(bootstrap, topic, startingOffsets="earliest", minOffsetsPerTrigger=9))
    reader.prepareForTriggerAvailableNow()
    assert reader.latestOffset(reader.initialOffset(), ReadMinRows(9)) == {topic: {"0": 1, "1": 0}}


def test_new_partition_is_read_from_its_beginning(bootstrap: str, cluster: Cluster, name: str) -> None:
    topic = make_topic(cluster, name, 1)
    reader = stream(broker_options(bootstrap, topic))
    start = reader.initialOffset()
    grow(cluster, topic, 2)
    write(cluster, topic, "new", partition=1)
    end = reader.latestOffset(start, ALL)
    assert end == {topic: {"0": 0, "1": 1}}
    assert values(reader, reader.partitions(start, end)) == [b"new"]


def test_progress_is_shown_as_the_offsets_of_a_group(bootstrap: str, cluster: Cluster, topic: str) -> None:
    """What lies before ``start`` has been processed; Kafka's tools see it, and the lag."""
    write(cluster, topic, *"abc")
    reader = stream(
        broker_options(bootstrap, topic, startingOffsets="earliest", **{"kafka.group.id": f"q-{topic}"})
    )
    start = reader.initialOffset()
    reader.latestOffset(start, ReadMaxRows(2))
    key = TopicPartition(topic, 0)
    assert committed_offsets(cluster, f"q-{topic}")[key].offset == 0
    reader.latestOffset({topic: {"0": 2, "1": 0}}, ReadMaxRows(2))
    assert committed_offsets(cluster, f"q-{topic}")[key].offset == 2


def test_topic_made_anew_is_named_or_read_from_its_beginning(
    bootstrap: str, cluster: Cluster, name: str
) -> None:
    topic = make_topic(cluster, name, 1)
    write(cluster, topic, *"abc")
    strict, lenient = (
        stream(broker_options(bootstrap, topic, failOnDataLoss=fails)) for fails in (True, False)
    )
    start = strict.initialOffset()
    delete_topics(cluster, [topic])
    eventually(lambda: topic in cluster.topics(), False)
    cluster.forget_leaders([topic])
    make_topic(cluster, name, 1)
    with pytest.raises(DataLost, match=f"Topic {topic} was deleted and made anew .* a new checkpoint"):
        strict.latestOffset(start, ALL)
    restarted = stream(broker_options(bootstrap, topic))
    with pytest.raises(DataLost, match=f"{topic}, partition 0 ends at offset 0, but was read up to 3 before"):
        restarted.latestOffset(start, ALL)
    back = lenient.latestOffset(start, ALL)
    assert back == {topic: {"0": 0}}
    write(cluster, topic, "new")
    assert values(lenient, lenient.partitions(back, lenient.latestOffset(back, ALL))) == [b"new"]


def test_topic_made_anew_is_named_also_if_it_has_grown_beyond_the_old_one(
    bootstrap: str, cluster: Cluster, name: str
) -> None:
    """Its first records would be taken for those that were read: lost, and nobody told."""
    topic = make_topic(cluster, name, 1)
    write(cluster, topic, *"abc")
    reader = stream(broker_options(bootstrap, topic))
    start = reader.latestOffset(reader.initialOffset(), ALL)
    delete_topics(cluster, [topic])
    eventually(lambda: topic in cluster.topics(), False)
    cluster.forget_leaders([topic])
    make_topic(cluster, name, 1)
    write(cluster, topic, *"defgh")
    with pytest.raises(DataLost, match=f"Topic {topic} was deleted and made anew while it was read"):
        reader.latestOffset(start, ALL)


@pytest.mark.parametrize("count", [1, 3, 5])
@pytest.mark.parametrize("is_available_now", [False, True])
def test_topic_made_anew_is_read_from_its_beginning_without_fail_on_data_loss(
    bootstrap: str, cluster: Cluster, name: str, count: int, is_available_now: bool
) -> None:
    topic = make_topic(cluster, name, 1)
    write(cluster, topic, *"abc")
    options = broker_options(bootstrap, topic, failOnDataLoss=False, minOffsetsPerTrigger=100)
    reader = stream(options)
    start = {topic: {"0": 3}}
    assert reader.latestOffset(start, ReadMinRows(100)) == start
    delete_topics(cluster, [topic])
    eventually(lambda: topic in cluster.topics(), False)
    cluster.forget_leaders([topic])
    make_topic(cluster, name, 1)
    write(cluster, topic, *"defgh"[:count])
    if is_available_now:
        reader.prepareForTriggerAvailableNow()
    back = reader.latestOffset(start, ReadMinRows(100))
    assert (back, reader.partitions(start, back)) == ({topic: {"0": 0}}, [])
    end = reader.latestOffset(back, ALL)
    assert values(reader, reader.partitions(back, end)) == [letter.encode() for letter in "defgh"[:count]]
    assert reader.latestOffset(end, ALL) == end


def test_topic_of_a_pattern_that_is_gone_is_named(bootstrap: str, cluster: Cluster, name: str) -> None:
    topic = make_topic(cluster, name, 1)
    reader = stream({"kafka.bootstrap.servers": bootstrap, "subscribePattern": name})
    start = reader.initialOffset()
    delete_topics(cluster, [topic])
    eventually(lambda: topic in cluster.topics(), False)
    with pytest.raises(DataLost, match=f"Topic {topic}, partition 0 is gone, read up to 0."):
        reader.latestOffset(start, ALL)


def test_records_removed_before_a_batch_are_named(bootstrap: str, cluster: Cluster, topic: str) -> None:
    write(cluster, topic, *"abc")
    reader = stream(broker_options(bootstrap, topic, startingOffsets="earliest"))
    start = reader.initialOffset()
    end = reader.latestOffset(start, ALL)
    delete_records(cluster, {TopicPartition(topic, 0): 2})
    with pytest.raises(DataLost, match=f"Topic {topic}, partition 0: the records from offset 0 to 1 were"):
        values(reader, reader.partitions(start, end))


def test_broker_that_is_away_is_nothing_new_until_it_is_back() -> None:
    with Broker() as broker:
        broker.create_topic("t", 1)
        options = broker_options(
            broker.bootstrap, "t", **{"kafka.request.timeout.ms": 200, "startingOffsets": "earliest"}
        )
        reader = stream(options)
        start = reader.initialOffset()
        broker.stop()
        assert reader.latestOffset(start, ALL) == start
        broker.start()
        broker.produce("t", ["a"])
        end = reader.latestOffset(start, ALL)
        assert values(reader, reader.partitions(start, end)) == [b"a"]
