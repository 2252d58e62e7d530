"""Transactions of librdkafka, aiokafka and kafka-python: what is committed is seen, whole (003.33, R14)."""

import asyncio
from collections.abc import Iterator
from typing import Any

import aiokafka
import kafka
import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kafka.structs import OffsetAndMetadata

from tests.clients.group_broker import PATIENCE_SECONDS, group_broker, until
from trivium.testing import Broker


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with group_broker() as broker:
        yield broker


@pytest.fixture
def topic(broker: Broker, request: pytest.FixtureRequest) -> str:
    """Two topics of this test: this one, and the same with ``-out``."""
    name: str = request.node.name.replace("[", "-").replace("]", "")
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for each in (name, f"{name}-out"):
        admin.create_topics([NewTopic(each, 2, 1)])[each].result(30)
    return name


def producer_of(broker: Broker, transactional_id: str, **config: Any) -> Producer:
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap,
            "transactional.id": transactional_id,
            "log_level": 0,
            "retry.backoff.ms": 10,
            **config,
        }
    )
    producer.init_transactions(PATIENCE_SECONDS)
    return producer


def read(broker: Broker, topic: str, isolation_level: str = "read_committed") -> list[str]:
    """Everything that a reader finds up to the end of both partitions."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": f"reader of {topic}",
            "isolation.level": isolation_level,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(topic, partition, 0) for partition in (0, 1)])
    values: list[str] = []
    ended: set[int | None] = set()

    def turn() -> None:
        message = consumer.poll(1)
        if message is not None and message.error():
            ended.add(message.partition())
        elif message is not None:
            values.append((message.value() or b"").decode())

    until(lambda: len(ended) == 2, turn)
    consumer.close()
    return sorted(values)


# -- librdkafka ----------------------------------------------------------------------------------


def test_confluent_reader_sees_what_is_committed_and_nothing_else(broker: Broker, topic: str) -> None:
    producer = producer_of(broker, topic)
    for number, commits in enumerate((True, False, True)):
        producer.begin_transaction()
        for partition in (0, 1):
            producer.produce(topic, f"{number}-{partition}", partition=partition)
        producer.flush(PATIENCE_SECONDS)
        if commits:
            producer.commit_transaction(PATIENCE_SECONDS)
        else:
            producer.abort_transaction(PATIENCE_SECONDS)
    assert read(broker, topic) == ["0-0", "0-1", "2-0", "2-1"]
    assert len(read(broker, topic, "read_uncommitted")) == 6


def test_confluent_reader_stops_before_an_open_transaction(broker: Broker, topic: str) -> None:
    plain = Producer({"bootstrap.servers": broker.bootstrap})
    plain.produce(topic, "before", partition=0)
    assert plain.flush(30) == 0
    producer = producer_of(broker, topic)
    producer.begin_transaction()
    producer.produce(topic, "open", partition=0)
    producer.flush(PATIENCE_SECONDS)
    plain.produce(topic, "after", partition=0)
    assert plain.flush(30) == 0
    assert read(broker, topic) == ["before"]
    producer.commit_transaction(PATIENCE_SECONDS)
    assert read(broker, topic) == ["after", "before", "open"]


def test_confluent_producer_is_fenced_by_its_successor(broker: Broker, topic: str) -> None:
    zombie = producer_of(broker, topic)
    zombie.begin_transaction()
    zombie.produce(topic, "zombie", partition=0)
    zombie.flush(PATIENCE_SECONDS)
    successor = producer_of(broker, topic)
    with pytest.raises(KafkaException) as raised:
        zombie.commit_transaction(PATIENCE_SECONDS)
    assert raised.value.args[0].name() in ("_FENCED", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH")
    successor.begin_transaction()
    successor.produce(topic, "successor", partition=0)
    successor.commit_transaction(PATIENCE_SECONDS)
    assert read(broker, topic) == ["successor"]


def test_confluent_transaction_that_takes_too_long_is_aborted(broker: Broker, topic: str) -> None:
    producer = producer_of(broker, topic, **{"transaction.timeout.ms": 1_000})
    producer.begin_transaction()
    producer.produce(topic, "slow", partition=0)
    producer.flush(PATIENCE_SECONDS)
    plain = Producer({"bootstrap.servers": broker.bootstrap})
    plain.produce(topic, "after", partition=0)
    assert plain.flush(30) == 0
    until(lambda: read(broker, topic) == ["after"], lambda: None)
    with pytest.raises(KafkaException):
        producer.commit_transaction(PATIENCE_SECONDS)
    assert read(broker, topic) == ["after"]


def test_confluent_consume_transform_produce_is_exactly_once(broker: Broker, topic: str) -> None:
    """Every second transaction is aborted and done again; each input becomes one output."""
    source = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(40):
        source.produce(topic, str(number), partition=number % 2)
    assert source.flush(30) == 0
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": topic,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
        }
    )
    consumer.subscribe([topic])
    producer = producer_of(broker, topic)
    done = attempts = 0

    def transform() -> None:
        nonlocal done, attempts
        messages = [each for each in consumer.consume(10, 1) if not each.error()]
        if not messages:
            return
        attempts += 1
        producer.begin_transaction()
        for message in messages:
            producer.produce(f"{topic}-out", message.value(), partition=message.partition() or 0)
        positions = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata())
        if attempts % 2:
            producer.abort_transaction(PATIENCE_SECONDS)
            for committed in consumer.committed(consumer.assignment()):
                consumer.seek(TopicPartition(topic, committed.partition, max(0, committed.offset)))
        else:
            producer.commit_transaction(PATIENCE_SECONDS)
            done += len(messages)

    until(lambda: done == 40, transform)
    committed = consumer.committed([TopicPartition(topic, partition) for partition in (0, 1)])
    assert [each.offset for each in committed] == [20, 20]
    assert read(broker, f"{topic}-out") == sorted(str(number) for number in range(40))
    consumer.close()


def test_confluent_offsets_of_an_older_generation_are_refused(broker: Broker, topic: str) -> None:
    """KIP-447: a consumer that lost its partitions cannot commit for them."""
    producer = producer_of(broker, topic)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": topic})
    consumer.subscribe([topic])
    until(lambda: bool(consumer.assignment()), lambda: consumer.poll(0.1))
    stale = consumer.consumer_group_metadata()
    consumer.close()
    producer.begin_transaction()
    with pytest.raises(KafkaException):
        producer.send_offsets_to_transaction([TopicPartition(topic, 0, 5)], stale, PATIENCE_SECONDS)
    producer.abort_transaction(PATIENCE_SECONDS)


def test_confluent_transaction_goes_on_after_a_restart_of_the_broker() -> None:
    with group_broker() as own:
        own.create_topic("t", 2)
        producer = producer_of(own, "tx")
        producer.begin_transaction()
        producer.produce("t", "before", partition=0)
        producer.flush(PATIENCE_SECONDS)
        own.restart()
        producer.produce("t", "after", partition=0)
        producer.commit_transaction(PATIENCE_SECONDS)
        assert read(own, "t") == ["after", "before"]


@pytest.mark.parametrize("commits", [True, False], ids=["committed", "aborted"])
def test_confluent_transaction_goes_on_over_a_kill_after_each_of_its_steps(commits: bool) -> None:
    """Issue 6: kill -9 between each step; what it says in the end counts, for records and offsets."""
    with group_broker() as own:
        own.create_topic("t", 2)
        group = Consumer({"bootstrap.servers": own.bootstrap, "group.id": "g", "log_level": 0})
        # When every broker is gone librdkafka 2.16 begins anew, and may wait for one it has given up.
        backoff = {"reconnect.backoff.ms": 10, "reconnect.backoff.max.ms": 50}
        producer = producer_of(own, "tx", **backoff, **{"metadata.recovery.strategy": "none"})

        def kill() -> None:
            own.kill()
            own.start()

        kill()
        producer.begin_transaction()
        kill()
        producer.produce("t", "one", partition=0)
        kill()
        assert producer.flush(PATIENCE_SECONDS) == 0
        kill()
        offsets = [TopicPartition("t", 0, 5)]
        producer.send_offsets_to_transaction(offsets, group.consumer_group_metadata(), PATIENCE_SECONDS)
        kill()
        producer.produce("t", "two", partition=1)
        assert producer.flush(PATIENCE_SECONDS) == 0
        kill()
        (producer.commit_transaction if commits else producer.abort_transaction)(PATIENCE_SECONDS)
        kill()
        assert read(own, "t") == (["one", "two"] if commits else [])
        (found,) = group.committed([TopicPartition("t", 0)], PATIENCE_SECONDS)
        assert (found.offset == 5) is commits
        producer.begin_transaction()
        producer.produce("t", "next", partition=0)
        producer.commit_transaction(PATIENCE_SECONDS)
        assert read(own, "t") == (["next", "one", "two"] if commits else ["next"])
        group.close()


# -- aiokafka ------------------------------------------------------------------------------------


def test_aiokafka_transactions_are_seen_when_they_are_committed(broker: Broker, topic: str) -> None:
    async def play() -> None:
        producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap, transactional_id=topic, retry_backoff_ms=10
        )
        await producer.start()
        async with producer.transaction():
            await producer.send_and_wait(topic, b"kept", partition=0)
            await producer.send_and_wait(topic, b"kept", partition=1)
            await producer.send_offsets_to_transaction({aiokafka.TopicPartition(topic, 0): 17}, topic)
        await producer.begin_transaction()
        await producer.send_and_wait(topic, b"dropped", partition=0)
        await producer.send_offsets_to_transaction({aiokafka.TopicPartition(topic, 0): 99}, topic)
        await producer.abort_transaction()
        await producer.stop()

    asyncio.run(play())
    assert read(broker, topic) == ["kept", "kept"]
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": topic})
    assert consumer.committed([TopicPartition(topic, 0)])[0].offset == 17
    consumer.close()


# -- kafka-python --------------------------------------------------------------------------------


def test_kafka_python_transactions_are_seen_when_they_are_committed(broker: Broker, topic: str) -> None:
    producer = kafka.KafkaProducer(
        bootstrap_servers=broker.bootstrap, transactional_id=topic, retry_backoff_ms=10
    )
    producer.init_transactions()
    producer.begin_transaction()
    producer.send(topic, b"kept", partition=0)
    offsets = {kafka.TopicPartition(topic, 0): OffsetAndMetadata(17, "", -1)}
    producer.send_offsets_to_transaction(offsets, topic)
    producer.commit_transaction()
    producer.begin_transaction()
    producer.send(topic, b"dropped", partition=0).get(30)
    producer.abort_transaction()
    producer.close()
    assert read(broker, topic) == ["kept"]
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": topic})
    assert consumer.committed([TopicPartition(topic, 0)])[0].offset == 17
    consumer.close()
