"""Options and columns of a write are those of Spark's Kafka sink; what is wrong is said in a sentence."""

import pytest
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from tests.spark.connector.reads import lower, schema
from trivium.client.delivery import ACKS_ALL
from trivium.records.compression import Compression
from trivium.spark.connector.errors import BadOption
from trivium.spark.connector.sent_columns import check_columns
from trivium.spark.connector.source import TriviumDataSource
from trivium.spark.connector.write_options import Guarantee, WriteOptions, parse_write_options

BROKER = {"kafka.bootstrap.servers": "127.0.0.1:9092"}


def stream(**options: object) -> WriteOptions:
    return parse_write_options(lower({**BROKER, **options}), is_stream=True)


def test_options_of_the_kafka_sink_are_taken() -> None:
    assert stream() == WriteOptions("127.0.0.1:9092")
    told = stream(
        topic="t",
        includeHeaders="true",
        checkpointLocation="c",
        deliveryGuarantee="At-Least-Once",
        **{"kafka.acks": "1", "kafka.compression.type": "zstd", "kafka.linger.ms": "5"},
    )
    assert (told.topic, told.acks, told.compression) == ("t", 1, Compression.ZSTD)
    assert told.guarantee is Guarantee.AT_LEAST_ONCE
    assert stream(**{"kafka.acks": "-1"}).acks == ACKS_ALL


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"topics": "t"}, "There is no option topics for writing; did you mean topic?"),
        ({"path": "t"}, "name it by the option topic"),
        ({"topic": " "}, "topic is empty"),
        ({"deliveryGuarantee": "twice"}, "exactly-once or at-least-once, not 'twice'"),
        ({"kafka.acks": "2"}, "kafka.acks is all, 1 or 0, not '2'"),
        ({"kafka.acks": "1"}, "kafka.acks must be all for exactly-once"),
        ({"kafka.compression.type": "rar"}, "none, gzip, snappy, lz4, zstd, not 'rar'"),
        ({"kafka.value.serializer": "x"}, "values are written as bytes"),
        ({"kafka.linger": "5"}, "kafka.linger is not known to this writer"),
        ({"kafka.security.protocol": "TELNET"}, "PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL, not 'TELNET'"),
        ({"kafka.bootstrap.servers": ""}, "kafka.bootstrap.servers is empty"),
    ],
)
def test_wrong_option_is_one_sentence(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadOption, match=sentence):
        stream(**options)


def test_broker_must_be_named_and_a_batch_promises_no_more_than_it_can() -> None:
    with pytest.raises(BadOption, match="Say where the records go"):
        parse_write_options({"topic": "t"}, is_stream=True)
    with pytest.raises(BadOption, match="at least once"):
        parse_write_options(lower({**BROKER, "deliveryGuarantee": "exactly-once"}), is_stream=False)


def test_columns_are_checked_before_anything_is_sent() -> None:
    check_columns(schema("key", "value", "headers", "partition", "topic", "offset"), None)
    with pytest.raises(BadOption, match="made of a column value"):
        check_columns(schema("key"), "t")
    with pytest.raises(BadOption, match="by the option topic, or by a column topic"):
        check_columns(schema("value"), None)
    wrong = StructType([StructField("value", IntegerType()), StructField("topic", StringType())])
    with pytest.raises(BadOption, match="Column value is INT, but must be STRING or BINARY; cast it"):
        check_columns(wrong, None)


def test_topic_is_never_overwritten() -> None:
    source = TriviumDataSource(lower({**BROKER, "topic": "t"}))
    for make in (source.writer, source.streamWriter):
        with pytest.raises(BadOption, match="only appended to"):
            make(schema("value"), True)
