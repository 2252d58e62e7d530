"""More and fewer partitions for a stream's topic, its oldest segments, and where to write in it.

Kafka has no word for a topic that loses partitions. Here the highest ones may go: by a change record that
leaves them without replicas, which a Kafka that opens the directory reads as a partition that is nowhere.
"""

from trivium.core.access import Operation
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.streams import (
    AddPartitions,
    DeleteSegments,
    DropPartitions,
    FlushPartition,
    LocatedTopic,
    LocateTopic,
)
from trivium.core.faults import Fault, Refused
from trivium.core.metadata_topics import NO_LEADER, Topic
from trivium.core.placement import PARTITION_CHANGE_VERSION
from trivium.core.refusing import refusing
from trivium.core.settings import Settings
from trivium.core.streams.finding import Finding
from trivium.core.streams.topic_changes import PARTITIONS_PER_COMMAND_MAX, TopicChanges
from trivium.core.topic_creation import Records, TopicCreation
from trivium.messages.stored.metadata_topics import PartitionChangeRecord


class PartitionChanges:
    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        finding: Finding,
        topics: TopicChanges,
        creation: TopicCreation,
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._finding = finding
        self._topics = topics
        self._creation = creation
        self.routes: Routes = {
            AddPartitions: refusing(self.add),
            DropPartitions: refusing(self.drop),
            DeleteSegments: refusing(self.delete_segments),
            LocateTopic: refusing(self.locate),
            FlushPartition: refusing(self.flush),
        }

    # -- how many --------------------------------------------------------------------------------

    def add(self, command: AddPartitions, caller: Caller, reply: Reply[Fault | None]) -> None:
        topic = self._finding.topic(command.stream, command.topic, caller, Operation.ALTER)
        if not 1 <= command.count <= PARTITIONS_PER_COMMAND_MAX:
            raise Refused(Fault.TOO_MANY_PARTITIONS)
        count = self._finding.partitions_count(topic) + command.count
        records = self._creation.more_partitions_records(topic.kafka_name, count)
        self._cluster.commit(records + self._topics.resizing_records(topic, count), reply)

    def drop(self, command: DropPartitions, caller: Caller, reply: Reply[Fault | None]) -> None:
        topic = self._finding.topic(command.stream, command.topic, caller, Operation.ALTER)
        if command.count < 1:
            raise Refused(Fault.TOO_MANY_PARTITIONS)
        kafka_topic = self._finding.kafka_topic(topic)
        count = len(kafka_topic.partitions) - command.count
        if count < 0:
            raise Refused(
                Fault.INVALID_PARTITIONS, f"The topic has {len(kafka_topic.partitions)} partitions."
            )
        going = sorted(kafka_topic.partitions)[count:]
        records: Records = [(_nowhere(kafka_topic, index), PARTITION_CHANGE_VERSION) for index in going]
        self._cluster.commit(records + self._topics.resizing_records(topic, count), reply)

    # -- segments --------------------------------------------------------------------------------

    def delete_segments(self, command: DeleteSegments, caller: Caller, reply: Reply[Fault | None]) -> None:
        topic = self._finding.topic(command.stream, command.topic, caller, Operation.ALTER)
        log = self._finding.partition(topic, command.partition).log
        if self._settings.topic(topic.kafka_name, "cleanup.policy") == ("compact",):
            # Its last value of every key is all that a compacted topic has.
            raise Refused(Fault.POLICY_VIOLATION)
        offsets = log.segment_offsets
        going = min(command.count, len(offsets) - 1)
        if going <= 0 or offsets[going] <= log.log_start_offset:
            reply(None)
            return
        log.delete_before(offsets[going], reply)

    # -- writing ---------------------------------------------------------------------------------

    def locate(self, command: LocateTopic, caller: Caller, reply: Reply[LocatedTopic]) -> None:
        topic = self._finding.topic(command.stream, command.topic, caller, Operation.WRITE)
        count = self._finding.partitions_count(topic)
        if not count:
            raise Refused(Fault.NO_PARTITIONS)
        turn = 0
        if command.takes_turn:
            turn = topic.turns % count
            topic.turns += 1
        reply(LocatedTopic(None, topic.kafka_name, count, turn))

    def flush(self, command: FlushPartition, caller: Caller, reply: Reply[Fault | None]) -> None:
        topic = self._finding.topic(command.stream, command.topic, caller, Operation.WRITE)
        self._finding.partition(topic, command.partition).log.when_durable(reply)


def _nowhere(topic: Topic, index: int) -> PartitionChangeRecord:
    return PartitionChangeRecord(
        partition_id=index,
        topic_id=topic.topic_id,
        replicas=[],
        isr=[],
        leader=NO_LEADER,
        removing_replicas=[],
        adding_replicas=[],
        directories=[],
    )
