"""Settings of topics, groups, brokers, loggers and client metrics, described and altered."""

from tests.interop.dialogues.families.made import made
from tests.interop.dialogues.family import Family
from tests.interop.dialogues.words import Pool

from trivium.messages.api.alter_configs import AlterConfigsRequest
from trivium.messages.api.describe_configs import DescribeConfigsRequest
from trivium.messages.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from trivium.messages.api.list_config_resources import ListConfigResourcesRequest

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
NUMBERS = ["1000", "5000", "0", "-1", "1048576"]

CONFIGS = Family(
    "configs",
    {
        DescribeConfigsRequest: 6,
        IncrementalAlterConfigsRequest: 8,
        AlterConfigsRequest: 4,
        ListConfigResourcesRequest: 1,
    },
    {
        "resource_type": Pool([TOPIC, TOPIC, TOPIC, GROUP], [BROKER, METRICS, LOGGER, 0, 1, 3, 99, -1]),
        "resource_name": Pool(["§a", "§a", "§b"], ["", "§unknown", "1", "2", "§ü", "one", "."]),
        "configuration_keys": Pool(
            [None, ["retention.ms"], ["cleanup.policy", "segment.bytes"], ["consumer.session.timeout.ms"]],
            [[], ["no.such"], [""], ["retention.ms", "retention.ms"], ["log.retention.ms"]],
        ),
        "include_synonyms": Pool([False, True]),
        "include_documentation": Pool([False]),
        "AlterableConfig.name": Pool(
            [
                "retention.ms",
                "retention.bytes",
                "cleanup.policy",
                "segment.bytes",
                "max.message.bytes",
                "compression.type",
                "min.cleanable.dirty.ratio",
                "preallocate",
                "consumer.session.timeout.ms",
                "consumer.heartbeat.interval.ms",
                "share.record.lock.duration.ms",
                "share.auto.offset.reset",
                "message.timestamp.type",
            ],
            [
                "no.such",
                "",
                "log.retention.ms",
                "interval.ms",
                "metrics",
                "match",
                "leader.replication.throttled.replicas",
                "remote.storage.enable",
                "local.retention.ms",
                "segment.ms",
                "flush.ms",
                "min.insync.replicas",
                "message.timestamp.before.max.ms",
                "compression.zstd.level",
                "compression.gzip.level",
                "unclean.leader.election.enable",
                "share.isolation.level",
                "share.delivery.count.limit",
                "streams.num.standby.replicas",
                "streams.session.timeout.ms",
                "share.heartbeat.interval.ms",
                "internal.segment.bytes",
                "message.downconversion.enable",
                "message.format.version",
            ],
        ),
        "value": Pool(
            [*NUMBERS, "45000", "compact", "delete", "zstd", "0.5", "true", "latest", "CreateTime"],
            [
                "",
                "soon",
                "-2",
                "99999999999999999999",
                "compact,delete",
                "delete,delete",
                "eat",
                " 1000 ",
                "TRUE",
                "1.5",
                "earliest",
                "by_duration:PT1H",
                "by_duration:soon",
                "1e3",
                "none",
                ",",
                "LogAppendTime",
                "read_committed",
                "+5",
                "0:1,1:1",
                "*",
                None,
            ],
        ),
        "config_operation": Pool([0, 0, 0, 1], [2, 3, 4, -1]),
        "validate_only": Pool([False, False, True]),
        "resource_types": Pool([[], [TOPIC], [GROUP]], [[0], [99], [TOPIC, TOPIC]]),
    },
    beginnings=((made("§a", 1), made("§b", 2, **{"cleanup.policy": "compact", "retention.ms": "1000"})),),
)
