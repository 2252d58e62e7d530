"""Topics and partitions in the metadata log: what exists, who holds it, how it is set up."""

from trivium.messages.schema import Message, field
from trivium.messages.types import Int8, Int32, String, Uuid


class TopicRecord(Message, key=2, versions="0", flexible="0+"):
    name: String
    topic_id: Uuid


class PartitionRecord(Message, key=3, versions="0-2", flexible="0+"):
    partition_id: Int32 = -1
    topic_id: Uuid
    replicas: list[Int32]
    isr: list[Int32]
    removing_replicas: list[Int32]
    adding_replicas: list[Int32]
    leader: Int32 = -1
    leader_recovery_state: Int8 = field(default=0, tag=0)
    leader_epoch: Int32 = -1
    partition_epoch: Int32 = -1
    directories: list[Uuid] = field("1+", default_factory=list)
    eligible_leader_replicas: list[Int32] | None = field("2+", default=None, tag=1)
    last_known_elr: list[Int32] | None = field("2+", default=None, tag=2)


class PartitionChangeRecord(Message, key=5, versions="0-2", flexible="0+"):
    partition_id: Int32 = -1
    topic_id: Uuid
    isr: list[Int32] | None = field(default=None, tag=0)
    leader: Int32 = field(default=-2, tag=1)
    replicas: list[Int32] | None = field(default=None, tag=2)
    removing_replicas: list[Int32] | None = field(default=None, tag=3)
    adding_replicas: list[Int32] | None = field(default=None, tag=4)
    leader_recovery_state: Int8 = field(default=-1, tag=5)
    directories: list[Uuid] | None = field("1+", default=None, tag=8)
    eligible_leader_replicas: list[Int32] | None = field("2+", default=None, tag=6)
    last_known_elr: list[Int32] | None = field("2+", default=None, tag=7)


class RemoveTopicRecord(Message, key=9, versions="0", flexible="0+"):
    topic_id: Uuid


class ConfigRecord(Message, key=4, versions="0", flexible="0+"):
    resource_type: Int8
    resource_name: String
    name: String
    value: String | None


class ClearElrRecord(Message, key=28, versions="0", flexible="0+"):
    topic_name: String
