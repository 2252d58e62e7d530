"""CreateTopics (key 19): create topics.

0   first version
1   request gains validate_only; response gains error_message
2   response gains throttle_time_ms
3   same bytes; a throttled answer is sent at once, and the client waits
4   same bytes; partitions and replication factor may be -1, for the defaults of the broker (KIP-464)
5   flexible; response gains topic_config_error_code, num_partitions, replication_factor, configs
    (KIP-525)
6   same bytes; an answer may say THROTTLING_QUOTA_EXCEEDED (KIP-599)
7   response gains topic_id (KIP-516)
"""

from trivium.messages.schema import Request, Response, Struct, field
from trivium.messages.types import Bool, Int8, Int16, Int32, String, Uuid
from trivium.wire.uuid_text import ZERO_UUID


class CreatableReplicaAssignment(Struct):
    partition_index: Int32
    broker_ids: list[Int32]


class CreatableTopicConfig(Struct):
    name: String
    value: String | None


class CreatableTopic(Struct):
    name: String
    num_partitions: Int32
    replication_factor: Int16
    assignments: list[CreatableReplicaAssignment]
    configs: list[CreatableTopicConfig]


class CreateTopicsRequest(Request, key=19, versions="0-7", flexible="5+"):
    topics: list[CreatableTopic]
    timeout_ms: Int32 = 60000
    validate_only: Bool = field("1+", default=False)


class CreatableTopicConfigs(Struct):
    name: String
    value: String | None
    read_only: Bool
    config_source: Int8 = -1
    is_sensitive: Bool


class CreatableTopicResult(Struct):
    name: String
    topic_id: Uuid = field("7+", default=ZERO_UUID, ignorable=True)
    error_code: Int16
    error_message: String | None = field("1+", default="", ignorable=True)
    topic_config_error_code: Int16 = field("5+", default=0, tag=0, ignorable=True)
    num_partitions: Int32 = field("5+", default=-1, ignorable=True)
    replication_factor: Int16 = field("5+", default=-1, ignorable=True)
    configs: list[CreatableTopicConfigs] | None = field("5+", default_factory=list, ignorable=True)


class CreateTopicsResponse(Response, key=19, versions="0-7", flexible="5+"):
    throttle_time_ms: Int32 = field("2+", default=0, ignorable=True)
    topics: list[CreatableTopicResult]
