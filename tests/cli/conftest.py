"""Fixtures of the tests that need a broker."""

from tests.client.live import bootstrap, cluster, name, topic

__all__ = ["bootstrap", "cluster", "name", "topic"]
