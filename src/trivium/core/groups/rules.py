"""The broker's settings for groups, read once: none of them changes while the broker runs."""

from typing import NamedTuple

from trivium.core.settings import Settings, whole

_MINUTE_MS = 60_000


class GroupRules(NamedTuple):
    """Named as the settings are; see ``config.broker.groups`` for their defaults."""

    session_timeout_min_ms: int
    session_timeout_max_ms: int
    initial_rebalance_delay_ms: int
    """How long a new group waits for more members before its first generation."""
    size_max: int
    offset_metadata_max: int
    """In characters, in spite of the setting's name: Kafka counts them so."""
    offsets_retention_ms: int
    retention_check_interval_ms: int


def group_rules(settings: Settings) -> GroupRules:
    return GroupRules(
        session_timeout_min_ms=whole(settings.broker, "group.min.session.timeout.ms"),
        session_timeout_max_ms=whole(settings.broker, "group.max.session.timeout.ms"),
        initial_rebalance_delay_ms=whole(settings.broker, "group.initial.rebalance.delay.ms"),
        size_max=whole(settings.broker, "group.max.size"),
        offset_metadata_max=whole(settings.broker, "offset.metadata.max.bytes"),
        offsets_retention_ms=whole(settings.broker, "offsets.retention.minutes") * _MINUTE_MS,
        retention_check_interval_ms=whole(settings.broker, "offsets.retention.check.interval.ms"),
    )
