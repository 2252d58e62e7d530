"""UpdateMetadata (key 6): the controller tells a broker about the cluster; ZooKeeper only.

0   first version
1   request gains endpoints; loses v0_host, v0_port
2   request gains rack
3   request gains listener
4   request gains offline_replicas
5   request gains broker_epoch, topic_states; loses ungrouped_partition_states
6   flexible
7   request gains topic_id
8   request gains is_kraft_controller, type (KIP-866)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bool, Int8, Int16, Int32, Int64, String, Uuid
from trivium.wire.uuid_text import ZERO_UUID


class UpdateMetadataPartitionState(Struct):
    topic_name: String = field("0-4", default="", ignorable=True)
    partition_index: Int32
    controller_epoch: Int32
    leader: Int32
    leader_epoch: Int32
    isr: list[Int32]
    zk_version: Int32
    replicas: list[Int32]
    offline_replicas: list[Int32] = field("4+", default_factory=list, ignorable=True)


class UpdateMetadataTopicState(Struct):
    topic_name: String
    topic_id: Uuid = field("7+", default=ZERO_UUID, ignorable=True)
    partition_states: list[UpdateMetadataPartitionState]


class UpdateMetadataEndpoint(Struct):
    port: Int32
    host: String
    listener: String = field("3+", default="", ignorable=True)
    security_protocol: Int16


class UpdateMetadataBroker(Struct):
    id: Int32
    v0_host: String = field("0", default="", ignorable=True)
    v0_port: Int32 = field("0", default=0, ignorable=True)
    endpoints: list[UpdateMetadataEndpoint] = field("1+", default_factory=list, ignorable=True)
    rack: String | None = field("2+", default="", ignorable=True)


class UpdateMetadataRequest(Request, key=6, versions="0-8", flexible="6+"):
    controller_id: Int32
    is_kraft_controller: Bool = field("8+", default=False)
    type: Int8 = field("8+", default=0, tag=0)
    controller_epoch: Int32
    broker_epoch: Int64 = field("5+", default=-1, ignorable=True)
    ungrouped_partition_states: list[UpdateMetadataPartitionState] = field("0-4", default_factory=list)
    topic_states: list[UpdateMetadataTopicState] = field("5+", default_factory=list)
    live_brokers: list[UpdateMetadataBroker]


class UpdateMetadataResponse(Response, key=6, versions="0-8", flexible="6+"):
    error_code: Int16
