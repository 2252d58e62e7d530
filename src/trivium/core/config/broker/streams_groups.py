"""Streams groups (KIP-1071)."""

from typing import Final

from trivium.core.config.definition import CLUSTER_WIDE, INT, INT_MAX, Definition
from trivium.core.config.valid import at_least

STREAMS_GROUPS: Final = (
    Definition("group.streams.assignment.interval.ms", INT, 1000, at_least(0), CLUSTER_WIDE),
    Definition("group.streams.heartbeat.interval.ms", INT, 5000, at_least(1)),
    Definition("group.streams.initial.rebalance.delay.ms", INT, 3000, at_least(0)),
    Definition("group.streams.max.assignment.interval.ms", INT, 15_000, at_least(0)),
    Definition("group.streams.max.heartbeat.interval.ms", INT, 15_000, at_least(1)),
    Definition("group.streams.max.session.timeout.ms", INT, 60_000, at_least(1)),
    Definition("group.streams.max.size", INT, INT_MAX, at_least(1)),
    Definition("group.streams.max.standby.replicas", INT, 2, at_least(0)),
    Definition("group.streams.min.assignment.interval.ms", INT, 0, at_least(0)),
    Definition("group.streams.min.heartbeat.interval.ms", INT, 5000, at_least(1)),
    Definition("group.streams.min.session.timeout.ms", INT, 45_000, at_least(1)),
    Definition("group.streams.num.standby.replicas", INT, 0, at_least(0)),
    Definition("group.streams.session.timeout.ms", INT, 45_000, at_least(1)),
)
