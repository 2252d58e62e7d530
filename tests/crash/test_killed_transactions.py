"""Promise R14: transactions are whole over kill -9 at any moment of their life.

A real ``trivium serve``, a transactional producer (librdkafka) that writes each transaction to two partitions
and moves the offset of a group with it, SIGKILL at random while it does, a restart on the same directory. In
the end every transaction is in both partitions or in none; those whose commit was acknowledged are there, in
order; the group's offset is that of the last one. A failure prints its seed.
"""

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tests.crash.test_killed_broker import KILLS, PARTITIONS, READ_SECONDS_MAX, SEED
from tests.server.serving import Served
from tests.server.wire import create_topic

TOPIC = "witness"
GROUP = "witness"
PATIENCE_SECONDS = 60
KILL_SECONDS_MAX = 0.4
COMMITS = 0.8
"""So many of the transactions are committed, if nothing comes between."""


@pytest.fixture
def choice(request: pytest.FixtureRequest) -> random.Random:
    print(f"TRIVIUM_CRASH_SEED={SEED}")
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path, "--set", f"num.partitions={PARTITIONS}") as served:
        create_topic(served.bootstrap, TOPIC)
        yield served


class Transactor:
    """Transactions one after the other, through everything that happens to the broker."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._consumer = Consumer({"bootstrap.servers": served.bootstrap, "group.id": GROUP, "log_level": 0})
        self._group = self._consumer.consumer_group_metadata()
        self.committed: list[int] = []
        self.unsure: set[int] = set()
        """Whoever asked for a commit and was not answered does not know."""
        self.aborted: set[int] = set()
        self.number = 0
        self.renew()

    def renew(self) -> None:
        self._producer = Producer(
            {
                "bootstrap.servers": self._served.bootstrap,
                "transactional.id": "witness",
                "reconnect.backoff.ms": 10,
                "reconnect.backoff.max.ms": 50,
                "retry.backoff.ms": 10,
                # When every broker is gone librdkafka 2.16 begins anew, and may wait for one it has given up.
                "metadata.recovery.strategy": "none",
                "log_level": 0,
            }
        )
        self._producer.init_transactions(PATIENCE_SECONDS)

    def transact(self, *, commits: bool) -> None:
        self.number += 1
        producer, number = self._producer, self.number
        (self.unsure if commits else self.aborted).add(number)
        try:
            producer.begin_transaction()
            for partition in range(PARTITIONS):
                producer.produce(TOPIC, b"%012d" % number, partition=partition)
            producer.send_offsets_to_transaction(
                [TopicPartition(TOPIC, 0, number)], self._group, PATIENCE_SECONDS
            )
            if commits:
                producer.commit_transaction(PATIENCE_SECONDS)
                self.unsure.discard(number)
                self.committed.append(number)
            else:
                producer.abort_transaction(PATIENCE_SECONDS)
        except KafkaException as exception:
            self._give_up(exception)

    def _give_up(self, exception: KafkaException) -> None:
        if exception.args[0].txn_requires_abort():
            self._producer.abort_transaction(PATIENCE_SECONDS)
            self.unsure.discard(self.number)
            self.aborted.add(self.number)
        else:
            self.renew()

    def close(self) -> None:
        self._consumer.close()


def read_committed(served: Served) -> list[list[int]]:
    consumer = Consumer(
        {
            "bootstrap.servers": served.bootstrap,
            "group.id": "reader",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )
    numbers: list[list[int]] = [[] for _ in range(PARTITIONS)]
    consumer.assign([TopicPartition(TOPIC, partition, 0) for partition in range(PARTITIONS)])
    finished: set[int] = set()
    while len(finished) < PARTITIONS:
        message = consumer.poll(READ_SECONDS_MAX)
        assert message is not None, "the broker gives nothing any more"
        partition, value = message.partition(), message.value()
        assert partition is not None
        if message.error() is not None:
            finished.add(partition)
        else:
            assert value is not None
            numbers[partition].append(int(value))
    consumer.close()
    return numbers


def test_transactions_through_several_kill_9_are_whole(served: Served, choice: random.Random) -> None:
    transactor = Transactor(served)
    delays = [choice.uniform(0, KILL_SECONDS_MAX) for _ in range(KILLS)]
    is_over = threading.Event()

    def torment() -> None:
        for delay in delays:
            is_over.wait(delay)
            served.kill()
            served.start()

    with ThreadPoolExecutor(1) as killer:
        tormented = killer.submit(torment)
        tormented.add_done_callback(lambda _: is_over.set())
        while not is_over.is_set():
            transactor.transact(commits=choice.random() < COMMITS)
    tormented.result()
    # Whatever the last one left open is aborted by this.
    transactor.renew()
    transactor.transact(commits=True)
    transactor.close()
    first, *others = read_committed(served)
    assert all(other == first for other in others), "a transaction is torn"
    assert first == sorted(set(first)), "a transaction is there twice, or in another order"
    assert set(transactor.committed) <= set(first), "a committed transaction is lost"
    assert not transactor.aborted.intersection(first), "an aborted transaction is seen"
    assert set(first) <= transactor.unsure.union(transactor.committed)
    consumer = Consumer({"bootstrap.servers": served.bootstrap, "group.id": GROUP, "log_level": 0})
    [place] = consumer.committed([TopicPartition(TOPIC, 0)], READ_SECONDS_MAX)
    consumer.close()
    assert place.offset == first[-1]
    assert served.stop() == 0
