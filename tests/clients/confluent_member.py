"""Members of librdkafka's groups, and a topic for them to share: the same for both protocols of groups."""

from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from trivium.testing import Broker

RECORDS = 200


def shared_topic(broker: Broker, name: str) -> str:
    """Make a topic with some records in each of its four partitions."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(name, 4, 1)])[name].result(30)
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(RECORDS):
        producer.produce(name, str(number), partition=number % 4)
    assert producer.flush(30) == 0
    return name


class Member:
    """A consumer in a group, with what it has read."""

    def __init__(self, broker: Broker, group_id: str, topic: str, **config: Any) -> None:
        self.consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap,
                "group.id": group_id,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                **{key.replace("_", "."): value for key, value in config.items()},
            }
        )
        self.values: list[str] = []
        self.revoked: list[int] = []
        self.consumer.subscribe([topic], on_revoke=self._on_revoke)

    def _on_revoke(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self.revoked += [each.partition for each in partitions]

    @property
    def partitions(self) -> set[int]:
        return {each.partition for each in self.consumer.assignment()}

    def poll(self) -> None:
        for message in self.consumer.consume(100, 0.05):
            assert message.error() is None, message.error()
            self.values.append((message.value() or b"").decode())

    def poll_in_trouble(self) -> None:
        """The same where connections are expected to fail."""
        for message in self.consumer.consume(100, 0.05):
            if message.error() is None:
                self.values.append((message.value() or b"").decode())


def turns(*members: Member) -> Callable[[], None]:
    def turn() -> None:
        for member in members:
            member.poll()

    return turn
