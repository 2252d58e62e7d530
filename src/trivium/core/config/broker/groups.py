"""Consumer groups and their offsets."""

from typing import Final

from trivium.core.config.definition import CLUSTER_WIDE, INT, INT_MAX, LIST, LONG, SHORT, STRING, Definition
from trivium.core.config.valid import OneOf, at_least, some_of

GROUPS: Final = (
    Definition("group.consumer.assignment.interval.ms", INT, 1000, at_least(0), CLUSTER_WIDE),
    Definition("group.consumer.assignors", LIST, ("uniform", "range"), some_of()),
    Definition("group.consumer.heartbeat.interval.ms", INT, 5000, at_least(1)),
    Definition("group.consumer.max.assignment.interval.ms", INT, 15_000, at_least(0)),
    Definition("group.consumer.max.heartbeat.interval.ms", INT, 15_000, at_least(1)),
    Definition("group.consumer.max.session.timeout.ms", INT, 60_000, at_least(1)),
    Definition("group.consumer.max.size", INT, INT_MAX, at_least(1)),
    Definition(
        "group.consumer.migration.policy",
        STRING,
        "bidirectional",
        OneOf(("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"), ignore_case=True),
    ),
    Definition("group.consumer.min.assignment.interval.ms", INT, 0, at_least(0)),
    Definition("group.consumer.min.heartbeat.interval.ms", INT, 5000, at_least(1)),
    Definition("group.consumer.min.session.timeout.ms", INT, 45_000, at_least(1)),
    Definition("group.consumer.regex.refresh.interval.ms", INT, 600_000, at_least(10_000), internal=True),
    Definition("group.consumer.session.timeout.ms", INT, 45_000, at_least(1)),
    Definition("group.coordinator.append.linger.ms", INT, -1, at_least(-1)),
    Definition("group.coordinator.background.threads", INT, 2, at_least(1)),
    Definition("group.coordinator.cached.buffer.max.bytes", INT, 1_048_588, at_least(524_288), CLUSTER_WIDE),
    Definition(
        "group.coordinator.rebalance.protocols",
        LIST,
        ("classic", "consumer", "streams"),
        some_of("consumer", "classic", "share", "streams"),
    ),
    Definition("group.coordinator.threads", INT, 4, at_least(1)),
    Definition("group.initial.rebalance.delay.ms", INT, 3000),
    Definition("group.max.session.timeout.ms", INT, 1_800_000),
    Definition("group.max.size", INT, INT_MAX, at_least(1)),
    Definition("group.min.session.timeout.ms", INT, 6000),
    Definition("offset.metadata.max.bytes", INT, 4096),
    Definition("offsets.commit.timeout.ms", INT, 5000, at_least(1)),
    Definition("offsets.load.buffer.size", INT, 5_242_880, at_least(1)),
    Definition("offsets.retention.check.interval.ms", LONG, 600_000, at_least(1)),
    Definition("offsets.retention.minutes", INT, 10_080, at_least(1)),
    Definition("offsets.topic.compression.codec", INT, 0),
    Definition("offsets.topic.num.partitions", INT, 50, at_least(1)),
    Definition("offsets.topic.replication.factor", SHORT, 3, at_least(1)),
    Definition("offsets.topic.segment.bytes", INT, 104_857_600, at_least(1)),
)
