"""Readers as Spark would make and use them, without Spark."""

import pickle
from typing import Any

from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from tests.client.live import eventually
from trivium.client.admin_topics import add_partitions
from trivium.client.cluster import Cluster
from trivium.client.errors import settled
from trivium.client.producer import Producer
from trivium.spark.connector.batch_reader import BatchReader
from trivium.spark.connector.source import TriviumDataSource
from trivium.spark.connector.stream_reader import StreamReader

HEADERS = ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())]))

TYPES: dict[str, DataType] = {
    "key": BinaryType(),
    "value": BinaryType(),
    "topic": StringType(),
    "partition": IntegerType(),
    "offset": LongType(),
    "timestamp": TimestampType(),
    "timestampType": IntegerType(),
    "headers": HEADERS,
}

DEFAULT = tuple(name for name in TYPES if name != "headers")


def schema(*columns: str) -> StructType:
    return StructType([StructField(name, TYPES[name]) for name in columns])


def lower(options: dict[str, object]) -> dict[str, str]:
    """As Spark hands them over."""
    return {name.lower(): str(value) for name, value in options.items()}


def broker_options(bootstrap: str, topic: str, **more: object) -> dict[str, object]:
    return {"kafka.bootstrap.servers": bootstrap, "subscribe": topic, **more}


def batch(options: dict[str, object], *columns: str) -> BatchReader:
    return TriviumDataSource(lower(options)).reader(schema(*(columns or DEFAULT)))


def stream(options: dict[str, object], *columns: str) -> StreamReader:
    return TriviumDataSource(lower(options)).streamReader(schema(*(columns or DEFAULT)))


def rows(
    reader: DataSourceReader | DataSourceStreamReader, partitions: list[InputPartition] | None = None
) -> list[dict[str, Any]]:
    """Every row, the reader and its partitions carried to an executor and back first."""
    if partitions is None:
        assert isinstance(reader, DataSourceReader)
        carried = pickle.loads(pickle.dumps(reader))
        partitions = [*reader.partitions()]
    else:
        carried = pickle.loads(pickle.dumps(reader))
    return [
        row
        for partition in partitions
        for part in carried.read(pickle.loads(pickle.dumps(partition)))
        for row in part.to_pylist()
    ]


def values(
    reader: DataSourceReader | DataSourceStreamReader, partitions: list[InputPartition] | None = None
) -> list[bytes | None]:
    return [row["value"] for row in rows(reader, partitions)]


def write(
    cluster: Cluster, topic: str, *texts: str, partition: int = 0, timestamp_ms: int | None = None
) -> None:
    with Producer(cluster) as producer:
        for text in texts:
            producer.send(topic, text.encode(), partition=partition, timestamp_ms=timestamp_ms)


def grow(cluster: Cluster, topic: str, partitions: int) -> None:
    """Give a topic more partitions, known everywhere when this returns."""
    settled(add_partitions(cluster, {topic: partitions})[topic])
    eventually(lambda: len(cluster.topics()[topic].partitions), partitions)


def write_many(cluster: Cluster, topic: str, count: int, *, partition: int = 0) -> list[bytes]:
    written = [b"%06d" % number for number in range(count)]
    with Producer(cluster) as producer:
        for value in written:
            producer.send(topic, value, partition=partition)
    return written
