"""How a log behaves, from the settings that people write: Kafka's names, values as text.

A topic's own setting wins; where it has none the broker's counts, under the broker's name for it, and
where that has none either, the default. Settings that do not concern a log are passed over in silence.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from trivium.log.settings import LogSettings
from trivium.wire.errors import DecodeError

_SECOND_MS: Final = 1000
_MINUTE_MS: Final = 60 * _SECOND_MS
_HOUR_MS: Final = 60 * _MINUTE_MS


def _double(text: str) -> float:
    """A number as Java writes it: it may say of itself that it is a double or a float."""
    return float(text.strip().rstrip("dDfF"))


def _truth(text: str) -> bool:
    return {"true": True, "false": False}[text.strip().lower()]


class _Setting(NamedTuple):
    """One field of ``LogSettings``: its name for topics, if any, and for brokers, first the strongest.

    A broker may say a time in larger units; each of its names comes with the unit in terms of ours.
    """

    topic_name: str | None
    broker_names: tuple[tuple[str, int], ...]
    parse: Callable[[str], Any] = int


_SETTINGS: Final[dict[str, _Setting]] = {
    "segment_bytes": _Setting("segment.bytes", (("log.segment.bytes", 1),)),
    "segment_ms": _Setting("segment.ms", (("log.roll.ms", 1), ("log.roll.hours", _HOUR_MS))),
    "segment_jitter_ms": _Setting(
        "segment.jitter.ms", (("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", _HOUR_MS))
    ),
    "preallocate": _Setting("preallocate", (("log.preallocate", 1),), _truth),
    "segment_index_bytes": _Setting("segment.index.bytes", (("log.index.size.max.bytes", 1),)),
    "index_interval_bytes": _Setting("index.interval.bytes", (("log.index.interval.bytes", 1),)),
    "retention_ms": _Setting(
        "retention.ms",
        (("log.retention.ms", 1), ("log.retention.minutes", _MINUTE_MS), ("log.retention.hours", _HOUR_MS)),
    ),
    "retention_bytes": _Setting("retention.bytes", (("log.retention.bytes", 1),)),
    "min_cleanable_dirty_ratio": _Setting(
        "min.cleanable.dirty.ratio", (("log.cleaner.min.cleanable.ratio", 1),), _double
    ),
    "min_compaction_lag_ms": _Setting("min.compaction.lag.ms", (("log.cleaner.min.compaction.lag.ms", 1),)),
    "max_compaction_lag_ms": _Setting("max.compaction.lag.ms", (("log.cleaner.max.compaction.lag.ms", 1),)),
    "delete_retention_ms": _Setting("delete.retention.ms", (("log.cleaner.delete.retention.ms", 1),)),
    "flush_messages": _Setting("flush.messages", (("log.flush.interval.messages", 1),)),
    "flush_ms": _Setting("flush.ms", (("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1))),
    "file_delete_delay_ms": _Setting("file.delete.delay.ms", (("log.segment.delete.delay.ms", 1),)),
    "producer_id_expiration_ms": _Setting(None, (("producer.id.expiration.ms", 1),)),
}

_CLEANUP_POLICY: Final = "cleanup.policy"
_BROKER_CLEANUP_POLICY: Final = "log.cleanup.policy"


def topic_settings(topic: Mapping[str, str], broker: Mapping[str, str]) -> LogSettings:
    """The settings of a topic's logs. ``DecodeError`` for a value that is not what its name asks for."""
    values: dict[str, Any] = {}
    for field, setting in _SETTINGS.items():
        value = _find(setting, topic, broker)
        if value is not None:
            values[field] = value
    policy = topic.get(_CLEANUP_POLICY, broker.get(_BROKER_CLEANUP_POLICY))
    if policy is not None:
        values["compact"], values["delete"] = _cleanup(policy)
    return LogSettings(**values)


def _find(setting: _Setting, topic: Mapping[str, str], broker: Mapping[str, str]) -> Any:
    if setting.topic_name is not None and setting.topic_name in topic:
        return _parse(setting, setting.topic_name, topic[setting.topic_name], 1)
    for name, unit in setting.broker_names:
        if name in broker:
            return _parse(setting, name, broker[name], unit)
    return None


def _parse(setting: _Setting, name: str, text: str, unit: int) -> Any:
    try:
        value = setting.parse(text)
    except (KeyError, ValueError) as error:
        kind = "neither true nor false" if setting.parse is _truth else "no number"
        raise DecodeError(f"{name} = {text!r} is {kind}") from error
    # Below zero is a word ("no limit"), not a quantity that could have a unit.
    return value * unit if unit > 1 and value > 0 else value


def _cleanup(policy: str) -> tuple[bool, bool]:
    """Whether to compact, and whether to delete; a topic may have both, or neither."""
    words = {word.strip() for word in policy.split(",")} - {""}
    if words - {"compact", "delete"}:
        raise DecodeError(f"{_CLEANUP_POLICY} = {policy!r} knows only compact and delete")
    return "compact" in words, "delete" in words
