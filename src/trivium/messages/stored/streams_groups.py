"""Streams groups (KIP-1071) in ``__consumer_offsets``.

As with consumer groups, the defaults of nullable tagged fields are Kafka's: empty, not null.
"""

from trivium.messages.schema import Message, Struct, field
from trivium.messages.types import Int8, Int16, Int32, Int64, String, UInt16


class StreamsGroupMetadataKey(Message, key=17, versions="0"):
    group_id: String


class LastAssignmentConfig(Struct):
    key: String
    value: String


class StreamsGroupMetadataValue(Message, key=17, versions="0", flexible="0+"):
    epoch: Int32
    metadata_hash: Int64
    validated_topology_epoch: Int32 = field(default=-1, tag=0)
    last_assignment_configs: list[LastAssignmentConfig] | None = field(default_factory=list, tag=1)


class StreamsGroupMemberMetadataKey(Message, key=19, versions="0"):
    group_id: String
    member_id: String


class Endpoint(Struct):
    host: String
    port: UInt16


class KeyValue(Struct):
    key: String
    value: String


class StreamsGroupMemberMetadataValue(Message, key=19, versions="0", flexible="0+"):
    instance_id: String | None
    rack_id: String | None
    client_id: String
    client_host: String
    rebalance_timeout_ms: Int32 = -1
    topology_epoch: Int32
    process_id: String
    user_endpoint: Endpoint | None = None
    client_tags: list[KeyValue]


class StreamsGroupTargetAssignmentMetadataKey(Message, key=20, versions="0"):
    group_id: String


class StreamsGroupTargetAssignmentMetadataValue(Message, key=20, versions="0", flexible="0+"):
    assignment_epoch: Int32
    assignment_timestamp: Int64 = field(default=0, tag=0)


class StreamsGroupTargetAssignmentMemberKey(Message, key=21, versions="0"):
    group_id: String
    member_id: String


class TaskIds(Struct):
    subtopology_id: String
    partitions: list[Int32]


class StreamsGroupTargetAssignmentMemberValue(Message, key=21, versions="0", flexible="0+"):
    active_tasks: list[TaskIds]
    standby_tasks: list[TaskIds]
    warmup_tasks: list[TaskIds]


class StreamsGroupCurrentMemberAssignmentKey(Message, key=22, versions="0"):
    group_id: String
    member_id: String


class TaskIdsWithEpochs(Struct):
    subtopology_id: String
    partitions: list[Int32]
    assignment_epochs: list[Int32] | None = field(default_factory=list, tag=0)


class StreamsGroupCurrentMemberAssignmentValue(Message, key=22, versions="0", flexible="0+"):
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    active_tasks: list[TaskIdsWithEpochs]
    standby_tasks: list[TaskIdsWithEpochs]
    warmup_tasks: list[TaskIdsWithEpochs]
    active_tasks_pending_revocation: list[TaskIdsWithEpochs]
    standby_tasks_pending_revocation: list[TaskIdsWithEpochs]
    warmup_tasks_pending_revocation: list[TaskIdsWithEpochs]


class StreamsGroupTopologyKey(Message, key=23, versions="0"):
    group_id: String


class TopicConfig(Struct):
    key: String
    value: String


class TopicInfo(Struct):
    name: String
    partitions: Int32
    replication_factor: Int16
    topic_configs: list[TopicConfig]


class CopartitionGroup(Struct):
    source_topics: list[Int16]
    source_topic_regex: list[Int16]
    repartition_source_topics: list[Int16]


class Subtopology(Struct):
    subtopology_id: String
    source_topics: list[String]
    source_topic_regex: list[String]
    state_changelog_topics: list[TopicInfo]
    repartition_sink_topics: list[String]
    repartition_source_topics: list[TopicInfo]
    copartition_groups: list[CopartitionGroup]


class StreamsGroupTopologyValue(Message, key=23, versions="0", flexible="0+"):
    epoch: Int32
    subtopologies: list[Subtopology]
