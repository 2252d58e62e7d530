"""The cluster, its leaders and its directories over the wire, in every version."""

import pytest

from tests.core.rights import Denying
from tests.protocols.kafka.administrator import HERE, Administrator, versions
from trivium.core.access import Operation, Resource
from trivium.core.ports import DirectoryFacts, FutureFacts
from trivium.messages.api.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from trivium.messages.api.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from trivium.messages.api.describe_cluster import DescribeClusterRequest
from trivium.messages.api.describe_log_dirs import DescribeLogDirsRequest
from trivium.messages.api.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
)
from trivium.messages.api.elect_leaders import ElectLeadersRequest, TopicPartitions
from trivium.messages.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from trivium.messages.api.unregister_broker import UnregisterBrokerRequest
from trivium.messages.errors import ErrorCode

STORAGE_DIRECTORIES = "tests.core.fakes.MemoryStorage.directories"
NO_RIGHT = Denying((Operation.DESCRIBE, Resource.CLUSTER), (Operation.ALTER, Resource.CLUSTER))
REFUSED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED


@pytest.mark.parametrize("version", versions(DescribeClusterRequest))
def test_describe_cluster_tells_where_the_client_has_connected(version: int) -> None:
    answer = Administrator().ask(DescribeClusterRequest(include_cluster_authorized_operations=True), version)
    assert (answer.cluster_id, answer.controller_id, answer.error_code) == ("test-cluster", 1, 0)
    (broker,) = answer.brokers
    assert (broker.broker_id, broker.host, broker.port, broker.is_fenced) == (1, *HERE, False)
    assert answer.cluster_authorized_operations == 8096


@pytest.mark.parametrize("version", versions(ElectLeadersRequest))
def test_elect_leaders_is_not_needed(version: int) -> None:
    administrator = Administrator()
    administrator.world.create_topic("a", 2)
    asked = [TopicPartitions(topic="a", partitions=[0, 1])]
    answer = administrator.ask(ElectLeadersRequest(topic_partitions=asked), version)
    (topic,) = answer.replica_election_results
    assert [(each.partition_id, each.error_code) for each in topic.partition_result] == [
        (0, ErrorCode.ELECTION_NOT_NEEDED),
        (1, ErrorCode.ELECTION_NOT_NEEDED),
    ]
    assert answer.error_code == 0


@pytest.mark.parametrize("version", versions(ElectLeadersRequest))
def test_elect_leaders_without_the_right_is_refused_partition_by_partition(version: int) -> None:
    asked = [TopicPartitions(topic="a", partitions=[0])]
    answer = Administrator(NO_RIGHT).ask(ElectLeadersRequest(topic_partitions=asked), version)
    assert answer.replica_election_results[0].partition_result[0].error_code == REFUSED
    assert answer.error_code == (REFUSED if version >= 1 else 0)


@pytest.mark.parametrize("version", versions(AlterPartitionReassignmentsRequest))
def test_alter_partition_reassignments_answers_partition_by_partition(version: int) -> None:
    administrator = Administrator()
    administrator.world.create_topic("a", 2)
    partitions = [
        ReassignablePartition(partition_index=0, replicas=[1]),
        ReassignablePartition(partition_index=1, replicas=[2]),
    ]
    request = AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(name="a", partitions=partitions)])
    answer = administrator.ask(request, version)
    (topic,) = answer.responses
    assert [each.error_code for each in topic.partitions] == [0, ErrorCode.INVALID_REPLICA_ASSIGNMENT]


def test_reassignments_without_the_right_are_refused_as_a_whole() -> None:
    administrator = Administrator(NO_RIGHT)
    assert administrator.ask(AlterPartitionReassignmentsRequest(topics=[]), 1).error_code == REFUSED
    assert administrator.ask(ListPartitionReassignmentsRequest(), 0).error_code == REFUSED


def two_directories(_storage: object) -> list[DirectoryFacts]:
    here = DirectoryFacts("/here", bytes(16), None, 1000, 400, {("a", 0): 11, ("a", 1): 12, ("b", 0): 13})
    there = DirectoryFacts("/there", bytes(16), None, 2000, 800, {}, {("a", 0): FutureFacts(5, 3)})
    return [here, there]


@pytest.mark.parametrize("version", versions(DescribeLogDirsRequest))
def test_describe_log_dirs_lists_a_moving_partition_where_it_is_and_where_it_will_be(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(STORAGE_DIRECTORIES, two_directories)
    here, there = Administrator().ask(DescribeLogDirsRequest(topics=None), version).results
    found = {
        (topic.name, each.partition_index): (each.partition_size, each.offset_lag, each.is_future_key)
        for topic in here.topics
        for each in topic.partitions
    }
    assert found == {("a", 0): (11, 0, False), ("a", 1): (12, 0, False), ("b", 0): (13, 0, False)}
    (moving,) = there.topics[0].partitions
    assert (moving.partition_size, moving.offset_lag, moving.is_future_key) == (5, 3, True)
    assert (here.total_bytes, here.usable_bytes) == ((1000, 400) if version >= 4 else (-1, -1))


@pytest.mark.parametrize("version", versions(DescribeLogDirsRequest))
def test_describe_log_dirs_without_the_right_tells_nothing(version: int) -> None:
    answer = Administrator(NO_RIGHT).ask(DescribeLogDirsRequest(topics=None), version)
    assert answer.results == []
    assert answer.error_code == (REFUSED if version >= 3 else 0)


@pytest.mark.parametrize("version", versions(AlterReplicaLogDirsRequest))
def test_alter_replica_log_dirs_gathers_the_partitions_of_a_topic(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(STORAGE_DIRECTORIES, two_directories)
    administrator = Administrator()
    administrator.world.create_topic("a", 2)
    request = AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDir(path=path, topics=[AlterReplicaLogDirTopic(name="a", partitions=[index])])
            for path, index in (("/here", 1), ("/there", 9))
        ]
    )
    (topic,) = administrator.ask(request, version).results
    assert [(each.partition_index, each.error_code) for each in topic.partitions] == [
        (1, 0),
        (9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert administrator.world.storage.moved == [("a", 1, "/here")]


@pytest.mark.parametrize("version", versions(DescribeQuorumRequest))
def test_describe_quorum_is_this_broker(version: int) -> None:
    administrator = Administrator()
    administrator.world.create_topic("a")
    asked = DescribeQuorumRequestTopicData(
        topic_name="__cluster_metadata", partitions=[DescribeQuorumRequestPartitionData(partition_index=0)]
    )
    answer = administrator.ask(DescribeQuorumRequest(topics=[asked]), version)
    (partition,) = answer.topics[0].partitions
    assert (partition.leader_id, partition.high_watermark) == (1, 2)
    assert [voter.replica_id for voter in partition.current_voters] == [1]
    assert [node.node_id for node in answer.nodes] == ([1] if version >= 2 else [])
    refused = Administrator(NO_RIGHT).ask(DescribeQuorumRequest(topics=[asked]), version)
    assert (refused.error_code, refused.topics) == (REFUSED, [])


def test_unregister_broker_that_nobody_knows_says_so() -> None:
    answer = Administrator().ask(UnregisterBrokerRequest(broker_id=77), 0)
    assert answer.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
    assert Administrator(NO_RIGHT).ask(UnregisterBrokerRequest(broker_id=77), 0).error_code == REFUSED
