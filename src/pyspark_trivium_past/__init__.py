"""Lets Spark find bounded parts of topics by itself, also in the sessions that it makes for queries."""

from trivium.spark.running.past import PastSource as DefaultSource

__all__ = ["DefaultSource"]
