"""Settings of topics, and the broker's settings that count where a topic has none of its own."""

from collections.abc import Mapping
from typing import Final

from trivium.core.config.definition import (
    BOOLEAN,
    CLUSTER_WIDE,
    DOUBLE,
    INT,
    LIST,
    LONG,
    LONG_MAX,
    STRING,
    Definition,
    ValueType,
)
from trivium.core.config.explanations import TOPICS
from trivium.core.config.valid import (
    CLEANUP,
    COMPRESSION,
    TIMESTAMP,
    GzipLevel,
    Rule,
    ThrottledReplicas,
    Value,
    at_least,
    between,
)


def _row(
    name: str,
    kind: ValueType,
    default: Value,
    rule: Rule | None = None,
    broker_name: str | None = None,
    *,
    internal: bool = False,
) -> Definition:
    return Definition(name, kind, default, rule, CLUSTER_WIDE, broker_name, internal, TOPICS[name])


_ROWS: Final = (
    _row("cleanup.policy", LIST, ("delete",), CLEANUP, "log.cleanup.policy"),
    _row("compression.gzip.level", INT, -1, GzipLevel(), "compression.gzip.level"),
    _row("compression.lz4.level", INT, 9, between(1, 17), "compression.lz4.level"),
    _row("compression.type", STRING, "producer", COMPRESSION, "compression.type"),
    _row("compression.zstd.level", INT, 3, between(-131_072, 22), "compression.zstd.level"),
    _row("delete.retention.ms", LONG, 86_400_000, at_least(0), "log.cleaner.delete.retention.ms"),
    _row("file.delete.delay.ms", LONG, 60_000, at_least(0), "log.segment.delete.delay.ms"),
    _row("flush.messages", LONG, LONG_MAX, at_least(1), "log.flush.interval.messages"),
    _row("flush.ms", LONG, LONG_MAX, at_least(0), "log.flush.interval.ms"),
    _row("follower.replication.throttled.replicas", LIST, (), ThrottledReplicas()),
    _row("index.interval.bytes", INT, 4096, at_least(0), "log.index.interval.bytes"),
    _row("internal.segment.bytes", INT, None, internal=True),
    _row("leader.replication.throttled.replicas", LIST, (), ThrottledReplicas()),
    _row("local.retention.bytes", LONG, -2, at_least(-2), "log.local.retention.bytes"),
    _row("local.retention.ms", LONG, -2, at_least(-2), "log.local.retention.ms"),
    _row("max.compaction.lag.ms", LONG, LONG_MAX, at_least(1), "log.cleaner.max.compaction.lag.ms"),
    _row("max.message.bytes", INT, 1_048_588, at_least(0), "message.max.bytes"),
    _row(
        "message.timestamp.after.max.ms", LONG, 3_600_000, at_least(0), "log.message.timestamp.after.max.ms"
    ),
    _row(
        "message.timestamp.before.max.ms", LONG, LONG_MAX, at_least(0), "log.message.timestamp.before.max.ms"
    ),
    _row("message.timestamp.type", STRING, "CreateTime", TIMESTAMP, "log.message.timestamp.type"),
    _row("min.cleanable.dirty.ratio", DOUBLE, 0.5, between(0, 1), "log.cleaner.min.cleanable.ratio"),
    _row("min.compaction.lag.ms", LONG, 0, at_least(0), "log.cleaner.min.compaction.lag.ms"),
    _row("min.insync.replicas", INT, 1, at_least(1), "min.insync.replicas"),
    _row("preallocate", BOOLEAN, False, None, "log.preallocate"),
    _row("remote.log.copy.disable", BOOLEAN, False),
    _row("remote.log.delete.on.disable", BOOLEAN, False),
    _row("remote.storage.enable", BOOLEAN, False),
    _row("retention.bytes", LONG, -1, None, "log.retention.bytes"),
    _row("retention.ms", LONG, 604_800_000, at_least(-1), "log.retention.ms"),
    _row("segment.bytes", INT, 1_073_741_824, at_least(1_048_576), "log.segment.bytes"),
    _row("segment.index.bytes", INT, 10_485_760, at_least(4), "log.index.size.max.bytes"),
    _row("segment.jitter.ms", LONG, 0, at_least(0), "log.roll.jitter.ms"),
    _row("segment.ms", LONG, 604_800_000, at_least(1), "log.roll.ms"),
    _row("unclean.leader.election.enable", BOOLEAN, False, None, "unclean.leader.election.enable"),
)

TOPIC: Final[Mapping[str, Definition]] = {row.name: row for row in _ROWS}
