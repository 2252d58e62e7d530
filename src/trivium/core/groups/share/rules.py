"""The settings of share groups. A group may have its own; the broker says how far they may go."""

import re
from typing import Final

from trivium.core.ports import Log
from trivium.core.settings import Settings, whole

MEMBER_ID_CHARS_MAX: Final = 36
"""Members choose their ids themselves; a UUID as Java prints it is as long as one may be."""

_DURATION: Final = re.compile(
    r"by_duration:\+?P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d*)?)S)?)?", re.IGNORECASE
)
_UNITS_MS: Final = (86_400_000, 3_600_000, 60_000, 1000)


class ShareRules:
    """What concerns all groups is read once; what a group may set for itself, each time."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.size_max = whole(settings.broker, "group.share.max.size")
        self.sessions_max = whole(settings.broker, "group.share.max.share.sessions")
        self.updates_per_snapshot = whole(
            settings.broker, "share.coordinator.snapshot.update.records.per.snapshot"
        )
        self.prune_interval_ms = whole(settings.broker, "share.coordinator.state.topic.prune.interval.ms")

    # -- members ---------------------------------------------------------------------------------

    def session_timeout_ms(self, group_id: str) -> int:
        return self._bounded(group_id, "session.timeout.ms")

    def heartbeat_interval_ms(self, group_id: str) -> int:
        return self._bounded(group_id, "heartbeat.interval.ms")

    def assignment_interval_ms(self, group_id: str) -> int:
        """How long a target assignment stands at least, so that members that come together share the next."""
        return self._bounded(group_id, "assignment.interval.ms")

    # -- records ---------------------------------------------------------------------------------

    def lock_duration_ms(self, group_id: str) -> int:
        return self._bounded(group_id, "record.lock.duration.ms")

    def delivery_count_max(self, group_id: str) -> int:
        return self._bounded(group_id, "delivery.count.limit")

    def locks_max(self, group_id: str) -> int:
        """How many records of one partition may be on their way at a time."""
        return self._bounded(group_id, "partition.max.record.locks")

    def reads_committed(self, group_id: str) -> bool:
        return self._settings.group(group_id, "share.isolation.level") == "read_committed"

    def may_renew(self, group_id: str) -> bool:
        return self._settings.group(group_id, "share.renew.acknowledge.enable") is True

    def first_offset(self, group_id: str, log: Log, wall_ms: int) -> int:
        """Where a group begins that has never read a partition (``share.auto.offset.reset``)."""
        reset = str(self._settings.group(group_id, "share.auto.offset.reset"))
        if reset == "earliest":
            return log.log_start_offset
        end = log.last_stable_offset if self.reads_committed(group_id) else log.high_watermark
        duration = _DURATION.fullmatch(reset)
        if duration is None:
            return end
        ago_ms = sum(
            float(part or 0) * unit_ms for part, unit_ms in zip(duration.groups(), _UNITS_MS, strict=True)
        )
        found = log.first_at_or_after(wall_ms - int(ago_ms))
        return end if found is None else min(found.offset, end)

    def _bounded(self, group_id: str, name: str) -> int:
        return self._settings.bounded(group_id, "share", name)
