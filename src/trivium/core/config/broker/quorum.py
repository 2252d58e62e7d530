"""KRaft: the quorum of controllers, the metadata log, and brokers as controllers see them."""

from typing import Final

from trivium.core.config.definition import BOOLEAN, INT, LIST, LONG, LONG_MAX, STRING, Definition
from trivium.core.config.valid import at_least, some_of

QUORUM: Final = (
    Definition("broker.heartbeat.interval.ms", INT, 2000),
    Definition("broker.session.timeout.ms", INT, 9000),
    Definition("controlled.shutdown.enable", BOOLEAN, True),
    Definition("controller.listener.names", LIST, None, some_of()),
    Definition("controller.performance.always.log.threshold.ms", LONG, 2000, at_least(0), internal=True),
    Definition("controller.performance.sample.period.ms", LONG, 60_000, at_least(100), internal=True),
    Definition("controller.quorum.append.linger.ms", INT, 25, at_least(0)),
    Definition("controller.quorum.auto.join.enable", BOOLEAN, False),
    Definition("controller.quorum.bootstrap.servers", LIST, ()),
    Definition("controller.quorum.election.backoff.max.ms", INT, 1000, at_least(0)),
    Definition("controller.quorum.election.timeout.ms", INT, 1000, at_least(0)),
    Definition("controller.quorum.fetch.max.bytes", INT, 1_048_576, at_least(1)),
    Definition("controller.quorum.fetch.snapshot.max.bytes", INT, 1_048_576, at_least(1)),
    Definition("controller.quorum.fetch.timeout.ms", INT, 2000, at_least(0)),
    Definition("controller.quorum.request.timeout.ms", INT, 2000, at_least(0)),
    Definition("controller.quorum.retry.backoff.ms", INT, 20, at_least(0)),
    Definition("controller.quorum.voters", LIST, ()),
    Definition("controller.quota.window.num", INT, 11, at_least(1)),
    Definition("controller.quota.window.size.seconds", INT, 1, at_least(1)),
    Definition("controller.socket.timeout.ms", INT, 30_000),
    Definition("initial.broker.registration.timeout.ms", INT, 60_000),
    Definition("internal.metadata.delete.delay.millis", LONG, 60_000, internal=True),
    Definition("internal.metadata.log.segment.bytes", INT, None, internal=True),
    Definition("internal.metadata.max.batch.size.in.bytes", INT, 8_388_608, internal=True),
    Definition("metadata.log.dir", STRING, None),
    Definition("metadata.log.max.record.bytes.between.snapshots", LONG, 20_971_520, at_least(1)),
    Definition("metadata.log.max.snapshot.interval.ms", LONG, 3_600_000, at_least(0)),
    Definition("metadata.log.segment.bytes", INT, 1_073_741_824, at_least(8_388_608)),
    Definition("metadata.log.segment.ms", LONG, 604_800_000),
    Definition("metadata.max.idle.interval.ms", INT, 500, at_least(0)),
    Definition("metadata.max.retention.bytes", LONG, 104_857_600),
    Definition("metadata.max.retention.ms", LONG, 604_800_000),
    Definition("process.roles", LIST, None, some_of("broker", "controller")),
    Definition("server.max.startup.time.ms", LONG, LONG_MAX, at_least(0), internal=True),
    Definition("unclean.leader.election.interval.ms", LONG, 300_000, at_least(1), internal=True),
    Definition("unstable.api.versions.enable", BOOLEAN, False, internal=True),
    Definition("unstable.feature.versions.enable", BOOLEAN, False, internal=True),
)
