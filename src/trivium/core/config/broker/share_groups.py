"""Share groups (KIP-932) and the coordinator that keeps their state."""

from typing import Final

from trivium.core.config.definition import CLUSTER_WIDE, INT, LIST, SHORT, STRING, Definition
from trivium.core.config.valid import at_least, between, some_of

SHARE_GROUPS: Final = (
    Definition("group.share.assignment.interval.ms", INT, 1000, at_least(0), CLUSTER_WIDE),
    Definition("group.share.assignors", LIST, ("simple",), some_of()),
    Definition("group.share.delivery.count.limit", INT, 5, between(2, 10)),
    Definition("group.share.heartbeat.interval.ms", INT, 5000, at_least(1)),
    Definition("group.share.initialize.retry.interval.ms", INT, 30_000, at_least(1), internal=True),
    Definition("group.share.max.assignment.interval.ms", INT, 15_000, at_least(0)),
    Definition("group.share.max.delivery.count.limit", INT, 10, between(5, 25)),
    Definition("group.share.max.heartbeat.interval.ms", INT, 15_000, at_least(1)),
    Definition("group.share.max.partition.max.record.locks", INT, 4000, between(2000, 10_000)),
    Definition("group.share.max.record.lock.duration.ms", INT, 60_000, between(30_000, 3_600_000)),
    Definition("group.share.max.session.timeout.ms", INT, 60_000, at_least(1)),
    Definition("group.share.max.share.sessions", INT, 2000, at_least(1)),
    Definition("group.share.max.size", INT, 200, between(1, 1000)),
    Definition("group.share.min.assignment.interval.ms", INT, 0, at_least(0)),
    Definition("group.share.min.delivery.count.limit", INT, 2, between(2, 5)),
    Definition("group.share.min.heartbeat.interval.ms", INT, 5000, at_least(1)),
    Definition("group.share.min.partition.max.record.locks", INT, 100, between(100, 2000)),
    Definition("group.share.min.record.lock.duration.ms", INT, 15_000, between(1000, 30_000)),
    Definition("group.share.min.session.timeout.ms", INT, 45_000, at_least(1)),
    Definition("group.share.partition.max.record.locks", INT, 2000, between(100, 10_000)),
    Definition(
        "group.share.persister.class.name",
        STRING,
        "org.apache.kafka.server.share.persister.DefaultStatePersister",
        internal=True,
    ),
    Definition("group.share.record.lock.duration.ms", INT, 30_000, between(1000, 3_600_000)),
    Definition("group.share.session.timeout.ms", INT, 45_000, at_least(1)),
    Definition("share.coordinator.append.linger.ms", INT, -1, at_least(-1)),
    Definition("share.coordinator.cached.buffer.max.bytes", INT, 1_048_588, at_least(524_288), CLUSTER_WIDE),
    Definition(
        "share.coordinator.cold.partition.snapshot.interval.ms", INT, 300_000, at_least(1), internal=True
    ),
    Definition("share.coordinator.load.buffer.size", INT, 5_242_880, at_least(1)),
    Definition("share.coordinator.snapshot.update.records.per.snapshot", INT, 500, between(0, 500)),
    Definition("share.coordinator.state.topic.compression.codec", INT, 0),
    Definition("share.coordinator.state.topic.min.isr", SHORT, 2, at_least(1)),
    Definition("share.coordinator.state.topic.num.partitions", INT, 50, at_least(1)),
    Definition("share.coordinator.state.topic.prune.interval.ms", INT, 300_000, at_least(1), internal=True),
    Definition("share.coordinator.state.topic.replication.factor", SHORT, 3, at_least(1)),
    Definition("share.coordinator.state.topic.segment.bytes", INT, 104_857_600, at_least(1)),
    Definition("share.coordinator.threads", INT, 1, at_least(1)),
    Definition("share.coordinator.write.timeout.ms", INT, 5000, at_least(1)),
    Definition("share.fetch.purgatory.purge.interval.requests", INT, 1000),
)
