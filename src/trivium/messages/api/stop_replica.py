"""StopReplica (key 5): the controller tells a broker to stop replicas; ZooKeeper only.

0   first version
1   request gains broker_epoch, topics; loses ungrouped_partitions
2   flexible
3   request gains topic_states; loses delete_partitions, topics (KIP-570)
4   request gains is_kraft_controller (KIP-866)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bool, Int16, Int32, Int64, String


class StopReplicaPartitionV0(Struct):
    topic_name: String
    partition_index: Int32


class StopReplicaTopicV1(Struct):
    name: String
    partition_indexes: list[Int32]


class StopReplicaPartitionState(Struct):
    partition_index: Int32
    leader_epoch: Int32 = -1
    delete_partition: Bool


class StopReplicaTopicState(Struct):
    topic_name: String
    partition_states: list[StopReplicaPartitionState]


class StopReplicaRequest(Request, key=5, versions="0-4", flexible="2+"):
    controller_id: Int32
    is_kraft_controller: Bool = field("4+", default=False)
    controller_epoch: Int32
    broker_epoch: Int64 = field("1+", default=-1, ignorable=True)
    delete_partitions: Bool = field("0-2", default=False)
    ungrouped_partitions: list[StopReplicaPartitionV0] = field("0", default_factory=list)
    topics: list[StopReplicaTopicV1] = field("1-2", default_factory=list)
    topic_states: list[StopReplicaTopicState] = field("3+", default_factory=list)


class StopReplicaPartitionError(Struct):
    topic_name: String
    partition_index: Int32
    error_code: Int16


class StopReplicaResponse(Response, key=5, versions="0-4", flexible="2+"):
    error_code: Int16
    partition_errors: list[StopReplicaPartitionError]
