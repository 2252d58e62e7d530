"""Topics: how they come into being, and what counts for those that do not say otherwise."""

from typing import Final

from trivium.core.config.definition import BOOLEAN, CLASS, CLUSTER_WIDE, INT, LIST, STRING, Definition
from trivium.core.config.valid import COMPRESSION, GzipLevel, at_least, between, list_of

TOPICS: Final = (
    Definition("alter.config.policy.class.name", CLASS, None),
    Definition("auto.create.topics.enable", BOOLEAN, True),
    Definition("compression.gzip.level", INT, -1, GzipLevel(), CLUSTER_WIDE),
    Definition("compression.lz4.level", INT, 9, between(1, 17), CLUSTER_WIDE),
    Definition("compression.type", STRING, "producer", COMPRESSION, CLUSTER_WIDE),
    Definition("compression.zstd.level", INT, 3, between(-131_072, 22), CLUSTER_WIDE),
    Definition("config.providers", LIST, (), list_of(), CLUSTER_WIDE),
    Definition("create.topic.policy.class.name", CLASS, None),
    Definition("default.replication.factor", INT, 1),
    Definition("delete.topic.enable", BOOLEAN, True),
    Definition("message.max.bytes", INT, 1_048_588, at_least(0), CLUSTER_WIDE),
    Definition("min.insync.replicas", INT, 1, at_least(1), CLUSTER_WIDE),
    Definition("num.partitions", INT, 1, at_least(1)),
    Definition("unclean.leader.election.enable", BOOLEAN, False, None, CLUSTER_WIDE),
)
