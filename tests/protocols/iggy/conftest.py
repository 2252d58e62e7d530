"""A broker that a whole module shares, with one client that has logged in; topics are new for every test."""

import itertools
from collections.abc import Iterator

import pytest

from tests.protocols.iggy.raw_client import RawClient, new_topic, text
from trivium.testing import Broker

_numbers = itertools.count()


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(listen_iggy="127.0.0.1:0") as started:
        yield started


@pytest.fixture
def address(broker: Broker) -> str:
    return broker.address("iggy")


@pytest.fixture
def client(address: str) -> Iterator[RawClient]:
    with RawClient(address) as connected:
        connected.login()
        yield connected


@pytest.fixture
def stream(client: RawClient) -> str:
    name = f"stream-{next(_numbers)}"
    client.get(202, text(name))
    return name


@pytest.fixture
def topic(client: RawClient, stream: str) -> str:
    """``events``, with three partitions."""
    client.get(302, new_topic(stream, "events", 3))
    return "events"
