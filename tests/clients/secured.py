"""Clients that come in by encrypted and guarded doors: how each of them spells it, and one round trip."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.clients.clients import LIBRDKAFKA, SECONDS_MAX


@dataclass(frozen=True)
class Secured:
    """What a client has to know besides the address."""

    protocol: str = "PLAINTEXT"
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    mechanism: str | None = None
    username: str | None = None
    password: str | None = None


class Refused(Exception):
    """The client did not get in."""


Trip = Callable[[str, Secured, str, list[bytes]], list[bytes]]
"""Sends values to a topic by one connection, and reads as many back by another; ``Refused`` for those who may
not."""


def by_confluent(bootstrap: str, secured: Secured, topic: str, values: list[bytes]) -> list[bytes]:
    from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition

    errors: list[Any] = []
    fatal = (KafkaError._AUTHENTICATION, KafkaError._SSL, KafkaError.TOPIC_AUTHORIZATION_FAILED)

    def note(error: Any) -> None:
        if error.code() in fatal or "SSL" in error.str():
            errors.append(error)

    options = confluent_options(bootstrap, secured) | {"error_cb": note}
    producer = Producer(options | {"message.timeout.ms": SECONDS_MAX * 1000})
    delivered: list[Any] = []
    for value in values:
        producer.produce(topic, value, partition=0, on_delivery=lambda error, _m: delivered.append(error))
    deadline = time.monotonic() + SECONDS_MAX
    while len(delivered) < len(values) and not errors and time.monotonic() < deadline:
        producer.poll(0.05)
    if errors or any(delivered):
        producer.purge()
        raise Refused(str(errors or delivered))
    assert len(delivered) == len(values)
    consumer = Consumer(options | {"group.id": "unused"})
    try:
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        seen: list[bytes] = []
        while len(seen) < len(values):
            message = consumer.poll(SECONDS_MAX)
            assert message is not None, "no record came in time"
            assert message.error() is None, message.error()
            seen.append(message.value() or b"")
        return seen
    finally:
        consumer.close()


def confluent_options(bootstrap: str, secured: Secured) -> dict[str, Any]:
    options = {
        "bootstrap.servers": bootstrap,
        "security.protocol": secured.protocol,
        "ssl.ca.location": _text(secured.ca),
        "ssl.certificate.location": _text(secured.certificate),
        "ssl.key.location": _text(secured.key),
        "sasl.mechanism": secured.mechanism,
        "sasl.username": secured.username,
        "sasl.password": secured.password,
        **LIBRDKAFKA,
    }
    return {name: value for name, value in options.items() if value is not None}


def by_kafka_python(bootstrap: str, secured: Secured, topic: str, values: list[bytes]) -> list[bytes]:
    from kafka import KafkaConsumer, KafkaProducer, TopicPartition
    from kafka.errors import KafkaError

    options = kafka_python_options(bootstrap, secured)
    try:
        producer = KafkaProducer(**options, max_block_ms=SECONDS_MAX * 1000)
        try:
            for future in [producer.send(topic, value, partition=0) for value in values]:
                future.get(SECONDS_MAX)
        finally:
            producer.close(timeout=5)
        consumer = KafkaConsumer(**options, auto_offset_reset="earliest")
    except KafkaError as error:
        raise Refused(str(error)) from error
    try:
        consumer.assign([TopicPartition(topic, 0)])
        seen: list[bytes] = []
        deadline = time.monotonic() + SECONDS_MAX
        while len(seen) < len(values):
            assert time.monotonic() < deadline, "no record came in time"
            for records in consumer.poll(1000).values():
                seen += [record.value for record in records]
        return seen
    finally:
        consumer.close()


def kafka_python_options(bootstrap: str, secured: Secured) -> dict[str, Any]:
    options = {
        "bootstrap_servers": bootstrap,
        "security_protocol": secured.protocol,
        "ssl_cafile": _text(secured.ca),
        "ssl_certfile": _text(secured.certificate),
        "ssl_keyfile": _text(secured.key),
        "sasl_mechanism": secured.mechanism,
        "sasl_plain_username": secured.username,
        "sasl_plain_password": secured.password,
    }
    return {name: value for name, value in options.items() if value is not None}


def by_aiokafka(bootstrap: str, secured: Secured, topic: str, values: list[bytes]) -> list[bytes]:
    return asyncio.run(asyncio.wait_for(_by_aiokafka(bootstrap, secured, topic, values), SECONDS_MAX))


async def _by_aiokafka(bootstrap: str, secured: Secured, topic: str, values: list[bytes]) -> list[bytes]:
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
    from aiokafka.errors import KafkaError
    from aiokafka.helpers import create_ssl_context

    options = kafka_python_options(bootstrap, secured)
    files = {name: options.pop(name, None) for name in ("ssl_cafile", "ssl_certfile", "ssl_keyfile")}
    if secured.protocol.endswith("SSL"):
        options["ssl_context"] = create_ssl_context(
            cafile=files["ssl_cafile"], certfile=files["ssl_certfile"], keyfile=files["ssl_keyfile"]
        )
    producer = AIOKafkaProducer(**options)
    try:
        await producer.start()
        for value in values:
            await producer.send_and_wait(topic, value, partition=0)
    except KafkaError as error:
        raise Refused(str(error)) from error
    finally:
        await producer.stop()
    consumer = AIOKafkaConsumer(**options, auto_offset_reset="earliest")
    await consumer.start()
    try:
        consumer.assign([TopicPartition(topic, 0)])
        return [(await consumer.getone()).value for _ in values]
    finally:
        await consumer.stop()


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


TRIPS: Final[dict[str, Trip]] = {
    "confluent-kafka": by_confluent,
    "kafka-python": by_kafka_python,
    "aiokafka": by_aiokafka,
}
