"""Lets Spark find ``format("trivium")`` by itself: it looks for ``DefaultSource`` in every ``pyspark_*``."""

from trivium.spark.connector.source import TriviumDataSource as DefaultSource

__all__ = ["DefaultSource"]
