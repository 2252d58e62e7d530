"""Consumer groups (KIP-848) in ``__consumer_offsets``.

A record each for the group, for a member, for its target assignment and for its current one.

The defaults of two nullable tagged fields are Kafka's and not null: a member without classic metadata,
or partitions without epochs, have an explicit null on disk.
"""

from trivium.messages.schema import Message, Struct, field
from trivium.messages.types import Bytes, Int8, Int32, Int64, String, Uuid


class ConsumerGroupMetadataKey(Message, key=3, versions="0"):
    group_id: String


class ConsumerGroupMetadataValue(Message, key=3, versions="0", flexible="0+"):
    epoch: Int32
    metadata_hash: Int64 = field(default=0, tag=0)


class ConsumerGroupPartitionMetadataKey(Message, key=4, versions="0"):
    group_id: String


class PartitionMetadata(Struct):
    partition: Int32
    racks: list[String]


class TopicMetadata(Struct):
    topic_id: Uuid
    topic_name: String
    num_partitions: Int32
    partition_metadata: list[PartitionMetadata]


class ConsumerGroupPartitionMetadataValue(Message, key=4, versions="0", flexible="0+"):
    topics: list[TopicMetadata]


class ConsumerGroupMemberMetadataKey(Message, key=5, versions="0"):
    group_id: String
    member_id: String


class ClassicProtocol(Struct):
    name: String
    metadata: Bytes


class ClassicMemberMetadata(Struct):
    session_timeout_ms: Int32 = 0
    supported_protocols: list[ClassicProtocol] = field(default_factory=list)


class ConsumerGroupMemberMetadataValue(Message, key=5, versions="0", flexible="0+"):
    instance_id: String | None
    rack_id: String | None
    client_id: String
    client_host: String
    subscribed_topic_names: list[String]
    subscribed_topic_regex: String | None
    rebalance_timeout_ms: Int32 = -1
    server_assignor: String | None
    classic_member_metadata: ClassicMemberMetadata | None = field(
        default_factory=ClassicMemberMetadata, tag=0
    )


class ConsumerGroupTargetAssignmentMetadataKey(Message, key=6, versions="0"):
    group_id: String


class ConsumerGroupTargetAssignmentMetadataValue(Message, key=6, versions="0", flexible="0+"):
    assignment_epoch: Int32
    assignment_timestamp: Int64 = field(default=0, tag=0)


class ConsumerGroupTargetAssignmentMemberKey(Message, key=7, versions="0"):
    group_id: String
    member_id: String


class TopicPartition(Struct):
    topic_id: Uuid
    partitions: list[Int32]


class ConsumerGroupTargetAssignmentMemberValue(Message, key=7, versions="0", flexible="0+"):
    topic_partitions: list[TopicPartition]


class ConsumerGroupCurrentMemberAssignmentKey(Message, key=8, versions="0"):
    group_id: String
    member_id: String


class TopicPartitions(Struct):
    topic_id: Uuid
    partitions: list[Int32]
    assignment_epochs: list[Int32] | None = field(default_factory=list, tag=0)


class ConsumerGroupCurrentMemberAssignmentValue(Message, key=8, versions="0", flexible="0+"):
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: list[TopicPartitions]
    partitions_pending_revocation: list[TopicPartitions]


class ConsumerGroupRegularExpressionKey(Message, key=16, versions="0"):
    group_id: String
    regular_expression: String


class ConsumerGroupRegularExpressionValue(Message, key=16, versions="0", flexible="0+"):
    topics: list[String]
    version: Int64
    timestamp: Int64
