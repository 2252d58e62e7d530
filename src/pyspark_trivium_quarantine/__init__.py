"""Lets Spark find quarantines as streams by itself, also in the sessions that it makes for queries."""

from trivium.spark.running.quarantine_stream import QuarantineSource as DefaultSource

__all__ = ["DefaultSource"]
