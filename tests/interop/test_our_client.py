"""Our client and command line on a real Kafka: the same tests that they pass on our own broker, and
what only Kafka's transactions show."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer
from tests.client.live import make_topic
from tests.interop.kafka import ROOT, Kafka

from trivium.client.cluster import Cluster
from trivium.client.fetching import FetchSettings
from trivium.client.offsets import Isolation, offset_ranges
from trivium.client.reader import Reader
from trivium.client.topology import TopicPartition

pytestmark = pytest.mark.interop

CLUSTER_ID = "dHJpdml1bS1jbGllbnQtMQ"


@pytest.fixture(scope="module")
def bootstrap(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with kafka.broker(tmp_path_factory.mktemp("kafka") / "data", CLUSTER_ID) as address:
        yield address


def test_tests_of_client_and_command_line_pass_on_kafka(bootstrap: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/client", "tests/cli"],
        cwd=ROOT,
        env={**os.environ, "TRIVIUM_TEST_BROKER": bootstrap},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:]


def read_all(cluster: Cluster, key: TopicPartition, isolation: Isolation) -> list[bytes | None]:
    (_, end) = offset_ranges(cluster, [key], isolation=isolation)[key]
    values: list[bytes | None] = []
    with Reader(cluster, {key: 0}, settings=FetchSettings(isolation=isolation)) as reader:
        while reader.positions[key] < end:
            values += [record.value for chunk in reader.poll(10) for record in chunk.records]
    return values


def test_reader_sees_of_transactions_what_was_committed(bootstrap: str) -> None:
    """Mission 003.33: aborted ones between committed ones, and one that is still open."""
    with Cluster.connect(bootstrap) as cluster:
        key = TopicPartition(make_topic(cluster, "transactions", partitions=1), 0)
        producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "t"})
        producer.init_transactions()
        for number in range(6):
            producer.begin_transaction()
            producer.produce(key.topic, b"%d" % number)
            producer.flush()
            if number % 2:
                producer.abort_transaction()
            else:
                producer.commit_transaction()
        producer.begin_transaction()
        producer.produce(key.topic, b"open")
        producer.flush()
        assert read_all(cluster, key, Isolation.READ_COMMITTED) == [b"0", b"2", b"4"]
        assert read_all(cluster, key, Isolation.READ_UNCOMMITTED) == [
            b"0",
            b"1",
            b"2",
            b"3",
            b"4",
            b"5",
            b"open",
        ]
        producer.abort_transaction()
