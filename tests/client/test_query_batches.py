"""Transactions of our own client, alone and together as batches of a query (003.33, R14, R19; ADR 11)."""

import os
import pickle
from contextlib import suppress
from pathlib import Path

import pytest

from tests.client.live import make_topic
from tests.client.scripted import Accident, ScriptedBroker
from trivium.client.cluster import Cluster
from trivium.client.errors import ProducerClosed, Refused, Unsupported
from trivium.client.fetching import FetchSettings
from trivium.client.offsets import LATEST, Isolation, list_offsets
from trivium.client.query_batches import (
    CommittedBatch,
    abort_leftovers,
    abort_prepared,
    commit_batch,
    last_batch,
    offers_batches,
    transactional_id,
)
from trivium.client.reader import Reader
from trivium.client.topology import TopicPartition
from trivium.client.transactional_producer import Prepared, TransactionalProducer
from trivium.messages.api.produce import ProduceRequest
from trivium.messages.errors import ErrorCode
from trivium.messages.version_range import VersionRange
from trivium.records.batch import build_batch
from trivium.records.compression import Compression
from trivium.records.record import Record
from trivium.testing import Broker

PARTITIONS = 2


@pytest.fixture(autouse=True)
def only_where_batches_are_offered(cluster: Cluster) -> None:
    """The tests of the client are run on Kafka's own broker, too, which has no such thing. Ours has it."""
    if "TRIVIUM_TEST_BROKER" in os.environ and not offers_batches(cluster):
        pytest.skip("this broker has no batches of a query")


def committed(cluster: Cluster, topic: str) -> list[bytes | None]:
    """Values that a reader of committed records sees up to where it may read now, in order of partitions."""
    found: list[bytes | None] = []
    for partition in range(PARTITIONS):
        key = TopicPartition(topic, partition)
        asked = list_offsets(cluster, {key: LATEST}, isolation=Isolation.READ_COMMITTED)[key]
        assert not isinstance(asked, Refused)
        with Reader(cluster, {key: 0}, settings=FetchSettings(isolation=Isolation.READ_COMMITTED)) as reader:
            while reader.positions[key] < asked.offset:
                found += [record.value for chunk in reader.poll(5) for record in chunk.records]
    return found


def prepare(cluster: Cluster, topic: str, query_id: str, part: int, *values: bytes) -> Prepared:
    """What a task does: write its part of a batch, and leave the decision to others."""
    with TransactionalProducer(cluster, transactional_id(query_id, part)) as producer:
        for value in values:
            producer.send(topic, value, partition=part)
        return producer.prepare()


# -- one transaction -------------------------------------------------------------------------------


def test_transaction_is_seen_when_it_is_committed(cluster: Cluster, topic: str) -> None:
    with TransactionalProducer(cluster, topic) as producer:
        producer.send(topic, b"a", partition=0)
        producer.send(topic, b"b", partition=1)
        producer.flush()
        assert committed(cluster, topic) == []
        producer.commit()
    assert committed(cluster, topic) == [b"a", b"b"]


def test_transaction_that_is_left_alone_is_aborted(cluster: Cluster, topic: str) -> None:
    with TransactionalProducer(cluster, topic) as producer:
        producer.send(topic, b"a", partition=0)
        producer.flush()
    with suppress(ZeroDivisionError), TransactionalProducer(cluster, topic) as producer:
        producer.send(topic, b"b", partition=0)
        producer.flush()
        raise ZeroDivisionError
    with TransactionalProducer(cluster, topic) as producer:
        producer.send(topic, b"c", partition=0)
        producer.commit()
    assert committed(cluster, topic) == [b"c"]


def test_transaction_without_records_is_committed_or_aborted_without_a_word(
    cluster: Cluster, topic: str
) -> None:
    with TransactionalProducer(cluster, topic) as producer:
        producer.commit()
    with TransactionalProducer(cluster, topic) as producer:
        producer.abort()


def test_producer_whose_transaction_is_ended_takes_nothing_more(cluster: Cluster, topic: str) -> None:
    with TransactionalProducer(cluster, topic) as producer:
        producer.commit()
        with pytest.raises(ProducerClosed):
            producer.send(topic, b"late")
        with pytest.raises(ProducerClosed):
            producer.prepare()


def test_producer_is_fenced_by_the_next_one_of_its_transactional_id(cluster: Cluster, topic: str) -> None:
    with TransactionalProducer(cluster, topic) as first:
        first.send(topic, b"a", partition=0)
        first.flush()
        with TransactionalProducer(cluster, topic) as second:
            second.send(topic, b"b", partition=0)
            second.commit()
        first.send(topic, b"c", partition=0)
        with pytest.raises(Refused) as refusal:
            first.flush()
        assert refusal.value.code is ErrorCode.INVALID_PRODUCER_EPOCH
    assert committed(cluster, topic) == [b"b"]


