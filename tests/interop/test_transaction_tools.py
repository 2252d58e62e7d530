"""Kafka's ``kafka-transactions`` at work on our broker: what hangs is found, ended and fenced (003.33, R14).

What it prints was compared with what it prints about Kafka 4.3.1, good and bad input alike.
"""

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from tests.golden.transaction_talk import Producer as RawProducer
from tests.golden.transaction_talk import TransactionTalk
from tests.interop.brokers import Restartable
from tests.interop.kafka import Kafka

pytestmark = pytest.mark.interop

TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"
SECONDS_MAX = 60
UNVERIFIED = ("--set", "transaction.partition.verification.enable=false")
"""As brokers were before Kafka 3.6: a record of a transaction that the coordinator does not know is taken."""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restartable]:
    broker = Restartable(tmp_path_factory.mktemp("broker"), *UNVERIFIED)
    with broker:
        yield broker


def rows(kafka: Kafka, broker: Restartable, *arguments: str) -> list[list[str]]:
    """A table without its heading."""
    printed = kafka.run(TRANSACTIONS, "--bootstrap-server", broker.bootstrap, *arguments)
    return [line.split() for line in printed.splitlines()[1:] if line.strip()]


def committed(broker: Restartable, topic: str) -> list[bytes | None]:
    """What readers of committed records get up to the last stable offset."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "reader",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    values: list[bytes | None] = []
    try:
        while True:
            message = consumer.poll(SECONDS_MAX)
            assert message is not None
            if message.error():
                return values
            values.append(message.value())
    finally:
        consumer.close()


def test_transaction_that_hangs_is_found_and_aborted(kafka: Kafka, broker: Restartable) -> None:
    talk = TransactionTalk(broker.bootstrap)
    talk.begin()
    hangs = RawProducer(talk, "hangs")
    [written] = talk.question(hangs.write(), 11).responses[0].partition_responses
    talk.close()
    assert written.error_code == 0
    plain = Producer({"bootstrap.servers": broker.bootstrap})
    plain.produce("t", b"behind", partition=0)
    assert plain.flush(SECONDS_MAX) == 0
    assert committed(broker, "t") == []
    # The batch says that it is from 1970: older than any transaction may become.
    [found] = rows(kafka, broker, "find-hanging", "--topic", "t")
    assert found[:3] == ["t", "0", str(hangs.producer_id)]
    rows(kafka, broker, "abort", "--topic", "t", "--partition", "0", "--start-offset", found[5])
    assert committed(broker, "t") == [b"behind"]
    assert rows(kafka, broker, "find-hanging", "--topic", "t") == []


def test_transaction_is_terminated_by_force_and_its_producer_fenced(
    kafka: Kafka, broker: Restartable
) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "open"})
    producer.init_transactions(SECONDS_MAX)
    producer.begin_transaction()
    producer.produce("forced", b"open", partition=0)
    assert producer.flush(SECONDS_MAX) == 0
    rows(kafka, broker, "forceTerminateTransaction", "--transactionalId", "open")
    [listed] = [row for row in rows(kafka, broker, "list") if row[0] == "open"]
    assert listed[3] in ("CompleteAbort", "Empty")
    with pytest.raises(KafkaException) as refused:
        producer.commit_transaction(SECONDS_MAX)
    assert refused.value.args[0].fatal()
    assert committed(broker, "forced") == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("describe", "--transactional-id", "nobody"), "the ID could not be found"),
        (("list", "--transactional-id-pattern", "["), "INVALID_REGULAR_EXPRESSION"),
        (("abort", "--topic", "t", "--partition", "0", "--start-offset", "77"), "Could not find any open"),
    ],
)
def test_bad_input_is_told_why(
    kafka: Kafka, broker: Restartable, arguments: tuple[str, ...], words: str
) -> None:
    assert words in kafka.refused(TRANSACTIONS, "--bootstrap-server", broker.bootstrap, *arguments)
