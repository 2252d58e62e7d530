"""Promise R1: an acknowledged record survives kill -9.

A real ``trivium serve``, real producers (librdkafka), SIGKILL at a random moment while they write, a restart
on the same directory; then everything is read and compared with what was acknowledged: nothing lost, nothing
twice, nothing in another order. A failure prints its seed.
"""

import os
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from tests.server.serving import Served
from tests.server.wire import create_topic

KILLS = int(os.environ.get("TRIVIUM_CRASH_KILLS", "3"))
SEED = int(os.environ.get("TRIVIUM_CRASH_SEED", random.SystemRandom().randrange(1 << 32)))
TOPIC = "witness"
PARTITIONS = 2
READ_SECONDS_MAX = 30
IN_FLIGHT_MAX = 5_000
"""Records that a producer has sent and not heard of; librdkafka would hold a hundred thousand."""


@dataclass
class History:
    """What was sent, in order, and where the broker said it lies."""

    sent: int = 0
    acknowledged: dict[bytes, tuple[int, int]] = field(default_factory=dict)

    def next_value(self) -> bytes:
        self.sent += 1
        return b"%012d" % self.sent

    def heard(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            value, partition, offset = message.value(), message.partition(), message.offset()
            assert value is not None
            assert partition is not None
            assert offset is not None
            self.acknowledged[value] = (partition, offset)


def connect(served: Served, choice: random.Random, **settings: object) -> Producer:
    return Producer(
        {
            "bootstrap.servers": served.bootstrap,
            "max.in.flight.requests.per.connection": 5,
            "linger.ms": choice.choice((0, 1, 5)),
            "batch.num.messages": choice.choice((1, 10, 1000)),
            "compression.type": choice.choice(("none", "lz4", "zstd")),
            "log_level": 0,
            **settings,
        }
    )


def produce_until_killed(served: Served, producer: Producer, history: History, choice: random.Random) -> None:
    # Killed at any moment from the first bytes on to the middle of a steady stream.
    killer = threading.Timer(choice.uniform(0.0, 0.3), served.kill)
    killer.start()
    while killer.is_alive():
        if len(producer) < IN_FLIGHT_MAX:
            partition = choice.randrange(PARTITIONS)
            producer.produce(TOPIC, history.next_value(), partition=partition, on_delivery=history.heard)
        producer.poll(0 if len(producer) < IN_FLIGHT_MAX else 0.01)
    killer.join()


def read_all(served: Served) -> list[list[bytes]]:
    """Every record of every partition, by offset."""
    consumer = Consumer(
        {
            "bootstrap.servers": served.bootstrap,
            "group.id": "reader",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )
    records: list[list[bytes]] = [[] for _ in range(PARTITIONS)]
    consumer.assign([TopicPartition(TOPIC, partition, 0) for partition in range(PARTITIONS)])
    finished: set[int] = set()
    try:
        while len(finished) < PARTITIONS:
            message = consumer.poll(READ_SECONDS_MAX)
            assert message is not None, "the broker gives nothing any more"
            error, partition = message.error(), message.partition()
            assert partition is not None
            if error is not None:
                if error.code() != KafkaError._PARTITION_EOF:
                    raise KafkaException(error)
                finished.add(partition)
                continue
            value = message.value()
            assert value is not None
            assert message.offset() == len(records[partition])
            records[partition].append(value)
    finally:
        consumer.close()
    return records


def compare(history: History, records: list[list[bytes]]) -> None:
    for value, (partition, offset) in history.acknowledged.items():
        assert offset < len(records[partition]), (
            f"{value!r} was acknowledged at {partition}:{offset} and is lost"
        )
        assert records[partition][offset] == value, (
            f"{partition}:{offset} holds another record than {value!r}"
        )
    everything = [value for values in records for value in values]
    assert len(set(everything)) == len(everything), "a record is there twice"
    for values in records:
        assert values == sorted(values), "records are in another order than they were sent in"


@pytest.fixture
def choice(request: pytest.FixtureRequest) -> random.Random:
    print(f"TRIVIUM_CRASH_SEED={SEED}")
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path, "--set", f"num.partitions={PARTITIONS}") as served:
        create_topic(served.bootstrap, TOPIC)
        yield served


@pytest.mark.parametrize("acks", ["1", "all"])
def test_acknowledged_records_after_kill_9_are_there_once_and_in_order(
    served: Served, choice: random.Random, acks: str
) -> None:
    history = History()
    for _ in range(KILLS):
        # A retry may write twice without idempotence, as with every broker: so there are none.
        producer = connect(served, choice, **{"acks": acks, "message.send.max.retries": 0})
        produce_until_killed(served, producer, history, choice)
        # Acknowledgements that had left the broker are still heard; the rest would be waited for in vain.
        producer.flush(0.2)
        producer.purge()
        producer.flush(1)
        served.start()
        compare(history, read_all(served))
    assert served.stop() == 0
    assert history.acknowledged, "no kill came late enough for anything to be acknowledged"


def test_idempotent_producer_through_several_kill_9_writes_everything_once_and_in_order(
    served: Served, choice: random.Random
) -> None:
    """Mission 003.32, R13: one producer that goes on over every restart, and repeats what it is unsure of."""
    history = History()
    settings = {"enable.idempotence": True, "reconnect.backoff.ms": 10, "reconnect.backoff.max.ms": 100}
    producer = connect(served, choice, **settings)
    for _ in range(KILLS):
        produce_until_killed(served, producer, history, choice)
        served.start()
    assert producer.flush(READ_SECONDS_MAX) == 0
    records = read_all(served)
    compare(history, records)
    assert len(history.acknowledged) == history.sent == sum(map(len, records))
    assert served.stop() == 0