@pytest.mark.parametrize("compression", [Compression.NONE, Compression.LZ4])
def test_batch_that_is_bytes_already_becomes_a_part_of_the_transaction(
    cluster: Cluster, topic: str, compression: Compression
) -> None:
    """What Spark's rows are encoded to, before it is known who sends them."""
    with TransactionalProducer(cluster, topic) as producer:
        for number in range(3):
            records = [Record(0, 1, None, b"%d.%d" % (number, each)) for each in range(2)]
            producer.send_encoded(topic, 0, build_batch(records, compression=compression))
        producer.flush()
        assert committed(cluster, topic) == []
        producer.commit()
    assert committed(cluster, topic) == [b"0.0", b"0.1", b"1.0", b"1.1", b"2.0", b"2.1"]


def test_broker_in_which_writes_join_no_transaction_is_too_old() -> None:
    with (
        ScriptedBroker(
            {ProduceRequest: Accident.HANG_UP}, versions={ProduceRequest: VersionRange(3, 11)}
        ) as broker,
        Cluster.connect(broker.bootstrap) as cluster,
    ):
        assert not offers_batches(cluster)
        with pytest.raises(Unsupported, match=r"Kafka 4\.0"):
            TransactionalProducer(cluster, "t")


# -- batches ---------------------------------------------------------------------------------------


def test_batch_of_prepared_transactions_is_committed_once(cluster: Cluster, topic: str) -> None:
    assert offers_batches(cluster)
    assert last_batch(cluster, topic) is None
    prepared = [prepare(cluster, topic, topic, part, b"%d" % part) for part in range(PARTITIONS)]
    travelled = pickle.loads(pickle.dumps(prepared))
    assert committed(cluster, topic) == []
    assert commit_batch(cluster, topic, 0, travelled) == CommittedBatch(0, was_repeated=False)
    assert committed(cluster, topic) == [b"0", b"1"]
    again = [prepare(cluster, topic, topic, part, b"again") for part in range(PARTITIONS)]
    assert commit_batch(cluster, topic, 0, again) == CommittedBatch(0, was_repeated=True)
    assert committed(cluster, topic) == [b"0", b"1"]
    assert last_batch(cluster, topic) == 0


def test_batch_with_a_fenced_part_is_refused_with_the_name_of_it(cluster: Cluster, topic: str) -> None:
    late = prepare(cluster, topic, topic, 0, b"late")
    other = prepare(cluster, topic, topic, 1, b"other")
    newer = prepare(cluster, topic, topic, 0, b"newer")
    with pytest.raises(Refused, match=f"{topic}-0 has been ended") as refusal:
        commit_batch(cluster, topic, 0, [late, other])
    assert refusal.value.code is ErrorCode.PRODUCER_FENCED
    assert commit_batch(cluster, topic, 0, [newer, other]).last_batch_id == 0
    assert committed(cluster, topic) == [b"newer", b"other"]


def test_prepared_transactions_that_are_given_up_are_aborted(cluster: Cluster, topic: str) -> None:
    prepared = [prepare(cluster, topic, topic, part, b"%d" % part) for part in range(PARTITIONS)]
    commit_batch(cluster, topic, 0, prepared[:1])
    abort_prepared(cluster, prepared)
    abort_prepared(cluster, prepared)
    assert committed(cluster, topic) == [b"0"]


def test_leftovers_of_a_query_are_aborted_and_those_of_others_are_not(cluster: Cluster, topic: str) -> None:
    mine = [prepare(cluster, topic, topic, part, b"mine") for part in range(PARTITIONS)]
    theirs = prepare(cluster, topic, f"{topic}x", 0, b"theirs")
    assert abort_leftovers(cluster, topic) == [each.transactional_id for each in mine]
    assert abort_leftovers(cluster, topic) == []
    commit_batch(cluster, f"{topic}x", 0, [theirs])
    assert committed(cluster, topic) == [b"theirs"]


def test_prepared_transactions_and_the_last_batch_outlive_a_restart(tmp_path: Path) -> None:
    with Broker(tmp_path) as broker:
        with Cluster.connect(broker.bootstrap) as cluster:
            topic = make_topic(cluster, "t", PARTITIONS)
            commit_batch(cluster, "q", 0, [])
            prepared = [prepare(cluster, topic, "q", part, b"%d" % part) for part in range(PARTITIONS)]
        broker.restart()
        with Cluster.connect(broker.bootstrap) as cluster:
            assert last_batch(cluster, "q") == 0
            assert commit_batch(cluster, "q", 1, prepared) == CommittedBatch(1, was_repeated=False)
            assert committed(cluster, topic) == [b"0", b"1"]
