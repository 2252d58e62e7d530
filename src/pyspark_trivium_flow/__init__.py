"""Lets Spark find the sink of flows by itself, also in the sessions that it makes for queries."""

from trivium.spark.sinks.writer import FlowSink as DefaultSource

__all__ = ["DefaultSource"]
