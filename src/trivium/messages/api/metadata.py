"""Metadata (key 3): brokers, topics, partitions and who leads them.

0   first version
1   request topics may be null, which asks for all (an empty list did before, and now asks for none);
    response gains rack, controller_id, is_internal
2   response gains cluster_id
3   response gains throttle_time_ms
4   request gains allow_auto_topic_creation
5   response gains offline_replicas (KIP-112)
6   same bytes; a throttled answer is sent at once, and the client waits
7   response gains leader_epoch (KIP-320)
8   request gains include_cluster_authorized_operations, include_topic_authorized_operations; response
    gains topic_authorized_operations, cluster_authorized_operations (KIP-430)
9   flexible
10  request gains topic_id; name may be null; response gains topic_id (KIP-516)
11  request loses include_cluster_authorized_operations; response loses cluster_authorized_operations
    (KIP-700)
12  response name may be null
13  response gains error_code
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bool, Int16, Int32, String, Uuid
from trivium.wire.uuid_text import ZERO_UUID


class MetadataRequestTopic(Struct):
    topic_id: Uuid = field("10+", default=ZERO_UUID, ignorable=True)
    name: String | None = field(nullable="10+")


class MetadataRequest(Request, key=3, versions="0-13", flexible="9+"):
    topics: list[MetadataRequestTopic] | None = field(nullable="1+")
    allow_auto_topic_creation: Bool = field("4+", default=True)
    include_cluster_authorized_operations: Bool = field("8-10", default=False)
    include_topic_authorized_operations: Bool = field("8+", default=False)


class MetadataResponseBroker(Struct):
    node_id: Int32
    host: String
    port: Int32
    rack: String | None = field("1+", default=None, ignorable=True)


class MetadataResponsePartition(Struct):
    error_code: Int16
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32 = field("7+", default=-1, ignorable=True)
    replica_nodes: list[Int32]
    isr_nodes: list[Int32]
    offline_replicas: list[Int32] = field("5+", default_factory=list, ignorable=True)


class MetadataResponseTopic(Struct):
    error_code: Int16
    name: String | None = field(nullable="12+")
    topic_id: Uuid = field("10+", default=ZERO_UUID, ignorable=True)
    is_internal: Bool = field("1+", default=False, ignorable=True)
    partitions: list[MetadataResponsePartition]
    topic_authorized_operations: Int32 = field("8+", default=-2147483648)


class MetadataResponse(Response, key=3, versions="0-13", flexible="9+"):
    throttle_time_ms: Int32 = field("3+", default=0, ignorable=True)
    brokers: list[MetadataResponseBroker]
    cluster_id: String | None = field("2+", default=None, ignorable=True)
    controller_id: Int32 = field("1+", default=-1, ignorable=True)
    topics: list[MetadataResponseTopic]
    cluster_authorized_operations: Int32 = field("8-10", default=-2147483648)
    error_code: Int16 = field("13+", default=0, ignorable=True)
