"""LeaderAndIsr (key 4): the controller tells a broker which partitions it leads or follows; ZooKeeper only.

0   first version
1   request gains is_new
2   request gains broker_epoch, topic_states; loses ungrouped_partition_states
3   request gains adding_replicas, removing_replicas
4   flexible
5   request gains type, topic_id; response gains topics; loses partition_errors (KIP-516)
6   request gains leader_recovery_state (KIP-704)
7   request gains is_kraft_controller (KIP-866)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bool, Int8, Int16, Int32, Int64, String, Uuid
from trivium.wire.uuid_text import ZERO_UUID


class LeaderAndIsrPartitionState(Struct):
    topic_name: String = field("0-1", default="", ignorable=True)
    partition_index: Int32
    controller_epoch: Int32
    leader: Int32
    leader_epoch: Int32
    isr: list[Int32]
    partition_epoch: Int32
    replicas: list[Int32]
    adding_replicas: list[Int32] = field("3+", default_factory=list, ignorable=True)
    removing_replicas: list[Int32] = field("3+", default_factory=list, ignorable=True)
    is_new: Bool = field("1+", default=False, ignorable=True)
    leader_recovery_state: Int8 = field("6+", default=0)


class LeaderAndIsrTopicState(Struct):
    topic_name: String
    topic_id: Uuid = field("5+", default=ZERO_UUID, ignorable=True)
    partition_states: list[LeaderAndIsrPartitionState]


class LeaderAndIsrLiveLeader(Struct):
    broker_id: Int32
    host_name: String
    port: Int32


class LeaderAndIsrRequest(Request, key=4, versions="0-7", flexible="4+"):
    controller_id: Int32
    is_kraft_controller: Bool = field("7+", default=False)
    controller_epoch: Int32
    broker_epoch: Int64 = field("2+", default=-1, ignorable=True)
    type: Int8 = field("5+", default=0)
    ungrouped_partition_states: list[LeaderAndIsrPartitionState] = field("0-1", default_factory=list)
    topic_states: list[LeaderAndIsrTopicState] = field("2+", default_factory=list)
    live_leaders: list[LeaderAndIsrLiveLeader]


class LeaderAndIsrPartitionError(Struct):
    topic_name: String = field("0-4", default="", ignorable=True)
    partition_index: Int32
    error_code: Int16


class LeaderAndIsrTopicError(Struct):
    topic_id: Uuid
    partition_errors: list[LeaderAndIsrPartitionError]


class LeaderAndIsrResponse(Response, key=4, versions="0-7", flexible="4+"):
    error_code: Int16
    partition_errors: list[LeaderAndIsrPartitionError] = field("0-4", default_factory=list)
    topics: list[LeaderAndIsrTopicError] = field("5+", default_factory=list)
