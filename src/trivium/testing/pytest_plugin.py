"""Fixtures for whoever has Trivium installed; pytest finds them by itself (entry point ``pytest11``).

    trivium_broker              a fresh broker for one test, in memory
    trivium_session_broker      one broker for all tests of a run (of a worker, with pytest-xdist)
    trivium_topic               the name of a new topic on that broker, another one for each test
    trivium_settings            what both brokers are set to; override it in a conftest or a module

This module is imported by every run of pytest on the machine, so it imports nothing of the broker until a
test wants one.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from trivium.testing.broker import Broker

TOPIC_NAME_CHARS_MAX: Final = 200
"""Kafka allows 249; the rest is for the number behind it, and for names that tests derive."""

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def trivium_settings() -> Mapping[str, str | int | float | bool]:
    """Settings of the brokers, by their names: ``{"num.partitions": 3}``."""
    return {}


@pytest.fixture
def trivium_broker(trivium_settings: Mapping[str, str | int | float | bool]) -> "Iterator[Broker]":
    """A broker of its own for this test."""
    from trivium.testing.broker import Broker

    with Broker(settings=trivium_settings) as broker:
        yield broker


@pytest.fixture(scope="session")
def trivium_session_broker(
    trivium_settings: Mapping[str, str | int | float | bool],
) -> "Iterator[Broker]":
    """One broker for all: quicker, and tests must keep out of each other's way (``trivium_topic``)."""
    from trivium.testing.broker import Broker

    with Broker(settings=trivium_settings) as broker:
        yield broker


@pytest.fixture
def trivium_topic(request: pytest.FixtureRequest, trivium_session_broker: "Broker") -> str:
    """A new topic on ``trivium_session_broker``, named after the test."""
    name = f"{topic_name(request.node.name)}-{next(_numbers)}"
    trivium_session_broker.create_topic(name)
    return name


def topic_name(test_name: str) -> str:
    """A name that Kafka allows, made of one that pytest does."""
    return re.sub(r"[^a-zA-Z0-9._-]+", "-", test_name)[:TOPIC_NAME_CHARS_MAX].strip("-") or "topic"
