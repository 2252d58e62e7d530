"""Groups go from Kafka to Trivium and back in one directory: Kafka reads what Trivium wrote (R11)."""

from pathlib import Path

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from tests.interop.kafka import Kafka

from trivium.testing import Broker

pytestmark = pytest.mark.interop

CLUSTER_ID = "Jp0c1hZbTgeqYpVSd9aLmA"
GROUP = "shared"


def static_member(bootstrap: str) -> Consumer:
    """A member that stays one after it has closed, for as long as its session lasts."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": GROUP,
            "group.instance.id": "one",
            "session.timeout.ms": 300_000,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(["t"])
    return consumer


def read_and_commit(bootstrap: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    for number in range(count):
        producer.produce("t", str(number), partition=number % 2)
    assert producer.flush(30) == 0
    consumer = static_member(bootstrap)
    seen = 0
    while seen < count:
        seen += sum(message.error() is None for message in consumer.consume(100, 0.1))
    consumer.commit(asynchronous=False)
    consumer.close()


def offsets(bootstrap: str) -> dict[int, int]:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    found = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(GROUP)])[GROUP].result(30)
    return {place.partition: place.offset for place in found.topic_partitions}


def test_group_lives_on_from_kafka_to_trivium_and_back(kafka: Kafka, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with kafka.broker(data, CLUSTER_ID) as bootstrap:
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_topics([NewTopic("t", 2, 1)])["t"].result(30)
        read_and_commit(bootstrap, 10)
    with Broker(data) as broker:
        assert offsets(broker.bootstrap) == {0: 5, 1: 5}
        read_and_commit(broker.bootstrap, 20)
        simple = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "simple"})
        simple.commit(offsets=[TopicPartition("t", 1, 7, "note")], asynchronous=False)
        simple.close()
    log = next((data / "__consumer_offsets-0").glob("*.log"))
    dump = kafka.dump("--offsets-decoder", "--deep-iteration", "--print-data-log", files=[log])
    assert '"group":"simple","topic":"t","partition":1' in dump
    assert "isvalid: false" not in dump
    with kafka.broker(data, CLUSTER_ID) as bootstrap:
        assert offsets(bootstrap) == {0: 15, 1: 15}
        admin = AdminClient({"bootstrap.servers": bootstrap})
        assert {group.group_id for group in admin.list_consumer_groups().result(30).valid} == {
            GROUP,
            "simple",
        }
        [member] = admin.describe_consumer_groups([GROUP])[GROUP].result(30).members
        assert member.group_instance_id == "one"
        assert {place.partition for place in member.assignment.topic_partitions} == {0, 1}
