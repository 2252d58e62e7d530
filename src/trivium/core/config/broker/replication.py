"""Replicas, and fetching by them and by clients."""

from typing import Final

from trivium.core.config.definition import BOOLEAN, CLUSTER_WIDE, INT, LONG, LONG_MAX, STRING, Definition
from trivium.core.config.valid import at_least

REPLICATION: Final = (
    Definition("auto.leader.rebalance.enable", BOOLEAN, True),
    Definition("delete.records.purgatory.purge.interval.requests", INT, 1),
    Definition("fetch.max.bytes", INT, 57_671_680, at_least(1024)),
    Definition("fetch.purgatory.purge.interval.requests", INT, 1000),
    Definition("leader.imbalance.check.interval.seconds", LONG, 300, at_least(1)),
    Definition("max.incremental.fetch.session.cache.slots", INT, 1000, at_least(0)),
    Definition("num.replica.alter.log.dirs.threads", INT, None),
    Definition("num.replica.fetchers", INT, 1, at_least(1), CLUSTER_WIDE),
    Definition("producer.purgatory.purge.interval.requests", INT, 1000),
    Definition("replica.fetch.backoff.ms", INT, 1000, at_least(0)),
    Definition("replica.fetch.max.bytes", INT, 1_048_576, at_least(0)),
    Definition("replica.fetch.min.bytes", INT, 1),
    Definition("replica.fetch.response.max.bytes", INT, 10_485_760, at_least(0)),
    Definition("replica.fetch.wait.max.ms", INT, 500),
    Definition("replica.high.watermark.checkpoint.interval.ms", LONG, 5000),
    Definition("replica.lag.time.max.ms", LONG, 30_000),
    Definition("replica.selector.class", STRING, None),
    Definition("replica.socket.receive.buffer.bytes", INT, 65_536),
    Definition("replica.socket.timeout.ms", INT, 30_000),
    # Only while the broker runs: no file has these.
    Definition(
        "follower.replication.throttled.rate", LONG, LONG_MAX, at_least(0), CLUSTER_WIDE, internal=True
    ),
    Definition("leader.replication.throttled.rate", LONG, LONG_MAX, at_least(0), CLUSTER_WIDE, internal=True),
    Definition(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        LONG,
        LONG_MAX,
        at_least(0),
        CLUSTER_WIDE,
        internal=True,
    ),
)
