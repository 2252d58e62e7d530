"""``format("trivium")`` in a real Spark: found without registration, read and written as a batch and as a
stream, exactly once (R19)."""

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyspark import __version__ as spark_version
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from trivium.client.cluster import Cluster
from trivium.client.group_offsets import committed_offsets
from trivium.client.offsets import delete_records
from trivium.client.topology import TopicPartition
from trivium.spark import session
from trivium.spark.launch.errors import LaunchError
from trivium.testing import Broker

_numbers = count()

QUERY_TIMEOUT_S = 120
"""For a query of a few records, on a machine that has a lot to do."""

KAFKA_SOURCE_SCHEMA = (
    "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,"
    "timestampType:int,headers:array<struct<key:string,value:binary>>>"
)
"""As Spark's own Kafka source has it, with includeHeaders."""


@pytest.fixture
def topic(broker: Broker) -> str:
    name = f"topic-{next(_numbers)}"
    broker.create_topic(name, 2)
    return name


@pytest.fixture
def read(spark: SparkSession, broker: Broker, topic: str) -> Callable[..., DataFrame]:
    def load(schema: str | None = None, **options: str) -> DataFrame:
        reader = spark.read.format("trivium").option("kafka.bootstrap.servers", broker.bootstrap)
        reader = reader.schema(schema) if schema else reader
        return reader.options(**{"subscribe": topic, **options}).load()

    return load


