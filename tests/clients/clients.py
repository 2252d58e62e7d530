"""The three Python clients that people use, behind one small form, so that a test is written once for all.

Each is set up as its users do it; only what a test is about is set. Where a test is about one client alone it
uses that client itself.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

SECONDS_MAX: Final = 30
"""A client that takes longer has failed."""

LARGE_BYTES: Final = 16 << 20
"""What clients are told to send and take at most, so that only the broker's limits count."""

LIBRDKAFKA: Final[dict[str, Any]] = {
    # It tells of lost connections on the terminal; in tests they are asked for, or of no interest.
    "log_level": 2,
    # And it takes its time before it tries again, which is good for brokers and long for tests.
    "reconnect.backoff.ms": 10,
    "reconnect.backoff.max.ms": 100,
    "retry.backoff.ms": 10,
    "fetch.error.backoff.ms": 10,
}


class Sent(NamedTuple):
    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int | None = None
    partition: int | None = None


class Seen(NamedTuple):
    partition: int
    offset: int
    timestamp_ms: int
    is_append_time: bool
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True)
class Sending:
    """How to produce."""

    compression: str = "none"
    acks: int | str = "all"
    idempotent: bool = False
    linger_ms: int = 5


PLAIN: Final = Sending()


class Client(Protocol):
    name: str
    sends_null_headers: bool

    def produce(
        self, bootstrap: str, topic: str, records: Iterable[Sent], sending: Sending = PLAIN
    ) -> list[tuple[int, int]]:
        """Send records as they come; where each of them is, when all are acknowledged.

        Partition and offset; with ``acks=0`` nobody knows them.
        """
        ...

    def consume(self, bootstrap: str, topic: str, count: int, group: str | None = None) -> list[Seen]:
        """So many records from the beginning, or from where the group is; its offsets are then committed."""
        ...


class ConfluentKafka:
    """librdkafka."""

    name = "confluent-kafka"
    sends_null_headers = True

    def produce(
        self, bootstrap: str, topic: str, records: Iterable[Sent], sending: Sending = PLAIN
    ) -> list[tuple[int, int]]:
        from confluent_kafka import Producer

        producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "compression.type": sending.compression,
                "acks": sending.acks,
                "enable.idempotence": sending.idempotent,
                "linger.ms": sending.linger_ms,
                "message.max.bytes": LARGE_BYTES,
                **LIBRDKAFKA,
            }
        )
        delivered: list[Any] = []

        def note(error: Any, message: Any) -> None:
            assert error is None, error
            delivered.append(message)

        for number, record in enumerate(records):
            options: dict[str, Any] = {"timestamp": record.timestamp_ms} if record.timestamp_ms else {}
            if record.partition is not None:
                options["partition"] = record.partition
            producer.produce(
                topic,
                record.value,
                record.key,
                headers=list(record.headers),
                on_delivery=note,
                **options,
            )
            if number % 1000 == 0:
                producer.poll(0)
        assert producer.flush(SECONDS_MAX) == 0
        return [(message.partition(), message.offset()) for message in delivered]

    def consume(self, bootstrap: str, topic: str, count: int, group: str | None = None) -> list[Seen]:
        from confluent_kafka import OFFSET_BEGINNING, TIMESTAMP_LOG_APPEND_TIME, Consumer, TopicPartition

        consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group or "unused",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "fetch.message.max.bytes": LARGE_BYTES,
                "check.crcs": True,
                **LIBRDKAFKA,
            }
        )
        try:
            if group is None:
                partitions = consumer.list_topics(topic, SECONDS_MAX).topics[topic].partitions
                consumer.assign([TopicPartition(topic, each, OFFSET_BEGINNING) for each in partitions])
            else:
                consumer.subscribe([topic])
            seen: list[Seen] = []
            deadline = time.monotonic() + SECONDS_MAX
            while len(seen) < count and time.monotonic() < deadline:
                messages: list[Any] = consumer.consume(count - len(seen), 0.5)
                for message in messages:
                    assert message.error() is None, message.error()
                    kind, timestamp_ms = message.timestamp()
                    seen.append(
                        Seen(
                            message.partition(),
                            message.offset(),
                            timestamp_ms,
                            kind == TIMESTAMP_LOG_APPEND_TIME,
                            message.key(),
                            message.value(),
                            tuple(message.headers() or ()),
                        )
                    )
            if group is not None:
                consumer.commit(asynchronous=False)
            return seen
        finally:
            consumer.close()


