"""A topic's options as settings of Kafka: expiry is ``retention.ms``, the size limit is ``retention.bytes``.

Kafka limits a partition, an option the whole topic: each partition gets its share, anew whenever their number
changes. What was asked for is kept beside the settings, because it is finer than they are; as soon as
somebody else has changed a setting, the setting counts.

Who asks for the broker's default expiry gets the retention that its operator has set. If nobody has, that is
for ever, as with Iggy's own servers: Kafka's default of a week would take records away that nobody expects to
lose.
"""

from collections.abc import Mapping
from typing import Final

from trivium.core.commands.streams import SERVER_DEFAULT, UNLIMITED, TopicOptions
from trivium.core.config.broker import UNITS
from trivium.core.faults import Fault, Refused
from trivium.core.settings import Settings

RETENTION_MS: Final = "retention.ms"
RETENTION_BYTES: Final = "retention.bytes"
MAX_MESSAGE_BYTES: Final = "max.message.bytes"
BROKER_RETENTION: Final = "log.retention.ms"
_NO_LIMIT: Final = -1
_LONGEST_US: Final = 1 << 63
"""From here on a time or a size is as good as none."""


def settings_of(options: TopicOptions, partitions: int) -> dict[str, str | None]:
    """The two settings; None for the broker's default."""
    return {
        RETENTION_MS: _text(options.message_expiry_us, _retention_ms(options.message_expiry_us)),
        RETENTION_BYTES: _text(options.size_bytes_max, _retention_bytes(options.size_bytes_max, partitions)),
    }


def _text(asked: int, value: int) -> str | None:
    return None if asked == SERVER_DEFAULT else str(value)


def _retention_ms(expiry_us: int) -> int:
    # Rounded up: nothing goes before its time.
    return _NO_LIMIT if expiry_us >= _LONGEST_US else -(-expiry_us // 1000)


def _retention_bytes(size_bytes_max: int, partitions: int) -> int:
    return _NO_LIMIT if size_bytes_max >= _LONGEST_US else max(1, size_bytes_max // max(1, partitions))


def check_size(options: TopicOptions, segment_bytes: int) -> None:
    """Only whole segments are ever taken away: less than one is a promise that cannot be kept."""
    if options.size_bytes_max != SERVER_DEFAULT and options.size_bytes_max < segment_bytes:
        raise Refused(
            Fault.INVALID_TOPIC_SIZE,
            f"A topic may be limited to {segment_bytes} bytes, which is one segment, or more.",
        )


class OptionsInForce:
    """What holds for a topic now, whoever has set it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def resolved(self, asked: TopicOptions) -> TopicOptions:
        """What a topic gets that asks for this, now and for good."""
        if asked.message_expiry_us != SERVER_DEFAULT or self._has_retention:
            return asked
        return asked._replace(message_expiry_us=UNLIMITED)

    @property
    def _has_retention(self) -> bool:
        """Whether an operator has set how long topics keep their records."""
        names = [name for name, _ in UNITS[BROKER_RETENTION]]
        return any(name in values for _, values in self._settings.layers for name in names)

    def segment_bytes(self, topic: str) -> int:
        return self._number(topic, "segment.bytes")

    def batch_bytes_max(self, topic: str) -> int:
        return self._number(topic, MAX_MESSAGE_BYTES)

    def message_expiry_us(self, topic: str, asked: TopicOptions) -> int:
        policy = self._settings.topic(topic, "cleanup.policy")
        if isinstance(policy, tuple) and "delete" not in policy:
            return UNLIMITED
        retention_ms = self._number(topic, RETENTION_MS)
        if asked.message_expiry_us != SERVER_DEFAULT and retention_ms == _retention_ms(
            asked.message_expiry_us
        ):
            return asked.message_expiry_us
        return UNLIMITED if retention_ms < 0 else retention_ms * 1000

    def size_bytes_max(self, topic: str, asked: TopicOptions, partitions: int) -> int:
        retention_bytes = self._number(topic, RETENTION_BYTES)
        if asked.size_bytes_max != SERVER_DEFAULT and retention_bytes == _retention_bytes(
            asked.size_bytes_max, partitions
        ):
            return asked.size_bytes_max
        return UNLIMITED if retention_bytes < 0 else retention_bytes * max(1, partitions)

    def _number(self, topic: str, name: str) -> int:
        value = self._settings.topic(topic, name)
        assert isinstance(value, int), f"{name} is {value!r}"
        return value


def changes(own: Mapping[str, str], wanted: Mapping[str, str | None]) -> dict[str, str | None]:
    """Those of the wanted settings that a topic does not have already."""
    return {name: value for name, value in wanted.items() if own.get(name) != value}
