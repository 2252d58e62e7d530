"""The cluster, its directories and its quorum."""

from tests.golden.admin_dialogues.wording import create, new, ten_records
from tests.golden.admin_player import Ask

from trivium.messages.api.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from trivium.messages.api.describe_cluster import DescribeClusterRequest
from trivium.messages.api.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from trivium.messages.api.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
)
from trivium.messages.api.unregister_broker import UnregisterBrokerRequest


def cluster(ask: Ask) -> None:
    """The cluster and its directories."""
    ask("made", create(new("a", 2)), 7)
    ten_records(ask, "a")

    def describe(
        label: str, version: int, *, kind: int = 1, operations: bool = False, fenced: bool = False
    ) -> None:
        request = DescribeClusterRequest(
            include_cluster_authorized_operations=operations,
            endpoint_type=kind,
            include_fenced_brokers=fenced,
        )
        ask(label, request, version)

    describe("cluster", 2)
    describe("cluster with operations", 0, operations=True)
    describe("cluster with fenced brokers", 2, fenced=True)
    describe("controllers", 1, kind=2)
    describe("no kind of endpoint", 1, kind=7)

    directories = ask("directories", DescribeLogDirsRequest(topics=None), 5)
    ask("directories, old version", DescribeLogDirsRequest(topics=None), 1)
    some = [
        DescribableLogDirTopic(topic="a", partitions=[0, 9]),
        DescribableLogDirTopic(topic="unknown", partitions=[0]),
    ]
    ask("directories of some", DescribeLogDirsRequest(topics=some), 4)
    ask("directories of none", DescribeLogDirsRequest(topics=[]), 4)
    here = directories.results[0].log_dir

    def move(label: str, *asked: tuple[str, str, list[int]], version: int = 2) -> None:
        request = AlterReplicaLogDirsRequest(
            dirs=[
                AlterReplicaLogDir(
                    path=path, topics=[AlterReplicaLogDirTopic(name=topic, partitions=indexes)]
                )
                for path, topic, indexes in asked
            ]
        )
        ask(label, request, version)

    move("moved to where it is", (here, "a", [0]))
    move("moved to nowhere", ("/no/such/directory", "a", [0]))
    move("moved to a relative path", ("data", "a", [0]))
    move("moved unknown ones", (here, "a", [9]), version=1)
    move("moved unknown topic", (here, "unknown", [0]))

    ask("unregistered a stranger", UnregisterBrokerRequest(broker_id=77), 0)
    ask("quorum of no topic", DescribeQuorumRequest(topics=[]), 2)
    ask("quorum", quorum("__cluster_metadata", 0), 2)
    ask("quorum, first version", quorum("__cluster_metadata", 0), 0)
    ask("quorum of another topic", quorum("a", 0), 2)
    ask("quorum of another partition", quorum("__cluster_metadata", 1), 2)


def quorum(topic: str, partition: int) -> DescribeQuorumRequest:
    return DescribeQuorumRequest(
        topics=[
            DescribeQuorumRequestTopicData(
                topic_name=topic, partitions=[DescribeQuorumRequestPartitionData(partition_index=partition)]
            )
        ]
    )
