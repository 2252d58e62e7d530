"""A broker for tests: Trivium's own, or whichever ``TRIVIUM_TEST_BROKER`` names, such as a real Kafka.

Shared by all tests of a run: each makes topics and groups of its own.
"""

import os
from collections.abc import Callable, Iterator
from itertools import count
from typing import TypeVar

import pytest

from trivium.client.admin_topics import NewTopic, create_topics
from trivium.client.cluster import Cluster
from trivium.client.deadline import Deadline, attempts
from trivium.client.errors import settled
from trivium.client.producer import Producer
from trivium.testing import Broker

T = TypeVar("T")

_numbers = count()


@pytest.fixture(scope="session")
def bootstrap() -> Iterator[str]:
    named = os.environ.get("TRIVIUM_TEST_BROKER")
    if named is not None:
        yield named
        return
    with Broker() as broker:
        yield broker.bootstrap


@pytest.fixture
def cluster(bootstrap: str) -> Iterator[Cluster]:
    with Cluster.connect(bootstrap) as connected:
        yield connected


@pytest.fixture
def name() -> str:
    """A name that nothing has yet, for a topic or a group."""
    return f"t{os.getpid()}-{next(_numbers)}"


@pytest.fixture
def topic(cluster: Cluster, name: str) -> str:
    """An empty topic with two partitions."""
    return make_topic(cluster, name)


def make_topic(cluster: Cluster, name: str, partitions: int = 2, **configs: str) -> str:
    named = {setting.replace("_", "."): value for setting, value in configs.items()}
    settled(create_topics(cluster, [NewTopic(name, partitions, 1, named)])[name])
    return name


def eventually(look: Callable[[], T], expected: T) -> None:
    """For what a cluster knows a moment later: a Kafka broker hears of changes from its controller."""
    for _ in attempts(Deadline(60)):
        if look() == expected:
            return
    assert look() == expected


def fill(cluster: Cluster, topic: str, *values: bytes, partition: int = 0, timestamp_ms: int = 1_000) -> None:
    """Each value is a batch of its own; timestamps count up by a second."""
    with Producer(cluster) as producer:
        for number, value in enumerate(values):
            producer.send(
                topic, value, partition=partition, timestamp_ms=timestamp_ms + 1_000 * number, key=b"k"
            )
            producer.flush()
