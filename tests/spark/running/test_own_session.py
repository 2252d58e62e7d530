"""What keeps queries that run at the same time out of each other's way."""

from typing import Any

from pyspark.sql import SparkSession

from trivium.spark.running.own_session import own_session


def environment_of_source(session: SparkSession) -> Any:
    """What Spark changes when a stream of the source starts, and sends along with every task."""
    manager = session._jsparkSession.sessionState().dataSourceManager()
    return manager.lookupDataSource("trivium").dataSourceCls().envVars()


def test_queries_share_nothing_that_spark_changes_when_a_stream_starts(spark: SparkSession) -> None:
    first, second = own_session(spark), own_session(spark)
    environment_of_source(first).put("ADDED_BY", "first")
    assert environment_of_source(first).get("ADDED_BY") == "first"
    for other in (second, spark, spark.newSession()):
        assert environment_of_source(other).get("ADDED_BY") is None
