"""Fixtures of the tests that need a broker; connections that readers keep end with each test."""

from collections.abc import Iterator

import pytest

from tests.client.live import bootstrap, cluster, name, topic
from trivium.spark.connector.broker_origin import forget_origins

__all__ = ["bootstrap", "cluster", "name", "topic"]


@pytest.fixture(autouse=True)
def _no_connections_are_left() -> Iterator[None]:
    yield
    forget_origins()