class KafkaPython:
    name = "kafka-python"
    sends_null_headers = False

    def produce(
        self, bootstrap: str, topic: str, records: Iterable[Sent], sending: Sending = PLAIN
    ) -> list[tuple[int, int]]:
        from kafka import KafkaProducer

        producer = KafkaProducer(
            bootstrap_servers=bootstrap,
            compression_type=None if sending.compression == "none" else sending.compression,
            acks=sending.acks,
            enable_idempotence=sending.idempotent,
            linger_ms=sending.linger_ms,
            max_request_size=LARGE_BYTES,
        )
        try:
            futures = [
                producer.send(
                    topic,
                    record.value,
                    record.key,
                    headers=list(record.headers),
                    partition=record.partition,
                    timestamp_ms=record.timestamp_ms,
                )
                for record in records
            ]
            producer.flush(SECONDS_MAX)
            told = [future.get(SECONDS_MAX) for future in futures]
            return [(each.partition, each.offset) for each in told]
        finally:
            producer.close()

    def consume(self, bootstrap: str, topic: str, count: int, group: str | None = None) -> list[Seen]:
        from kafka import KafkaConsumer, TopicPartition

        consumer = KafkaConsumer(
            bootstrap_servers=bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            max_partition_fetch_bytes=LARGE_BYTES,
        )
        try:
            if group is None:
                partitions = consumer.partitions_for_topic(topic) or set()
                consumer.assign([TopicPartition(topic, each) for each in sorted(partitions)])
                consumer.seek_to_beginning()
            else:
                consumer.subscribe([topic])
            seen: list[Seen] = []
            deadline = time.monotonic() + SECONDS_MAX
            while len(seen) < count and time.monotonic() < deadline:
                polled = consumer.poll(500, max_records=count - len(seen))
                seen += [_seen(record) for records in polled.values() for record in records]
            if group is not None:
                consumer.commit()
            return seen
        finally:
            consumer.close()


class AioKafka:
    name = "aiokafka"
    sends_null_headers = True

    def produce(
        self, bootstrap: str, topic: str, records: Iterable[Sent], sending: Sending = PLAIN
    ) -> list[tuple[int, int]]:
        return asyncio.run(self._produce(bootstrap, topic, records, sending))

    async def _produce(
        self, bootstrap: str, topic: str, records: Iterable[Sent], sending: Sending
    ) -> list[tuple[int, int]]:
        from aiokafka import AIOKafkaProducer

        producer = AIOKafkaProducer(
            bootstrap_servers=bootstrap,
            compression_type=None if sending.compression == "none" else sending.compression,
            acks=sending.acks,
            enable_idempotence=sending.idempotent,
            linger_ms=sending.linger_ms,
            max_request_size=LARGE_BYTES,
        )
        await producer.start()
        try:
            futures = [
                await producer.send(
                    topic,
                    record.value,
                    record.key,
                    headers=list(record.headers),
                    partition=record.partition,
                    timestamp_ms=record.timestamp_ms,
                )
                for record in records
            ]
            told = await asyncio.wait_for(asyncio.gather(*futures), SECONDS_MAX)
            return [(each.partition, each.offset) for each in told if each is not None]
        finally:
            await producer.stop()

    def consume(self, bootstrap: str, topic: str, count: int, group: str | None = None) -> list[Seen]:
        return asyncio.run(self._consume(bootstrap, topic, count, group))

    async def _consume(self, bootstrap: str, topic: str, count: int, group: str | None) -> list[Seen]:
        from aiokafka import AIOKafkaConsumer

        consumer = AIOKafkaConsumer(
            topic,
            bootstrap_servers=bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            max_partition_fetch_bytes=LARGE_BYTES,
        )
        await consumer.start()
        try:
            seen: list[Seen] = []
            deadline = time.monotonic() + SECONDS_MAX
            while len(seen) < count and time.monotonic() < deadline:
                polled = await consumer.getmany(timeout_ms=500, max_records=count - len(seen))
                seen += [_seen(record) for records in polled.values() for record in records]
            if group is not None:
                await consumer.commit()
            return seen
        finally:
            await consumer.stop()


def _seen(record: Any) -> Seen:
    """The two pure Python clients name the parts of a record alike."""
    return Seen(
        record.partition,
        record.offset,
        record.timestamp,
        record.timestamp_type == 1,
        record.key,
        record.value,
        tuple((name, value) for name, value in record.headers),
    )


CLIENTS: Final[tuple[Callable[[], Client], ...]] = (ConfluentKafka, KafkaPython, AioKafka)