def run(spark: SparkSession, broker: Broker, topic: str, checkpoint: str, **options: str) -> list[Any]:
    """Copy what is there now to another topic, micro-batch by micro-batch; the progress of each."""
    source = spark.readStream.format("trivium").option("kafka.bootstrap.servers", broker.bootstrap)
    started = source.options(**{"subscribe": topic, "startingOffsets": "earliest", **options}).load()
    query = (
        started.select("key", "value")
        .writeStream.format("trivium")
        .options(**{"kafka.bootstrap.servers": broker.bootstrap, "topic": f"{topic}-copy"})
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    try:
        assert query.awaitTermination(QUERY_TIMEOUT_S), "the query has not ended"
    finally:
        query.stop()
    return [progress for progress in query.recentProgress if progress["numInputRows"]]


def copied(broker: Broker, topic: str) -> list[bytes]:
    return sorted(record.value or b"" for record in broker.records(f"{topic}-copy"))


def test_batch_has_the_columns_and_rows_of_the_kafka_source(
    broker: Broker, topic: str, read: Callable[..., DataFrame]
) -> None:
    broker.produce(topic, [("k", "v")], partition=1, headers=[("h", b"1")], timestamp_ms=1_700_000_000_123)
    broker.produce(topic, [None], partition=1, timestamp_ms=1_700_000_000_124)
    frame = read(includeHeaders="true")
    assert frame.schema.simpleString() == KAFKA_SOURCE_SCHEMA
    may_be_null = frame.schema.names if spark_version.startswith("4.2.") else ["key", "value", "headers"]
    assert [field.name for field in frame.schema if field.nullable] == may_be_null
    text = "CAST(key AS STRING), CAST(value AS STRING), topic, partition, offset, timestampType, headers"
    first, second = frame.selectExpr("unix_millis(timestamp)", *text.split(", ")).collect()
    assert tuple(first)[:-1] == (1_700_000_000_123, "k", "v", topic, 1, 0, 0)
    assert [tuple(header) for header in first["headers"]] == [("h", b"1")]
    assert tuple(second) == (1_700_000_000_124, None, None, topic, 1, 1, 0, None)


def test_schema_is_taken_as_projection(broker: Broker, topic: str, read: Callable[..., DataFrame]) -> None:
    broker.produce(topic, ["a", "b"], partition=0)
    frame = read("offset BIGINT, value BINARY")
    assert [tuple(row) for row in frame.collect()] == [(0, b"a"), (1, b"b")]


@pytest.mark.parametrize("never_null", ["", " NOT NULL"])
def test_rows_are_the_same_whether_a_schema_says_not_null_or_not(
    broker: Broker, topic: str, read: Callable[..., DataFrame], never_null: str
) -> None:
    broker.produce(topic, [None, ("k", "b")], partition=1, timestamp_ms=1_700_000_000_123)
    frame = read(
        f"timestamp TIMESTAMP{never_null}, topic STRING{never_null}, offset BIGINT{never_null}, "
        f"partition INT{never_null}, timestampType INT{never_null}, key BINARY, value BINARY"
    )
    rows = frame.selectExpr("unix_millis(timestamp)", "topic", "offset", "partition", "timestampType", "key")
    assert [tuple(row) for row in rows.collect()] == [
        (1_700_000_000_123, topic, 0, 1, 0, None),
        (1_700_000_000_123, topic, 1, 1, 0, b"k"),
    ]
    assert frame.where("topic IS NULL OR offset IS NULL OR value IS NULL").count() == 1


def test_filters_of_one_query_hide_nothing_from_the_next(
    broker: Broker, topic: str, read: Callable[..., DataFrame]
) -> None:
    """Spark uses the plan of a DataFrame again: a reader that took its filters would lose rows."""
    for partition in (0, 1):
        broker.produce(topic, ["x"] * 5, partition=partition)
    frame = read()
    assert frame.where("partition = 1 AND offset > 2").count() == 2
    assert frame.count() == 10
    assert frame.where("partition = 0").union(frame.where("offset < 2")).count() == 9


def test_partitions_are_split_for_more_tasks(
    broker: Broker, topic: str, read: Callable[..., DataFrame]
) -> None:
    broker.produce(topic, [str(number) for number in range(90)], partition=0)
    frame = read(minPartitions="5")
    assert frame.rdd.getNumPartitions() == 5
    assert sorted(int(row.value) for row in frame.collect()) == list(range(90))


def test_directory_is_read_without_a_broker(spark: SparkSession, tmp_path: Path) -> None:
    with Broker(data=tmp_path) as own:
        own.create_topic("t", 3)
        for partition in range(3):
            own.produce("t", [f"{partition}"], partition=partition)
    frame = spark.read.format("trivium").options(directory=str(tmp_path), subscribe="t").load()
    assert sorted(row.value for row in frame.collect()) == [b"0", b"1", b"2"]


def test_stream_ends_at_the_end_and_goes_on_from_its_checkpoint(
    spark: SparkSession, broker: Broker, topic: str, checkpoint: str
) -> None:
    broker.produce(topic, list("abcde"), partition=0)
    progress = run(spark, broker, topic, checkpoint, maxOffsetsPerTrigger="2")
    assert [each["numInputRows"] for each in progress] == [2, 2, 1]
    assert copied(broker, topic) == [b"a", b"b", b"c", b"d", b"e"]
    source = progress[-1]["sources"][0]
    assert json.loads(source["endOffset"]) == json.loads(source["latestOffset"]) == {topic: {"0": 5, "1": 0}}
    lag = [json.loads(each["sources"][0]["latestOffset"])[topic]["0"] for each in progress]
    assert lag == [5, 5, 5], "each batch reports where the topic ends, not where it does"

    broker.produce(topic, ["f"], partition=1)
    assert [each["numInputRows"] for each in run(spark, broker, topic, checkpoint)] == [1]
    assert copied(broker, topic) == [b"a", b"b", b"c", b"d", b"e", b"f"]


NULLABLE = "topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP"


@pytest.mark.parametrize("schemas", [("", NULLABLE, ""), (NULLABLE, "", NULLABLE)])
def test_stream_with_state_goes_on_when_its_columns_become_not_null_and_back(
    spark: SparkSession, broker: Broker, topic: str, checkpoint: str, schemas: tuple[str, ...]
) -> None:
    """Checkpoints of before that, and those that Spark's Kafka source has to go on with: it knows no NOT
    NULL."""
    for number, schema in enumerate(schemas):
        broker.produce(topic, [str(number)], partition=0)
        source = spark.readStream.format("trivium").option("kafka.bootstrap.servers", broker.bootstrap)
        source = source.schema(schema) if schema else source
        rows = source.options(subscribe=topic, startingOffsets="earliest").load()
        query = (
            rows.dropDuplicates(["topic", "partition", "offset", "timestamp"])
            .selectExpr("CAST(offset AS STRING) AS value")
            .writeStream.format("trivium")
            .options(**{"kafka.bootstrap.servers": broker.bootstrap, "topic": f"{topic}-copy"})
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(QUERY_TIMEOUT_S), "the query has not ended"
    assert copied(broker, topic) == [b"0", b"1", b"2"]


def test_batch_that_spark_does_again_is_written_once(
    spark: SparkSession, broker: Broker, topic: str, checkpoint: str
) -> None:
    """As after a crash between the commit of a batch and Spark's note of it (R19)."""
    broker.produce(topic, list("ab"), partition=0)
    run(spark, broker, topic, checkpoint)
    for note in Path(checkpoint, "commits").glob("*0*"):
        note.unlink()
    broker.produce(topic, ["c"], partition=1)
    assert sum(each["numInputRows"] for each in run(spark, broker, topic, checkpoint)) == 3
    assert copied(broker, topic) == [b"a", b"b", b"c"]


def test_batch_is_written_with_keys_headers_and_topics_of_its_rows(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    frame = spark.sql(
        f"SELECT '{topic}' AS topic, 'k' AS key, encode('v', 'utf-8') AS value, 1 AS partition, "
        "array(named_struct('key', 'h', 'value', encode('1', 'utf-8'))) AS headers"
    )
    options = {"kafka.bootstrap.servers": broker.bootstrap, "kafka.compression.type": "zstd"}
    frame.write.format("trivium").mode("append").options(**options).save()
    (record,) = broker.records(topic)
    assert (record.partition, record.key, record.value) == (1, b"k", b"v")
    assert list(record.headers) == [("h", b"1")]
    with pytest.raises(AnalysisException, match="Say where rows go"):
        frame.drop("topic").write.format("trivium").mode("append").options(**options).save()


def test_stream_shows_its_progress_as_a_group(
    spark: SparkSession, broker: Broker, topic: str, checkpoint: str
) -> None:
    broker.produce(topic, list("abc"), partition=0)
    group = f"group-{topic}"
    run(spark, broker, topic, checkpoint, **{"kafka.group.id": group})
    with Cluster.connect(broker.bootstrap) as cluster:
        offsets = committed_offsets(cluster, group)
    assert {key: each.offset for key, each in offsets.items()} == {
        TopicPartition(topic, 0): 3,
        TopicPartition(topic, 1): 0,
    }


def test_stream_that_retention_has_overtaken_says_what_is_missing(
    spark: SparkSession, broker: Broker, topic: str, checkpoint: str
) -> None:
    broker.produce(topic, list("abc"), partition=0)
    run(spark, broker, topic, checkpoint)
    broker.produce(topic, list("defg"), partition=0)
    with Cluster.connect(broker.bootstrap) as cluster:
        delete_records(cluster, {TopicPartition(topic, 0): 6})
    with pytest.raises(StreamingQueryException) as failed:
        run(spark, broker, topic, checkpoint)
    assert f"Topic {topic}, partition 0: the records from offset 3 to 5 were removed" in str(failed.value)


def test_committed_records_only_are_counted_on_request(
    broker: Broker, topic: str, read: Callable[..., DataFrame]
) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": topic})
    producer.init_transactions()
    for end in (producer.commit_transaction, producer.abort_transaction):
        producer.begin_transaction()
        producer.produce(topic, b"x", partition=0)
        producer.flush()
        end()
    assert read().count() == 2
    assert read(**{"kafka.isolation.level": "read_committed"}).count() == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"startingOffset": "earliest"}, "There is no option startingoffset; did you mean startingOffsets?"),
        ({"subscribe": "nowhere"}, "There is no topic nowhere; 'trivium topic list' shows what there is."),
        ({"kafka.bootstrap.servers": "127.0.0.1:1"}, "Nothing listens at 127.0.0.1:1"),
    ],
)
def test_mistake_is_a_sentence_at_the_end_of_sparks_report(
    read: Callable[..., DataFrame], options: dict[str, str], sentence: str
) -> None:
    with pytest.raises(AnalysisException) as refused:
        read(**options).count()
    assert sentence in str(refused.value).splitlines()[-2:][0]


def test_session_that_runs_is_found_again_and_another_master_is_refused(spark: SparkSession) -> None:
    again = session(spark_sql_shuffle_partitions=3)
    try:
        assert again is spark
        assert spark.conf.get("spark.sql.shuffle.partitions") == "3"
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "1")
    with pytest.raises(LaunchError, match=r"A Spark session runs on local\[2\] already, not on local\[1\]"):
        session("local[1]")
    with pytest.raises(LaunchError, match=r"spark\.driver\.memory is 1g in the Spark session that runs"):
        session(spark_driver_memory="3g")
    assert session(spark_driver_memory="1g") is spark
