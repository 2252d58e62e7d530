"""Feature levels, set by Kafka's own ``kafka-features`` and obeyed: who may speak which protocol (KIP-584).

Clients that hear ``UNSUPPORTED_VERSION`` tell their users; classic consumers and older transactions go on.
"""

import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, KafkaError, Producer
from tests.golden.group_dialogue import Talk
from tests.interop.brokers import Restartable
from tests.interop.kafka import Kafka

from trivium.messages.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from trivium.messages.errors import ErrorCode

pytestmark = pytest.mark.interop

FEATURES = "org.apache.kafka.tools.FeatureCommand"
GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
SECONDS_MAX = 60


@pytest.fixture
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restartable]:
    broker = Restartable(tmp_path_factory.mktemp("broker"))
    with broker:
        yield broker


def levels(kafka: Kafka, broker: Restartable) -> dict[str, str]:
    described = kafka.run(FEATURES, "--bootstrap-server", broker.bootstrap, "describe")
    rows = [line.split() for line in described.splitlines() if line.startswith("Feature:")]
    return {row[1]: row[7] for row in rows}


def change(kafka: Kafka, broker: Restartable, way: str, *features: str) -> None:
    wanted = [word for feature in features for word in ("--feature", feature)]
    kafka.run(FEATURES, "--bootstrap-server", broker.bootstrap, way, *wanted)


def produce(broker: Restartable, count: int) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(count):
        producer.produce("t", str(number))
    assert producer.flush(SECONDS_MAX) == 0


def read(broker: Restartable, count: int, **settings: str) -> list[bytes] | KafkaError:
    """So many values; or the fatal error that ends the reading."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "g",
            "auto.offset.reset": "earliest",
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
    )
    consumer.subscribe(["t"])
    values: list[bytes] = []
    deadline = time.monotonic() + SECONDS_MAX
    try:
        while len(values) < count:
            assert time.monotonic() < deadline, values
            message = consumer.poll(0.5)
            error = None if message is None else message.error()
            if error is not None and error.code() == KafkaError._FATAL:
                return error
            if message is not None and error is None:
                values.append(message.value() or b"")
    finally:
        consumer.close()
    return values


def test_group_version_0_leaves_the_classic_protocol(kafka: Kafka, broker: Restartable) -> None:
    produce(broker, 3)
    change(kafka, broker, "downgrade", "group.version=0")
    assert levels(kafka, broker)["group.version"] == "0"
    talk = Talk(broker.bootstrap)
    answer = talk.question(
        ConsumerGroupHeartbeatRequest(
            group_id="new",
            member_id="m",
            member_epoch=0,
            rebalance_timeout_ms=1000,
            subscribed_topic_names=["t"],
            topic_partitions=[],
        ),
        1,
    )
    talk.close()
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert isinstance(read(broker, 1, group_protocol="consumer", group_id="new"), KafkaError)
    assert read(broker, 3) == [b"0", b"1", b"2"]
    listed = kafka.run(GROUPS, "--bootstrap-server", broker.bootstrap, "--list")
    assert listed.split() == ["g"]
    change(kafka, broker, "upgrade", "group.version=1")
    assert read(broker, 3, group_protocol="consumer", group_id="new") == [b"0", b"1", b"2"]


@pytest.mark.parametrize("level", [0, 1, 2])
def test_transactions_work_at_every_level(kafka: Kafka, broker: Restartable, level: int) -> None:
    if level < 2:
        change(kafka, broker, "downgrade", f"transaction.version={level}")
    assert levels(kafka, broker)["transaction.version"] == str(level)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "tx"})
    producer.init_transactions(SECONDS_MAX)
    for number in range(4):
        producer.begin_transaction()
        producer.produce("t", str(number))
        if number % 2:
            producer.abort_transaction(SECONDS_MAX)
        else:
            producer.commit_transaction(SECONDS_MAX)
    broker.restart(killed=True)
    assert read(broker, 2, isolation_level="read_committed") == [b"0", b"2"]
