"""What a Spark user does with a Kafka topic by Spark's own connector; the answer is one line of JSON.

    queries.py resolve
    queries.py round-trip BOOTSTRAP TOPIC COPY CHECKPOINT

Runs where pyspark is installed and Trivium is not.
"""

import json
import os
import sys
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, lit

ROWS = 1000
FORMAT = os.environ.get("SPARK_FORMAT", "kafka")
OPTIONS = json.loads(os.environ.get("KAFKA_OPTIONS", "{}"))
"""How to log in, by the names that the format has for it."""


def main() -> None:
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars.packages", os.environ["SPARK_PACKAGES"])
        .config("spark.driver.memory", "1g")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .getOrCreate()
    )
    answer = round_trip(spark, *sys.argv[2:]) if sys.argv[1] == "round-trip" else {"spark": spark.version}
    print(json.dumps(answer))
    spark.stop()


def round_trip(spark: SparkSession, bootstrap: str, topic: str, copy: str, checkpoint: str) -> dict[str, Any]:
    """Write a topic as a batch, copy it by a stream to another, and read both back."""
    kafka = {**OPTIONS, "kafka.bootstrap.servers": bootstrap}
    rows = spark.range(ROWS).select(
        col("id").cast("string").alias("key"), (col("id") * 2).cast("string").alias("value")
    )
    rows.withColumn("topic", lit(topic)).write.format(FORMAT).mode("append").options(**kafka).save()
    started = (
        spark.readStream.format(FORMAT)
        .options(**kafka, subscribe=topic, startingOffsets="earliest", maxOffsetsPerTrigger="300")
        .load()
        .select("key", "value")
        .writeStream.format(FORMAT)
        .options(**kafka, topic=copy, checkpointLocation=checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    started.awaitTermination()
    return {name: read(spark, {**kafka, "subscribe": name}) for name in (topic, copy)} | {
        "batches": sum(1 for each in started.recentProgress if each["numInputRows"])
    }


def read(spark: SparkSession, options: dict[str, str]) -> list[list[str]]:
    """Key and value of every record, in order."""
    frame = spark.read.format(FORMAT).options(**options).load()
    text = frame.select(col("key").cast("string"), col("value").cast("string"))
    return sorted([row.key, row.value] for row in text.collect())


if __name__ == "__main__":
    main()
