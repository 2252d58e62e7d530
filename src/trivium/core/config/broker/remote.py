"""Tiered storage (KIP-405)."""

from typing import Final

from trivium.core.config.definition import (
    BOOLEAN,
    CLUSTER_WIDE,
    DOUBLE,
    INT,
    LONG,
    LONG_MAX,
    STRING,
    Definition,
)
from trivium.core.config.valid import NotEmpty, at_least, between

REMOTE: Final = (
    Definition("follower.fetch.last.tiered.offset.enable", BOOLEAN, False, None, CLUSTER_WIDE),
    Definition("remote.fetch.max.wait.ms", INT, 500, at_least(1), CLUSTER_WIDE),
    Definition("remote.list.offsets.request.timeout.ms", LONG, 30_000, at_least(1), CLUSTER_WIDE),
    Definition(
        "remote.log.index.file.cache.total.size.bytes", LONG, 1_073_741_824, at_least(1), CLUSTER_WIDE
    ),
    Definition("remote.log.index.file.cache.ttl.ms", LONG, 900_000, at_least(-1), internal=True),
    Definition("remote.log.manager.copier.thread.pool.size", INT, 10, at_least(1), CLUSTER_WIDE),
    Definition("remote.log.manager.copy.max.bytes.per.second", LONG, LONG_MAX, at_least(1), CLUSTER_WIDE),
    Definition("remote.log.manager.copy.quota.window.num", INT, 11, at_least(1)),
    Definition("remote.log.manager.copy.quota.window.size.seconds", INT, 1, at_least(1)),
    Definition("remote.log.manager.expiration.thread.pool.size", INT, 10, at_least(1), CLUSTER_WIDE),
    Definition("remote.log.manager.fetch.max.bytes.per.second", LONG, LONG_MAX, at_least(1), CLUSTER_WIDE),
    Definition("remote.log.manager.fetch.quota.window.num", INT, 11, at_least(1)),
    Definition("remote.log.manager.fetch.quota.window.size.seconds", INT, 1, at_least(1)),
    Definition("remote.log.manager.follower.thread.pool.size", INT, 2, at_least(1), CLUSTER_WIDE),
    Definition("remote.log.manager.task.interval.ms", LONG, 30_000, at_least(1)),
    Definition("remote.log.manager.task.retry.backoff.max.ms", LONG, 30_000, at_least(1), internal=True),
    Definition("remote.log.manager.task.retry.backoff.ms", LONG, 500, at_least(1), internal=True),
    Definition("remote.log.manager.task.retry.jitter", DOUBLE, 0.2, between(0, 0.5), internal=True),
    Definition("remote.log.manager.thread.pool.size", INT, 2, at_least(1)),
    Definition("remote.log.metadata.custom.metadata.max.bytes", INT, 128, at_least(0)),
    Definition(
        "remote.log.metadata.manager.class.name",
        STRING,
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
        NotEmpty(),
    ),
    Definition("remote.log.metadata.manager.class.path", STRING, None),
    Definition("remote.log.metadata.manager.impl.prefix", STRING, "rlmm.config.", NotEmpty()),
    Definition("remote.log.metadata.manager.listener.name", STRING, None, NotEmpty()),
    Definition("remote.log.reader.max.pending.tasks", INT, 100, at_least(1)),
    Definition("remote.log.reader.threads", INT, 10, at_least(1), CLUSTER_WIDE),
    Definition("remote.log.storage.manager.class.name", STRING, None, NotEmpty()),
    Definition("remote.log.storage.manager.class.path", STRING, None),
    Definition("remote.log.storage.manager.impl.prefix", STRING, "rsm.config.", NotEmpty()),
    Definition("remote.log.storage.system.enable", BOOLEAN, False),
)
