"""A session of its own for each query: what Spark changes for one must be nobody else's.

Spark keeps one list of environment variables for each data source written in Python, and adds to it when a
stream of that source starts. A query that sends a task to its workers at that moment sends the list, too,
and fails with "Illegal size 5 of collection, expected 6" (seen in Spark 4.3). A source that is registered in
a session has a list of its own, so no query meets the list of another. The sink is registered beside it, so
that both have the same environment and share their Python workers.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRESS_KEPT: Final = 10_000
"""Reports of micro-batches that Spark keeps between two looks: more than can happen in that time."""

STOP_TIMEOUT_MS: Final = 60_000
"""How long a query may take to end when it is told to; Spark would wait for ever."""


def own_session(spark: "SparkSession") -> "SparkSession":
    """Views, settings and the source of one query, on the Spark of ``spark``."""
    from trivium.spark.connector.source import TriviumDataSource
    from trivium.spark.running.topics import TopicsOfFlow
    from trivium.spark.sinks.writer import FlowSink

    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.conf.set("spark.sql.streaming.numRecentProgressUpdates", str(PROGRESS_KEPT))
    session.conf.set("spark.sql.streaming.stopTimeout", str(STOP_TIMEOUT_MS))
    session.dataSource.register(TriviumDataSource)
    session.dataSource.register(TopicsOfFlow)
    session.dataSource.register(FlowSink)
    return session
