"""Options are those of Spark's Kafka source; whatever is wrong with one is said in a sentence."""

import pytest

from tests.spark.connector.reads import lower
from trivium.client.offsets import EARLIEST, LATEST, Isolation
from trivium.client.topology import TopicPartition
from trivium.spark.connector.bounds import AtOffsets, AtTimes, Everywhere, NoMatch
from trivium.spark.connector.errors import BadOption
from trivium.spark.connector.options import ReadOptions, parse_options, wants_headers
from trivium.spark.connector.subscription import Partitions, Pattern, Topics

BROKER = {"kafka.bootstrap.servers": "127.0.0.1:9092"}


def batch(**options: object) -> ReadOptions:
    return parse_options(lower({**BROKER, "subscribe": "t", **options}), is_stream=False)


def stream(**options: object) -> ReadOptions:
    return parse_options(lower({**BROKER, "subscribe": "t", **options}), is_stream=True)


def test_defaults_are_those_of_the_kafka_source() -> None:
    assert (batch().starting, batch().ending) == (Everywhere(EARLIEST), Everywhere(LATEST))
    assert stream().starting == Everywhere(LATEST)
    assert batch().fail_on_data_loss
    assert batch().kafka.isolation is Isolation.READ_UNCOMMITTED
    assert batch().no_match is NoMatch.ERROR


def test_subscription_is_topics_or_a_pattern_or_partitions() -> None:
    assert batch(subscribe="a, b,a").subscription == Topics(("a", "b"))
    for text, expected in [
        ({"subscribePattern": "a.*"}, Pattern("a.*")),
        ({"assign": '{"a": [1, 0]}'}, Partitions((TopicPartition("a", 1), TopicPartition("a", 0)))),
    ]:
        assert parse_options(lower({**BROKER, **text}), is_stream=False).subscription == expected


def test_bound_of_the_most_specific_option_wins() -> None:
    offsets, times = '{"t": {"0": 5, "1": -2}}', '{"t": {"0": 1000}}'
    assert batch(startingOffsets=offsets).starting == AtOffsets(
        {TopicPartition("t", 0): 5, TopicPartition("t", 1): EARLIEST}
    )
    both = {"startingOffsets": offsets, "startingOffsetsByTimestamp": times}
    assert batch(**both).starting == AtTimes({TopicPartition("t", 0): 1000})
    assert batch(**both, startingTimestamp="7").starting == Everywhere(7)
    assert batch(endingTimestamp="9").ending == Everywhere(9)


def test_kafka_options_reach_the_client() -> None:
    kafka = batch(
        **{
            "kafka.isolation.level": "READ_COMMITTED",
            "kafka.group.id": "g",
            "kafka.request.timeout.ms": "1500",
            "kafka.max.partition.fetch.bytes": "9",
            "kafka.max.poll.records": "1",  # tunes a consumer that is not here
            "kafka.security.protocol": "plaintext",
        }
    ).kafka
    assert (kafka.isolation, kafka.group_id, kafka.timeout_s, kafka.partition_fetch_bytes) == (
        Isolation.READ_COMMITTED,
        "g",
        1.5,
        9,
    )


def test_trigger_delay_is_read_with_its_unit() -> None:
    assert stream(maxTriggerDelay="30s").trigger_delay_s == 30
    assert stream(maxTriggerDelay="15m").trigger_delay_s == 900
    assert stream(maxTriggerDelay="250").trigger_delay_s == 0.25


