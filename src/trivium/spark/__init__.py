"""Spark for Trivium: ``session()`` starts it, ``format("trivium")`` reads topics, both with nothing but pip.

``connector`` is the data source, ``launch`` what has to be right before a Spark session runs. This room uses
the client and what lies below it, and the log to read a directory; never the core or the server.

Spark imports this package in every worker: nothing heavy at the top of it, neither Spark nor Arrow.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["session"]


def session(master: str | None = None, *, app_name: str = "trivium", **conf: object) -> "SparkSession":
    """A Spark session that is ready for ``format("trivium")``; the running one if there is one.

    ``master`` is where it runs: all cores of this machine unless it or ``TRIVIUM_MASTER`` names another.
    ``conf`` are settings of Spark, ``spark_driver_memory="2g"`` or ``**{"spark.driver.memory": "2g"}``;
    they win over ours. What keeps Spark from starting is a ``LaunchError`` with a sentence.
    """
    from trivium.spark.launch.session import start

    return start(master, app_name, conf)
