"""Lets Spark find the tables that streams are joined with, also in the sessions that it makes for queries."""

from trivium.spark.tables.lookup import LookupSource as DefaultSource

__all__ = ["DefaultSource"]
