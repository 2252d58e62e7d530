"""Share groups (KIP-932) in ``__consumer_offsets``."""

from trivium.messages.schema import Message, Struct, field
from trivium.messages.types import Int8, Int32, Int64, String, Uuid


class ShareGroupMemberMetadataKey(Message, key=10, versions="0"):
    group_id: String
    member_id: String


class ShareGroupMemberMetadataValue(Message, key=10, versions="0", flexible="0+"):
    rack_id: String | None
    client_id: String
    client_host: String
    subscribed_topic_names: list[String]


class ShareGroupMetadataKey(Message, key=11, versions="0"):
    group_id: String


class ShareGroupMetadataValue(Message, key=11, versions="0", flexible="0+"):
    epoch: Int32
    metadata_hash: Int64


class ShareGroupTargetAssignmentMetadataKey(Message, key=12, versions="0"):
    group_id: String


class ShareGroupTargetAssignmentMetadataValue(Message, key=12, versions="0", flexible="0+"):
    assignment_epoch: Int32
    assignment_timestamp: Int64 = field(default=0, tag=0)


class ShareGroupTargetAssignmentMemberKey(Message, key=13, versions="0"):
    group_id: String
    member_id: String


class TopicPartition(Struct):
    topic_id: Uuid
    partitions: list[Int32]


class ShareGroupTargetAssignmentMemberValue(Message, key=13, versions="0", flexible="0+"):
    topic_partitions: list[TopicPartition]


class ShareGroupCurrentMemberAssignmentKey(Message, key=14, versions="0"):
    group_id: String
    member_id: String


class TopicPartitions(Struct):
    topic_id: Uuid
    partitions: list[Int32]


class ShareGroupCurrentMemberAssignmentValue(Message, key=14, versions="0", flexible="0+"):
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: list[TopicPartitions]


class ShareGroupStatePartitionMetadataKey(Message, key=15, versions="0"):
    group_id: String


class TopicPartitionsInfo(Struct):
    topic_id: Uuid
    topic_name: String
    partitions: list[Int32]


class TopicInfo(Struct):
    topic_id: Uuid
    topic_name: String


class ShareGroupStatePartitionMetadataValue(Message, key=15, versions="0", flexible="0+"):
    initializing_topics: list[TopicPartitionsInfo]
    initialized_topics: list[TopicPartitionsInfo]
    deleting_topics: list[TopicInfo]
