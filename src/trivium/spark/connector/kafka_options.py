"""Options that begin with ``kafka.``: what a Kafka consumer would be told, told to our client.

Each is one of four kinds: it sets something here; it tunes a consumer in a way that changes no row, and is
taken without effect; it belongs to Spark or to the rows and is said by another option; or it is refused by
name, so that nobody believes in a setting that does nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trivium.client.cluster import TIMEOUT_S
from trivium.client.fetching import FETCH_BYTES_MAX, MAX_WAIT_MS
from trivium.client.offsets import Isolation
from trivium.client.security import PLAINTEXT, Security
from trivium.spark.connector.errors import BadOption
from trivium.spark.connector.security import NAMES as SECURITY_NAMES
from trivium.spark.connector.security import security_of

PREFIX: Final = "kafka."

PARTITION_FETCH_BYTES: Final = 8 * 1024 * 1024
"""Asked for at once, unless the option says otherwise: eight times what a consumer asks for. A fetch costs
the same for much and for little, and batches of rows are made of it (``rows.ROWS_BYTES``)."""


@dataclass(frozen=True, slots=True)
class KafkaOptions:
    bootstrap: str | None = None
    client_id: str = "trivium-spark"
    group_id: str | None = None
    """The group that shows how far a stream has read."""

    isolation: Isolation = Isolation.READ_UNCOMMITTED
    timeout_s: float = TIMEOUT_S
    max_wait_ms: int = MAX_WAIT_MS
    fetch_bytes_min: int = 1
    fetch_bytes_max: int = FETCH_BYTES_MAX
    partition_fetch_bytes: int = PARTITION_FETCH_BYTES
    security: Security = PLAINTEXT


def parse_kafka_options(options: Mapping[str, str]) -> KafkaOptions:
    """From ``options`` by lower-case names; those without the prefix are not looked at."""
    values: dict[str, Any] = {}
    for name, text in options.items():
        if not name.startswith(PREFIX):
            continue
        name = name.removeprefix(PREFIX)
        if name in _SETTINGS:
            field, parse = _SETTINGS[name]
            values[field] = parse(PREFIX + name, text)
        elif name in _ELSEWHERE:
            raise BadOption(f"kafka.{name} cannot be set: {_ELSEWHERE[name]}.")
        elif name not in SECURITY_NAMES and name not in _WITHOUT_EFFECT:
            raise BadOption(
                f"kafka.{name} is not known to this reader; remove it. docs/spark.md lists what is taken."
            )
    return KafkaOptions(security=security_of(options), **values)


def parse_count(option: str, text: str) -> int:
    """A number from 1 on."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise BadOption(f"{option} wants a whole number from 1 on, not {text!r}.")
    return number


def _text(option: str, text: str) -> str:
    if not text.strip():
        raise BadOption(f"{option} is empty; give it a value, or leave it out.")
    return text.strip()


def _isolation(option: str, text: str) -> Isolation:
    try:
        return Isolation[text.strip().upper()]
    except KeyError as error:
        raise BadOption(f"{option} is read_uncommitted or read_committed, not {text!r}.") from error


def _seconds(option: str, text: str) -> float:
    return parse_count(option, text) / 1000


_SETTINGS: Final[Mapping[str, tuple[str, Callable[[str, str], Any]]]] = {
    "bootstrap.servers": ("bootstrap", _text),
    "client.id": ("client_id", _text),
    "group.id": ("group_id", _text),
    "isolation.level": ("isolation", _isolation),
    "request.timeout.ms": ("timeout_s", _seconds),
    "fetch.max.wait.ms": ("max_wait_ms", parse_count),
    "fetch.min.bytes": ("fetch_bytes_min", parse_count),
    "fetch.max.bytes": ("fetch_bytes_max", parse_count),
    "max.partition.fetch.bytes": ("partition_fetch_bytes", parse_count),
}

_ELSEWHERE: Final[Mapping[str, str]] = {
    "auto.offset.reset": "say by startingOffsets where a query begins",
    "key.deserializer": "keys come as bytes; use cast or a function on the column",
    "value.deserializer": "values come as bytes; use cast or a function on the column",
    "enable.auto.commit": "Spark's checkpoint keeps the offsets; kafka.group.id is the group to show them in",
    "interceptor.classes": "rows are Spark's to change",
}
"""Spark's own Kafka source refuses these, too."""

_WITHOUT_EFFECT: Final = frozenset(
    {
        "allow.auto.create.topics",
        "check.crcs",
        "client.dns.lookup",
        "client.rack",
        "connections.max.idle.ms",
        "default.api.timeout.ms",
        "exclude.internal.topics",
        "group.instance.id",
        "group.protocol",
        "heartbeat.interval.ms",
        "max.poll.interval.ms",
        "max.poll.records",
        "metadata.max.age.ms",
        "partition.assignment.strategy",
        "receive.buffer.bytes",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "retry.backoff.max.ms",
        "retry.backoff.ms",
        "send.buffer.bytes",
        "session.timeout.ms",
        "socket.connection.setup.timeout.max.ms",
        "socket.connection.setup.timeout.ms",
    }
)
"""They tune a consumer that is not here, and no row is different with them."""
