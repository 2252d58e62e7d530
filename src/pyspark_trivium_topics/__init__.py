"""Lets Spark find the topics of pipelines by itself, also in the sessions that it makes for queries."""

from trivium.spark.running.topics import TopicsOfFlow as DefaultSource

__all__ = ["DefaultSource"]
