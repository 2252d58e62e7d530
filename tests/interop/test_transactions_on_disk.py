"""Transactions in a directory that our node and a real Kafka use in turns (R11)."""

import shutil
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from tests.interop.kafka import Kafka

from trivium.testing import Broker

pytestmark = pytest.mark.interop

SECONDS_MAX = 60
SETTINGS = {"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"}
TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"


def producer_of(address: str, transactional_id: str) -> Producer:
    producer = Producer(
        {
            "bootstrap.servers": address,
            "transactional.id": transactional_id,
            "transaction.timeout.ms": 600_000,
            "log_level": 0,
        }
    )
    producer.init_transactions(SECONDS_MAX)
    return producer


def begin(producer: Producer, value: str, group_offset: int | None = None) -> None:
    producer.begin_transaction()
    for partition in (0, 1):
        producer.produce("t", value, partition=partition)
    if group_offset is not None:
        consumer = Consumer({"bootstrap.servers": "unused:1", "group.id": "g", "log_level": 0})
        producer.send_offsets_to_transaction(
            [TopicPartition("t", 0, group_offset)], consumer.consumer_group_metadata(), SECONDS_MAX
        )
    producer.flush(SECONDS_MAX)


def committed_records(address: str) -> list[list[str]]:
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "reader",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition("t", partition, 0) for partition in (0, 1)])
    values: list[list[str]] = [[], []]
    ended = 0
    while ended < 2:
        message = consumer.poll(SECONDS_MAX)
        assert message is not None
        error = message.error()
        if error is not None:
            assert error.code() == KafkaError._PARTITION_EOF
            ended += 1
        else:
            values[message.partition() or 0].append((message.value() or b"").decode())
    consumer.close()
    return values


def committed_offset(address: str) -> int:
    # Not only a stable one: an open transaction has another offset pending.
    config = {"bootstrap.servers": address, "group.id": "g", "isolation.level": "read_uncommitted"}
    consumer = Consumer(config)
    [place] = consumer.committed([TopicPartition("t", 0)], SECONDS_MAX)
    consumer.close()
    return int(place.offset)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our node has committed, aborted, and was killed with one transaction open."""
    data = tmp_path_factory.mktemp("ours") / "data"
    broker = Broker(data=data, settings=SETTINGS)
    broker.start()
    broker.create_topic("t", 2)
    done = producer_of(broker.bootstrap, "done")
    begin(done, "committed", 5)
    done.commit_transaction(SECONDS_MAX)
    begin(done, "aborted", 9)
    done.abort_transaction(SECONDS_MAX)
    begin(producer_of(broker.bootstrap, "open"), "open", 7)
    broker.kill()
    return data


@pytest.fixture
def copy(ours: Path, tmp_path: Path) -> Path:
    shutil.copytree(ours, tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture(scope="module")
def dumped(kafka: Kafka, ours: Path) -> str:
    files = sorted((ours / "__transaction_state-0").glob("*.log"))
    return kafka.dump("--transaction-log-decoder", files=files)


def test_kafkas_dump_tool_reads_our_ledger(dumped: str) -> None:
    assert '"transactionalId":"done"' in dumped
    for status in range(6):
        assert f'"transactionStatus":{status}' in dumped
    assert '{"topic":"t","partitionIds":[0,1]}' in dumped


def test_kafka_knows_our_transactions_and_goes_on_with_them(kafka: Kafka, copy: Path) -> None:
    with kafka.broker(copy, "unused: the directory has its own") as address:
        listed = kafka.run(TRANSACTIONS, "--bootstrap-server", address, "list")
        states = {row[0]: row[3] for row in map(str.split, listed.splitlines()) if len(row) == 4}
        assert (states["done"], states["open"]) == ("CompleteAbort", "Ongoing")
        assert committed_records(address) == [["committed"], ["committed"]]
        assert committed_offset(address) == 5
        # Whoever comes next aborts what was left open.
        successor = producer_of(address, "open")
        begin(successor, "kafka", 8)
        successor.commit_transaction(SECONDS_MAX)
        assert committed_records(address) == [["committed", "kafka"]] * 2
        begin(producer_of(address, "left by kafka"), "left", 11)
    with Broker(data=copy, settings=SETTINGS) as broker:
        assert committed_records(broker.bootstrap) == [["committed", "kafka"]] * 2
        assert committed_offset(broker.bootstrap) == 8
        begin(producer := producer_of(broker.bootstrap, "left by kafka"), "ours", 12)
        producer.commit_transaction(SECONDS_MAX)
        assert committed_records(broker.bootstrap) == [["committed", "kafka", "ours"]] * 2
        assert committed_offset(broker.bootstrap) == 12
