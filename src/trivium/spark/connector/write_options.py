"""The options of a write with ``format("trivium")``: those of Spark's Kafka sink, and ``deliveryGuarantee``.

Options that begin with ``kafka.`` are what a Kafka producer would be told. As with reads, one that is not
known is an error, so that nobody believes in a setting that does nothing.
"""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from trivium.client.cluster import TIMEOUT_S
from trivium.client.delivery import ACKS_ALL
from trivium.client.producer import DELIVERY_TIMEOUT_S
from trivium.client.security import PLAINTEXT, Security
from trivium.records.compression import Compression
from trivium.spark.connector.errors import BadOption
from trivium.spark.connector.kafka_options import PREFIX, parse_count
from trivium.spark.connector.security import NAMES as SECURITY_NAMES
from trivium.spark.connector.security import security_of

NAMES: Final = ("topic", "deliveryGuarantee", "includeHeaders", "checkpointLocation")
"""The last two are taken without effect: headers are written where their column is there, and the checkpoint
is Spark's business."""


class Guarantee(Enum):
    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"


@dataclass(frozen=True, slots=True)
class WriteOptions:
    bootstrap: str
    topic: str | None = None
    guarantee: Guarantee | None = None
    """None is the best that the broker offers."""

    client_id: str = "trivium-spark"
    acks: int = ACKS_ALL
    compression: Compression = Compression.NONE
    timeout_s: float = TIMEOUT_S
    delivery_timeout_s: float = DELIVERY_TIMEOUT_S
    security: Security = PLAINTEXT


def parse_write_options(given: Mapping[str, str], *, is_stream: bool) -> WriteOptions:
    """The options of a write, checked; whatever is wrong is a ``BadOption``."""
    options = {name.lower(): text for name, text in given.items()}
    _refuse_unknown(options)
    values = _kafka_values(options)
    if "bootstrap" not in values:
        raise BadOption("Say where the records go: kafka.bootstrap.servers as HOST:PORT.")
    topic = options.get("topic")
    if topic is not None and not topic.strip():
        raise BadOption("topic is empty; give it a value, or leave it out and have a column topic.")
    guarantee = _guarantee(options)
    if not is_stream and guarantee is Guarantee.EXACTLY_ONCE:
        raise BadOption(
            "A batch is written at least once: Spark does not say whether it was written before. "
            "Leave deliveryGuarantee out, or write a stream with the trigger availableNow."
        )
    if guarantee is not Guarantee.AT_LEAST_ONCE and is_stream and values.get("acks", ACKS_ALL) != ACKS_ALL:
        raise BadOption("kafka.acks must be all for exactly-once; or set deliveryGuarantee to at-least-once.")
    return WriteOptions(topic=topic, guarantee=guarantee, security=security_of(options), **values)


def _refuse_unknown(options: Mapping[str, str]) -> None:
    known = {name.lower(): name for name in NAMES}
    for name in options:
        if name in known or name.startswith(PREFIX):
            continue
        if name == "path":
            raise BadOption("A topic has no path; name it by the option topic.")
        near = difflib.get_close_matches(name, [*known, "kafka.bootstrap.servers"], n=1)
        hint = (
            f"did you mean {known.get(near[0], near[0])}?" if near else "docs/spark.md lists those there are."
        )
        raise BadOption(f"There is no option {name} for writing; {hint}")


def _guarantee(options: Mapping[str, str]) -> Guarantee | None:
    text = options.get("deliveryguarantee")
    if text is None:
        return None
    try:
        return Guarantee(text.strip().lower())
    except ValueError as error:
        raise BadOption(f"deliveryGuarantee is exactly-once or at-least-once, not {text!r}.") from error


def _kafka_values(options: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for option, text in options.items():
        if not option.startswith(PREFIX):
            continue
        name = option.removeprefix(PREFIX)
        if name in _SETTINGS:
            field, parse = _SETTINGS[name]
            values[field] = parse(option, text.strip())
        elif name in _ELSEWHERE:
            raise BadOption(f"{option} cannot be set: {_ELSEWHERE[name]}.")
        elif name not in SECURITY_NAMES and name not in _WITHOUT_EFFECT:
            raise BadOption(
                f"{option} is not known to this writer; remove it. docs/spark.md lists what is taken."
            )
    return values


def _text(option: str, text: str) -> str:
    if not text:
        raise BadOption(f"{option} is empty; give it a value, or leave it out.")
    return text


def _acks(option: str, text: str) -> int:
    acks = {"all": ACKS_ALL, "-1": ACKS_ALL, "1": 1, "0": 0}.get(text.lower())
    if acks is None:
        raise BadOption(f"{option} is all, 1 or 0, not {text!r}.")
    return acks


def _compression(option: str, text: str) -> Compression:
    try:
        return Compression[text.upper()]
    except KeyError as error:
        names = ", ".join(each.name.lower() for each in Compression)
        raise BadOption(f"{option} is one of {names}, not {text!r}.") from error


def _seconds(option: str, text: str) -> float:
    return parse_count(option, text) / 1000


_SETTINGS: Final[Mapping[str, tuple[str, Callable[[str, str], Any]]]] = {
    "bootstrap.servers": ("bootstrap", _text),
    "client.id": ("client_id", _text),
    "acks": ("acks", _acks),
    "compression.type": ("compression", _compression),
    "request.timeout.ms": ("timeout_s", _seconds),
    "delivery.timeout.ms": ("delivery_timeout_s", _seconds),
}

_ELSEWHERE: Final[Mapping[str, str]] = {
    "key.serializer": "keys are written as bytes; cast the column",
    "value.serializer": "values are written as bytes; cast the column",
    "partitioner.class": "name partitions by a column partition",
    "transactional.id": "a query names its transactions itself",
    "interceptor.classes": "rows are Spark's to change",
}

_WITHOUT_EFFECT: Final = frozenset(
    {
        "batch.size",
        "buffer.memory",
        "client.dns.lookup",
        "connections.max.idle.ms",
        "enable.idempotence",
        "linger.ms",
        "max.block.ms",
        "max.in.flight.requests.per.connection",
        "max.request.size",
        "metadata.max.age.ms",
        "metadata.max.idle.ms",
        "receive.buffer.bytes",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "retries",
        "retry.backoff.max.ms",
        "retry.backoff.ms",
        "send.buffer.bytes",
        "socket.connection.setup.timeout.max.ms",
        "socket.connection.setup.timeout.ms",
        "transaction.timeout.ms",
    }
)
"""They tune a producer that is not here, and no record is different with them."""
