"""Records of every kind, by each client: what goes in comes out (001.43, 001.45, 003.15-003.17)."""

import pytest

from tests.clients.clients import CLIENTS, Client, Sending, Sent
from trivium.testing import Broker

MEGABYTE = 1 << 20
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


@pytest.mark.parametrize("codec", CODECS)
def test_records_compressed_by_one_client_are_read_by_the_others(
    client: Client, codec: str, trivium_session_broker: Broker, trivium_topic: str
) -> None:
    """003.31: compression is the client's; the broker passes batches on as they came."""
    sent = [Sent(b"value %d " % number * 20, b"key") for number in range(200)]
    bootstrap = trivium_session_broker.bootstrap
    client.produce(bootstrap, trivium_topic, sent, Sending(compression=codec))
    for reader in CLIENTS:
        seen = reader().consume(bootstrap, trivium_topic, len(sent))
        assert [(record.offset, record.value) for record in seen] == [
            (offset, record.value) for offset, record in enumerate(sent)
        ]


def test_records_come_back_with_every_part_of_them(
    client: Client, trivium_session_broker: Broker, trivium_topic: str
) -> None:
    """003.17: keys, values and headers, empty and null; 003.16: the client's own timestamps."""
    null_header = (("null", None),) if client.sends_null_headers else ()
    sent = [
        Sent(b"value", b"key", (("a", b"1"), ("a", b"2"), ("empty", b""), *null_header), 1_700_000_000_123),
        Sent(b"", b"", (), 1_700_000_000_001),
        Sent(None, b"deleted", (), 1_700_000_000_002),
        Sent(b"no key", None, (("ü", "ü".encode()),), 1_700_000_000_003),
        Sent(bytes(range(256)), b"\x00\xff", (), 1_700_000_000_004),
    ]
    bootstrap = trivium_session_broker.bootstrap
    client.produce(bootstrap, trivium_topic, sent)
    seen = client.consume(bootstrap, trivium_topic, len(sent))
    assert [Sent(record.value, record.key, record.headers, record.timestamp_ms) for record in seen] == sent
    assert not any(record.is_append_time for record in seen)


def test_records_of_a_topic_with_append_time_have_the_brokers_clock(
    client: Client, trivium_session_broker: Broker, trivium_topic: str
) -> None:
    topic = f"{trivium_topic}-append-time"
    trivium_session_broker.create_topic(topic, configs={"message.timestamp.type": "LogAppendTime"})
    bootstrap = trivium_session_broker.bootstrap
    client.produce(bootstrap, topic, [Sent(b"a", timestamp_ms=1_000)])
    (seen,) = client.consume(bootstrap, topic, 1)
    assert seen.is_append_time
    assert seen.timestamp_ms > 1_700_000_000_000


def test_large_records_pass_where_the_topic_allows_them(
    client: Client, trivium_session_broker: Broker, trivium_topic: str
) -> None:
    """003.30: 1 MB is the default, and the topic's ``max.message.bytes`` counts."""
    topic = f"{trivium_topic}-large"
    trivium_session_broker.create_topic(topic, configs={"max.message.bytes": 8 * MEGABYTE})
    sent = [Sent(bytes([number]) * size) for number, size in enumerate((5 * MEGABYTE, 1, 6 * MEGABYTE))]
    bootstrap = trivium_session_broker.bootstrap
    client.produce(bootstrap, topic, sent)
    seen = client.consume(bootstrap, topic, len(sent))
    assert [record.value for record in seen] == [record.value for record in sent]


def test_record_above_the_limit_is_refused_and_the_topic_goes_on(
    client: Client, trivium_session_broker: Broker, trivium_topic: str
) -> None:
    bootstrap = trivium_session_broker.bootstrap
    with pytest.raises(Exception, match=r"(?i)MSG_SIZE_TOO_LARGE|MessageSizeTooLarge|message_too_large"):
        client.produce(bootstrap, trivium_topic, [Sent(bytes(2 * MEGABYTE))])
    client.produce(bootstrap, trivium_topic, [Sent(b"small")])
    assert [record.value for record in trivium_session_broker.records(trivium_topic)] == [b"small"]


@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_records_are_written_once_with_every_kind_of_ack(
    client: Client, acks: int | str, trivium_session_broker: Broker, trivium_topic: str
) -> None:
    sent = [Sent(b"%d" % number) for number in range(100)]
    bootstrap = trivium_session_broker.bootstrap
    client.produce(bootstrap, trivium_topic, sent, Sending(acks=acks))
    seen = client.consume(bootstrap, trivium_topic, len(sent))
    assert [record.value for record in seen] == [record.value for record in sent]


def test_records_of_an_idempotent_producer_are_written_once_in_order(
    client: Client, trivium_session_broker: Broker, trivium_topic: str
) -> None:
    """003.32: producer id, epoch and sequence; many small batches, several in flight."""
    sent = [Sent(b"%d" % number) for number in range(2_000)]
    bootstrap = trivium_session_broker.bootstrap
    told = client.produce(bootstrap, trivium_topic, sent, Sending(idempotent=True, linger_ms=0))
    assert [offset for _, offset in told] == list(range(len(sent)))
    assert [record.value for record in trivium_session_broker.records(trivium_topic)] == [
        record.value for record in sent
    ]


def test_records_go_to_all_of_a_thousand_partitions(
    client: Client, trivium_session_broker: Broker, trivium_topic: str
) -> None:
    topic = f"{trivium_topic}-thousand"
    trivium_session_broker.create_topic(topic, partitions=1_000)
    sent = [Sent(b"%d" % number, partition=number) for number in range(1_000)]
    bootstrap = trivium_session_broker.bootstrap
    told = client.produce(bootstrap, topic, sent)
    assert sorted(told) == [(number, 0) for number in range(1_000)]
    seen = client.consume(bootstrap, topic, len(sent))
    assert sorted((record.partition, record.value) for record in seen) == [
        (record.partition, record.value) for record in sent
    ]


def test_topic_is_made_by_the_first_record_that_is_sent_to_it(
    client: Client, trivium_session_broker: Broker, trivium_topic: str
) -> None:
    topic = f"{trivium_topic}-made-by-it"
    client.produce(trivium_session_broker.bootstrap, topic, [Sent(b"first")])
    assert [record.value for record in trivium_session_broker.records(topic)] == [b"first"]
