"""Settings of groups. Where a group has none of its own, the broker's counts."""

from collections.abc import Mapping
from typing import Final

from trivium.core.config.definition import BOOLEAN, CLUSTER_WIDE, INT, STRING, Definition, ValueType
from trivium.core.config.explanations import GROUPS
from trivium.core.config.valid import OffsetReset, Rule, Value, at_least, one_of

_OF_GROUPS_ONLY: Final = (
    "share.auto.offset.reset",
    "share.isolation.level",
    "share.renew.acknowledge.enable",
)
"""What the broker has no setting for; for all others it has one of the same name behind ``group.``."""


def _row(name: str, kind: ValueType, default: Value, rule: Rule | None = None) -> Definition:
    broker_name = None if name in _OF_GROUPS_ONLY else f"group.{name}"
    return Definition(name, kind, default, rule, CLUSTER_WIDE, broker_name, doc=GROUPS[name])


_ROWS: Final = (
    _row("consumer.assignment.interval.ms", INT, 1000, at_least(0)),
    _row("consumer.heartbeat.interval.ms", INT, 5000, at_least(1)),
    _row("consumer.session.timeout.ms", INT, 45_000, at_least(1)),
    _row("share.assignment.interval.ms", INT, 1000, at_least(0)),
    _row("share.auto.offset.reset", STRING, "latest", OffsetReset()),
    _row("share.delivery.count.limit", INT, 5, at_least(2)),
    _row("share.heartbeat.interval.ms", INT, 5000, at_least(1)),
    _row("share.isolation.level", STRING, "read_uncommitted", one_of("read_committed", "read_uncommitted")),
    _row("share.partition.max.record.locks", INT, 2000, at_least(100)),
    _row("share.record.lock.duration.ms", INT, 30_000, at_least(1000)),
    _row("share.renew.acknowledge.enable", BOOLEAN, True),
    _row("share.session.timeout.ms", INT, 45_000, at_least(1)),
    _row("streams.assignment.interval.ms", INT, 1000, at_least(0)),
    _row("streams.heartbeat.interval.ms", INT, 5000, at_least(1)),
    _row("streams.initial.rebalance.delay.ms", INT, 3000, at_least(0)),
    _row("streams.num.standby.replicas", INT, 0, at_least(0)),
    _row("streams.session.timeout.ms", INT, 45_000, at_least(1)),
)

GROUP: Final[Mapping[str, Definition]] = {row.name: row for row in _ROWS}