def test_headers_are_asked_for_by_an_option() -> None:
    assert wants_headers({"includeheaders": "true"})
    assert not wants_headers({})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"startingOffset": "earliest"}, "There is no option startingoffset; did you mean startingOffsets?"),
        ({"kafka.bootstrap.server": "x"}, "kafka.bootstrap.server is not known to this reader; remove it"),
        ({"path": "x"}, "load() takes no path here; name topics by subscribe."),
        (
            {"assign": '{"t": [0]}'},
            "one of subscribe, subscribePattern and assign; not subscribe and assign.",
        ),
        ({"subscribe": " , "}, "subscribe names no topic"),
        (
            {"startingOffsets": "first"},
            "startingOffsets is earliest, latest or JSON with offsets, not 'first'.",
        ),
        ({"startingOffsets": '{"t": 3}'}, "startingOffsets wants a number for each partition"),
        ({"startingOffsets": '{"t": {"0": true}}'}, "startingOffsets wants a number for each partition"),
        ({"startingOffsets": '{"t": {"x": 1}}'}, "startingOffsets wants a number for each partition"),
        ({"startingOffsets": "{}"}, "startingOffsets names no partition"),
        ({"startingOffsets": "{"}, "startingOffsets is not JSON"),
        ({"startingOffsets": '{"t": {"0": -3}}'}, "knows -2 (earliest) and -1 (latest), but no -3"),
        ({"startingOffsets": "latest"}, "A batch that starts at latest would be empty"),
        ({"startingOffsets": '{"t": {"0": -1}}'}, "A batch that starts at latest would be empty"),
        ({"endingOffsets": "earliest"}, "A batch that ends at earliest would be empty"),
        (
            {"startingTimestamp": "yesterday"},
            "startingTimestamp wants milliseconds since 1970, not 'yesterday'.",
        ),
        ({"startingOffsetsByTimestamp": '{"t": {"0": -1}}'}, "wants milliseconds since 1970, not -1"),
        ({"startingOffsetsByTimestampStrategy": "now"}, "is error or latest, not 'now'."),
        ({"minPartitions": "0"}, "minPartitions wants a whole number from 1 on, not '0'."),
        ({"failOnDataLoss": "no"}, "failOnDataLoss is true or false, not 'no'."),
        ({"maxTriggerDelay": "soon"}, "maxTriggerDelay wants a time such as 30s or 15m, not 'soon'."),
        ({"minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "5"}, "minOffsetsPerTrigger 9 is more than"),
        ({"kafka.isolation.level": "dirty"}, "is read_uncommitted or read_committed, not 'dirty'."),
        ({"kafka.auto.offset.reset": "earliest"}, "say by startingOffsets where a query begins"),
        ({"kafka.security.protocol": "TLS"}, "is one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL, not 'TLS'"),
        (
            {"kafka.security.protocol": "SASL_SSL", "kafka.sasl.mechanism": "GSSAPI"},
            "kafka.sasl.mechanism is one of",
        ),
        ({"kafka.security.protocol": "SASL_SSL"}, "kafka.sasl.jaas.config has no username"),
        (
            {"kafka.security.protocol": "SASL_SSL", "kafka.sasl.mechanism": "PLAIN"},
            "kafka.sasl.jaas.config has no username",
        ),
        ({"kafka.ssl.truststore.location": "x.jks"}, "is read as PEM"),
        ({"kafka.sasl.kerberos.service.name": "x"}, "is not known to this reader; remove it."),
        ({"kafka.group.id": " "}, "kafka.group.id is empty"),
        ({"directory": "/x"}, "from kafka.bootstrap.servers or from directory; leave one of them out."),
    ],
)
def test_wrong_option_is_refused_with_a_sentence(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadOption) as refused:
        batch(**options)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"subscribe": "t"}, "Say where the records are: kafka.bootstrap.servers as HOST:PORT, or directory"),
        (BROKER, "by one of subscribe, subscribePattern and assign; none is there."),
        ({**BROKER, "subscribePattern": "("}, "subscribePattern '(' is no regular expression"),
        ({**BROKER, "assign": '{"t": ["0"]}'}, "assign wants the partitions of each topic"),
        ({**BROKER, "assign": "[]"}, "assign wants a JSON object"),
        ({"directory": "/x", "subscribe": "t"}, "A directory is read as a batch"),
        (
            {**BROKER, "subscribe": "t", "endingOffsets": "latest"},
            "endingOffsets ends a batch; a stream goes on.",
        ),
    ],
)
def test_wrong_options_of_a_stream_are_refused_with_a_sentence(
    options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(BadOption) as refused:
        parse_options(lower(options), is_stream=True)
    assert sentence in str(refused.value)
