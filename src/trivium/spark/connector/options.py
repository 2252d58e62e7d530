"""The options of ``format("trivium")``: those of Spark's Kafka source, and ``directory``.

Spark hands option names over in lower case. An unknown one is an error: Spark's Kafka source passes over a
misspelt ``startingOffset`` in silence, and reads something else.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from trivium.spark.connector.bounds import (
    FROM_EARLIEST,
    TO_LATEST,
    Bound,
    NoMatch,
    names_earliest,
    names_latest,
    parse_bound,
)
from trivium.spark.connector.errors import BadOption
from trivium.spark.connector.kafka_options import PREFIX, KafkaOptions, parse_count, parse_kafka_options
from trivium.spark.connector.subscription import Subscription, parse_subscription
from trivium.spark.connector.write_options import NAMES as WRITE_NAMES

POLL_TIMEOUT_MS: Final = 120_000
"""How long a task waits for records that should be there, and a stream for a broker that is away: Spark's
``spark.network.timeout``, which its Kafka source waits for."""

MAX_TRIGGER_DELAY_S: Final = 15 * 60.0
"""How long ``minOffsetsPerTrigger`` may hold records back, as in Spark."""

_NAMES: Final = (
    "directory",
    "subscribe",
    "subscribePattern",
    "assign",
    "startingOffsets",
    "startingOffsetsByTimestamp",
    "startingTimestamp",
    "startingOffsetsByTimestampStrategy",
    "endingOffsets",
    "endingOffsetsByTimestamp",
    "endingTimestamp",
    "failOnDataLoss",
    "includeHeaders",
    "minPartitions",
    "maxRecordsPerPartition",
    "maxOffsetsPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "kafkaConsumer.pollTimeoutMs",
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
    "groupIdPrefix",
)
"""The last three are taken without effect: the client has patience of its own, and joins no group."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    subscription: Subscription
    starting: Bound
    ending: Bound
    no_match: NoMatch = NoMatch.ERROR
    directory: str | None = None
    kafka: KafkaOptions = field(default_factory=KafkaOptions)
    fail_on_data_loss: bool = True
    partitions_min: int | None = None
    partition_records_max: int | None = None
    trigger_offsets_max: int | None = None
    trigger_offsets_min: int | None = None
    trigger_delay_s: float = MAX_TRIGGER_DELAY_S
    poll_timeout_ms: int = POLL_TIMEOUT_MS


def parse_options(given: Mapping[str, str], *, is_stream: bool) -> ReadOptions:
    """The options of a read, checked; whatever is wrong is a ``BadOption``."""
    options = {name.lower(): text for name, text in given.items()}
    _refuse_unknown(options)
    kafka = parse_kafka_options(options)
    directory = options.get("directory")
    if directory is None and kafka.bootstrap is None:
        raise BadOption(
            "Say where the records are: kafka.bootstrap.servers as HOST:PORT, or directory as a path."
        )
    if directory is not None and kafka.bootstrap is not None:
        raise BadOption("Records come from kafka.bootstrap.servers or from directory; leave one of them out.")
    if directory is not None and is_stream:
        raise BadOption(
            "A directory is read as a batch; for a stream name a broker by kafka.bootstrap.servers."
        )
    starting = parse_bound("starting", options, TO_LATEST if is_stream else FROM_EARLIEST)
    ending = parse_bound("ending", options, TO_LATEST)
    _check_bounds(options, starting, ending, is_stream)
    minimum, maximum = _count(options, "minOffsetsPerTrigger"), _count(options, "maxOffsetsPerTrigger")
    if minimum is not None and maximum is not None and minimum > maximum:
        raise BadOption(
            f"minOffsetsPerTrigger {minimum} is more than maxOffsetsPerTrigger {maximum}; lower the one or "
            "raise the other."
        )
    return ReadOptions(
        subscription=parse_subscription(options),
        starting=starting,
        ending=ending,
        no_match=_strategy(options),
        directory=directory,
        kafka=kafka,
        fail_on_data_loss=_flag(options, "failOnDataLoss", default=True),
        partitions_min=_count(options, "minPartitions"),
        partition_records_max=_count(options, "maxRecordsPerPartition"),
        trigger_offsets_max=maximum,
        trigger_offsets_min=minimum,
        trigger_delay_s=_duration_s(options, "maxTriggerDelay", MAX_TRIGGER_DELAY_S),
        poll_timeout_ms=_count(options, "kafkaConsumer.pollTimeoutMs") or POLL_TIMEOUT_MS,
    )


def wants_headers(given: Mapping[str, str]) -> bool:
    """What the schema needs to know, before it is clear whether a batch or a stream is read."""
    options = {name.lower(): text for name, text in given.items()}
    _refuse_unknown(options, WRITE_NAMES)  # Spark asks for the schema of what is written, too.
    return _flag(options, "includeHeaders", default=False)


def _refuse_unknown(options: Mapping[str, str], others: Sequence[str] = ()) -> None:
    known = {name.lower(): name for name in (*_NAMES, *others)}
    for name in options:
        if name in known or name.startswith(PREFIX):
            continue
        if name == "path":
            raise BadOption("load() takes no path here; name topics by subscribe.")
        near = difflib.get_close_matches(name, [*known, "kafka.bootstrap.servers"], n=1)
        hint = (
            f"did you mean {known.get(near[0], near[0])}?" if near else "docs/spark.md lists those there are."
        )
        raise BadOption(f"There is no option {name}; {hint}")


def _check_bounds(options: Mapping[str, str], starting: Bound, ending: Bound, is_stream: bool) -> None:
    if is_stream:
        for name in ("endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp"):
            if name.lower() in options:
                raise BadOption(
                    f"{name} ends a batch; a stream goes on. Use the trigger availableNow to stop at the end."
                )
        return
    if names_latest(starting):
        raise BadOption("A batch that starts at latest would be empty; choose another startingOffsets.")
    if names_earliest(ending):
        raise BadOption("A batch that ends at earliest would be empty; choose another endingOffsets.")


def _strategy(options: Mapping[str, str]) -> NoMatch:
    name = "startingOffsetsByTimestampStrategy"
    text = options.get(name.lower(), NoMatch.ERROR.value)
    try:
        return NoMatch(text.strip().lower())
    except ValueError as error:
        raise BadOption(f"{name} is error or latest, not {text!r}.") from error


def _count(options: Mapping[str, str], name: str) -> int | None:
    text = options.get(name.lower())
    return None if text is None else parse_count(name, text)


def _flag(options: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = options.get(name.lower())
    if text is None:
        return default
    if text.strip().lower() not in ("true", "false"):
        raise BadOption(f"{name} is true or false, not {text!r}.")
    return text.strip().lower() == "true"


_UNITS_S: Final = {"ms": 0.001, "": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
"""As Spark reads times: milliseconds unless a unit is there."""


def _duration_s(options: Mapping[str, str], name: str, default_s: float) -> float:
    text = options.get(name.lower())
    if text is None:
        return default_s
    found = re.fullmatch(r"(\d+)\s*([a-z]*)", text.strip().lower())
    if found is None or found[2] not in _UNITS_S:
        raise BadOption(f"{name} wants a time such as 30s or 15m, not {text!r}.")
    return int(found[1]) * _UNITS_S[found[2]]
