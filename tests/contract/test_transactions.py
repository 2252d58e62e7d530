"""A transaction of Kafka's through every door: nothing of it before it is committed, all of it after."""

import pytest
from confluent_kafka import Producer

from tests.contract.conftest import Connect
from tests.contract.door import Client, read_all
from trivium.testing import Broker

PATIENCE_SECONDS = 60


@pytest.fixture
def producer(broker: Broker) -> Producer:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "tx", "log_level": 0})
    producer.init_transactions(PATIENCE_SECONDS)
    return producer


def write(producer: Producer, *values: str) -> None:
    producer.begin_transaction()
    for value in values:
        producer.produce("t", value, partition=0)
    producer.flush(PATIENCE_SECONDS)


def test_open_transaction_holds_up_what_comes_behind_it_at_every_door(
    client: Client, producer: Producer
) -> None:
    client.create_topic("t", 1)
    client.produce("t", 0, [b"before"])
    write(producer, "one", "two")
    client.produce("t", 0, [b"behind"])
    assert read_all(client, "t") == [(0, b"before")]
    producer.commit_transaction(PATIENCE_SECONDS)
    assert read_all(client, "t") == [(0, b"before"), (1, b"one"), (2, b"two"), (3, b"behind")]


@pytest.mark.parametrize("name", ["iggy", "rustlog"])
def test_aborted_transaction_is_never_seen_where_readers_know_of_none(
    connect: Connect, producer: Producer, name: str
) -> None:
    """A Kafka client is told which records to leave out; the others are given the rest."""
    client = connect(name)
    client.create_topic("t", 1)
    write(producer, "aborted", "aborted")
    producer.abort_transaction(PATIENCE_SECONDS)
    client.produce("t", 0, [b"behind"])
    assert read_all(client, "t") == [(3, b"behind")]
