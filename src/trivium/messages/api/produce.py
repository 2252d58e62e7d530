"""Produce (key 0): append record batches to partitions.

0   first version
1   response gains throttle_time_ms
2   response gains log_append_time_ms
3   request gains transactional_id (KIP-98)
4   same bytes; an answer may say KAFKA_STORAGE_ERROR
5   response gains log_start_offset
6   same bytes; a throttled answer is sent at once, and the client waits
7   same bytes; batches may be compressed by zstd (KIP-110)
8   response gains record_errors, error_message (KIP-467)
9   flexible
10  response gains current_leader, node_endpoints (KIP-951)
11  same bytes; an answer may say TRANSACTION_ABORTABLE (KIP-890)
12  same bytes; in a transaction it also adds the partition to it (KIP-890)
13  request gains topic_id; loses name; response gains topic_id; loses name (KIP-516)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Int16, Int32, Int64, Records, String, Uuid
from trivium.wire.uuid_text import ZERO_UUID


class PartitionProduceData(Struct):
    index: Int32
    records: Records | None


class TopicProduceData(Struct):
    name: String = field("0-12", default="", ignorable=True)
    topic_id: Uuid = field("13+", default=ZERO_UUID, ignorable=True)
    partition_data: list[PartitionProduceData]


class ProduceRequest(Request, key=0, versions="0-13", flexible="9+"):
    transactional_id: String | None = field("3+", default=None)
    acks: Int16
    timeout_ms: Int32
    topic_data: list[TopicProduceData]


class BatchIndexAndErrorMessage(Struct):
    batch_index: Int32
    batch_index_error_message: String | None = None


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1


class PartitionProduceResponse(Struct):
    index: Int32
    error_code: Int16
    base_offset: Int64
    log_append_time_ms: Int64 = field("2+", default=-1, ignorable=True)
    log_start_offset: Int64 = field("5+", default=-1, ignorable=True)
    record_errors: list[BatchIndexAndErrorMessage] = field("8+", default_factory=list, ignorable=True)
    error_message: String | None = field("8+", default=None, ignorable=True)
    current_leader: LeaderIdAndEpoch = field("10+", default_factory=LeaderIdAndEpoch, tag=0)


class TopicProduceResponse(Struct):
    name: String = field("0-12", default="", ignorable=True)
    topic_id: Uuid = field("13+", default=ZERO_UUID, ignorable=True)
    partition_responses: list[PartitionProduceResponse]


class NodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: Int32
    rack: String | None = None


class ProduceResponse(Response, key=0, versions="0-13", flexible="9+"):
    responses: list[TopicProduceResponse]
    throttle_time_ms: Int32 = field("1+", default=0, ignorable=True)
    node_endpoints: list[NodeEndpoint] = field("10+", default_factory=list, tag=0)
