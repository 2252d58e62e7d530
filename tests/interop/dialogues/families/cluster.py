"""The cluster: its brokers, its quorum, its features, its directories, and what nobody serves."""

from tests.interop.dialogues.families.made import made
from tests.interop.dialogues.family import Family
from tests.interop.dialogues.words import Pool

from trivium.messages.api.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from trivium.messages.api.describe_cluster import DescribeClusterRequest
from trivium.messages.api.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from trivium.messages.api.describe_quorum import DescribeQuorumRequest
from trivium.messages.api.unregister_broker import UnregisterBrokerRequest
from trivium.messages.api.update_features import UpdateFeaturesRequest

CLUSTER = Family(
    "cluster",
    {
        DescribeClusterRequest: 3,
        DescribeQuorumRequest: 2,
        UpdateFeaturesRequest: 3,
        DescribeLogDirsRequest: 3,
        AlterReplicaLogDirsRequest: 2,
        UnregisterBrokerRequest: 1,
    },
    {
        "include_cluster_authorized_operations": Pool([False, True]),
        "endpoint_type": Pool([1], [2, 0, 3]),
        "include_fenced_brokers": Pool([False, True]),
        "topic_name": Pool(["__cluster_metadata"], ["§a", "", "__consumer_offsets"]),
        "partition_index": Pool([0], [1, -1]),
        "feature": Pool(
            ["transaction.version", "group.version", "share.version"], ["", "nonsense", "metadata.version"]
        ),
        "max_version_level": Pool([1], [0, 2, 9, -1]),
        "upgrade_type": Pool([1], [2, 3, 0, 9]),
        "allow_downgrade": Pool([False], [True]),
        "validate_only": Pool([True]),
        "timeout_ms": Pool([10_000]),
        "DescribeLogDirsRequest.topics": Pool(
            [
                [DescribableLogDirTopic(topic="§a", partitions=[0])],
                [DescribableLogDirTopic(topic="§a", partitions=[0, 1])],
            ],
            [
                [DescribableLogDirTopic(topic="§unknown", partitions=[0])],
                [DescribableLogDirTopic(topic="§a", partitions=[])],
                [DescribableLogDirTopic(topic="§a", partitions=[-1])],
            ],
        ),
        "path": Pool(["/no/such/directory"], ["relative", ""]),
        "name": Pool(["§a"]),
        "partitions": Pool([[0], [0, 1]], [[]]),
        "broker_id": Pool([77], [-1]),
    },
    beginnings=((made("§a", 2),),),
)
