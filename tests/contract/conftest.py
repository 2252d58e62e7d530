"""A broker that listens for every protocol of the contract, on free ports; and one client after the other."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.contract.door import Client, Door
from tests.contract.doors import DOORS
from trivium.testing import Broker

Connect = Callable[[str], Client]

LISTEN = {f"listen.{name}": "127.0.0.1:0" for name in (*DOORS, "auto")}

SLOW_MS = 200
"""The patience of an impatient broker with a request that has begun: a test waits until it is over."""


@pytest.fixture
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with Broker(settings={**LISTEN, **getattr(request, "param", {})}) as started:
        yield started


@pytest.fixture
def connect(broker: Broker) -> Iterator[Connect]:
    """A client by the name of its protocol."""
    with ExitStack() as stack:

        def connected(name: str) -> Client:
            client = DOORS[name].connect(broker.address(name))
            stack.enter_context(client.wire)
            return client

        yield connected


@pytest.fixture(params=list(DOORS))
def door(request: pytest.FixtureRequest) -> Door:
    """Each of them in turn."""
    return DOORS[request.param]


@pytest.fixture
def client(door: Door, connect: Connect) -> Client:
    """Of the door whose turn it is."""
    return connect(door.name)
