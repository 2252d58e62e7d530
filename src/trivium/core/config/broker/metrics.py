"""Metrics, telemetry of clients, and the windows in which quotas are measured."""

from typing import Final

from trivium.core.config.definition import CLASS, CLUSTER_WIDE, INT, LIST, LONG, STRING, Definition
from trivium.core.config.valid import at_least, list_of

METRICS: Final = (
    Definition("alter.log.dirs.replication.quota.window.num", INT, 11, at_least(1)),
    Definition("alter.log.dirs.replication.quota.window.size.seconds", INT, 1, at_least(1)),
    Definition("client.quota.callback.class", CLASS, None),
    Definition("kafka.metrics.polling.interval.secs", INT, 10, at_least(1)),
    Definition("kafka.metrics.reporters", LIST, (), list_of()),
    Definition(
        "metric.reporters", LIST, ("org.apache.kafka.common.metrics.JmxReporter",), list_of(), CLUSTER_WIDE
    ),
    Definition("metrics.num.samples", INT, 2, at_least(1)),
    Definition("metrics.recording.level", STRING, "INFO"),
    Definition("metrics.sample.window.ms", LONG, 30_000, at_least(1)),
    Definition("quota.window.num", INT, 11, at_least(1)),
    Definition("quota.window.size.seconds", INT, 1, at_least(1)),
    Definition("replication.quota.window.num", INT, 11, at_least(1)),
    Definition("replication.quota.window.size.seconds", INT, 1, at_least(1)),
    Definition("telemetry.max.bytes", INT, 1_048_576, at_least(1)),
)
