"""AlterPartition (key 56): a leader reports its in-sync replicas to the controller.

0   first version, flexible
1   request gains leader_recovery_state; response gains leader_recovery_state (KIP-704)
2   request gains topic_id; loses topic_name; response gains topic_id; loses topic_name (KIP-841)
3   request gains new_isr_with_epochs; loses new_isr (KIP-903)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int8, Int16, Int32, Int64, String, Uuid
from trivium.wire.uuid_text import ZERO_UUID


class BrokerState(Struct):
    broker_id: Int32
    broker_epoch: Int64 = -1


class AlterPartitionRequestPartitionData(Struct):
    partition_index: Int32
    leader_epoch: Int32
    new_isr: list[Int32] = field("0-2", default_factory=list)
    new_isr_with_epochs: list[BrokerState] = field("3+", default_factory=list)
    leader_recovery_state: Int8 = field("1+", default=0)
    partition_epoch: Int32


class AlterPartitionRequestTopicData(Struct):
    topic_name: String = field("0-1", default="", ignorable=True)
    topic_id: Uuid = field("2+", default=ZERO_UUID, ignorable=True)
    partitions: list[AlterPartitionRequestPartitionData]


class AlterPartitionRequest(Request, key=56, versions="0-3", flexible="0+"):
    broker_id: Int32
    broker_epoch: Int64 = -1
    topics: list[AlterPartitionRequestTopicData]


class AlterPartitionResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32
    isr: list[Int32]
    leader_recovery_state: Int8 = field("1+", default=0, ignorable=True)
    partition_epoch: Int32


class AlterPartitionResponseTopicData(Struct):
    topic_name: String = field("0-1", default="", ignorable=True)
    topic_id: Uuid = field("2+", default=ZERO_UUID, ignorable=True)
    partitions: list[AlterPartitionResponsePartitionData]


class AlterPartitionResponse(Response, key=56, versions="0-3", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    topics: list[AlterPartitionResponseTopicData]
