"""The topics of a stream: what there is, making them, changing their options, emptying and removing them.

A topic is made and removed by records of the metadata log, like every other; its entry in the registry
follows (``enrolment``), and the answer waits for both. Kafka cannot empty a topic so that its offsets begin
anew, and that is what is asked for here: it is removed and made again in one step, and has
another id in Kafka then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from trivium.core.access import Operation
from trivium.core.all_done import AllDone
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.streams import (
    CreateStreamTopic,
    DeleteStreamTopic,
    DescribedStreamTopic,
    DescribeStreamTopic,
    ListedStreamTopics,
    ListStreamTopics,
    PurgeStreamTopic,
    TopicOptions,
    UpdateStreamTopic,
)
from trivium.core.commands.topics import NewTopic
from trivium.core.faults import Fault, Refused
from trivium.core.metadata_configs import ConfigType
from trivium.core.ports import Done
from trivium.core.refusing import refusing
from trivium.core.settings import Settings
from trivium.core.streams.enrolment import Enrolment
from trivium.core.streams.finding import Finding
from trivium.core.streams.measuring import Measuring
from trivium.core.streams.names import is_name, kafka_name
from trivium.core.streams.options import (
    MAX_MESSAGE_BYTES,
    RETENTION_BYTES,
    OptionsInForce,
    changes,
    check_size,
    settings_of,
)
from trivium.core.streams.registry import (
    NO_ID,
    Registry,
    Stream,
    StreamTopic,
    new_id,
    topic_change,
)
from trivium.core.topic_creation import Records, TopicCreation
from trivium.core.trivium_log import TriviumLog
from trivium.messages.stored.metadata_topics import (
    ConfigRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)

PARTITIONS_PER_COMMAND_MAX: Final = 1_000
"""Iggy's limit. A topic may begin without any."""


class TopicChanges:
    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        registry: Registry,
        enrolment: Enrolment,
        finding: Finding,
        measuring: Measuring,
        creation: TopicCreation,
        log: TriviumLog,
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._options = OptionsInForce(settings)
        self._registry = registry
        self._enrolment = enrolment
        self._finding = finding
        self._measuring = measuring
        self._creation = creation
        self._log = log
        self.now_us = enrolment.now_us
        self.routes: Routes = {
            DescribeStreamTopic: refusing(self.describe),
            ListStreamTopics: refusing(self.list_topics),
            CreateStreamTopic: refusing(self.create),
            UpdateStreamTopic: refusing(self.update),
            DeleteStreamTopic: refusing(self.delete),
            PurgeStreamTopic: refusing(self.purge),
        }

    # -- looking ---------------------------------------------------------------------------------

    def describe(
        self, command: DescribeStreamTopic, caller: Caller, reply: Reply[DescribedStreamTopic]
    ) -> None:
        topic = self._finding.topic(command.stream, command.topic, caller, Operation.DESCRIBE_CONFIGS)
        reply(self._described(topic))

    def _described(self, topic: StreamTopic) -> DescribedStreamTopic:
        partitions = self._measuring.partitions(topic)
        return DescribedStreamTopic(None, self._measuring.topic(topic, partitions), partitions)

    def list_topics(
        self, command: ListStreamTopics, caller: Caller, reply: Reply[ListedStreamTopics]
    ) -> None:
        stream = self._finding.stream_for(command.stream, caller, Operation.DESCRIBE_CONFIGS)
        reply(ListedStreamTopics(None, self._measuring.topics(stream)))

    # -- making ----------------------------------------------------------------------------------

    def create(self, command: CreateStreamTopic, caller: Caller, reply: Reply[DescribedStreamTopic]) -> None:
        stream = self._finding.stream_for(command.stream, caller, Operation.CREATE)
        _check_new_name(stream, command.name)
        topic_id = new_id(command.topic_id, stream.next_topic_id, stream.topics, Fault.TOPIC_ID_EXISTS)
        if not 0 <= command.partitions_count <= PARTITIONS_PER_COMMAND_MAX:
            raise Refused(Fault.TOO_MANY_PARTITIONS)
        name = kafka_name(stream.name, command.name)
        options = self._options.resolved(command.options)
        check_size(options, self._options.segment_bytes(name))
        records = self._new_topic(name, command, options)
        entry = self._enrolment.new_entry(stream, command.name, name, NO_ID, options, topic_id)

        def done(fault: Fault | None) -> None:
            made = self._registry.topic_at(entry.stream_id, entry.topic_id)
            if fault is not None or made is None:
                reply(DescribedStreamTopic(fault or Fault.UNKNOWN_STREAM_TOPIC))
            else:
                reply(self._described(made))

        self._commit_expecting(records, entry, done)

    def _new_topic(self, name: str, command: CreateStreamTopic, options: TopicOptions) -> Records:
        count = command.partitions_count
        configs = {key: value for key, value in settings_of(options, count).items() if value is not None}
        if command.batch_bytes_max > self._options.batch_bytes_max(name):
            configs[MAX_MESSAGE_BYTES] = str(command.batch_bytes_max)
        if name in self._cluster.image.topics.by_name:
            raise Refused(Fault.TOPIC_EXISTS, f"Kafka's topic {name} is there already.")
        try:
            records = self._creation.new_topic_records(NewTopic(name, max(1, count), 1, configs))
        except Refused as refused:
            if refused.fault is Fault.INVALID_TOPIC_NAME:
                # The name is one that Kafka can carry, so another topic stands in its way.
                raise Refused(Fault.TOPIC_EXISTS, refused.message) from refused
            raise
        return records if count else [each for each in records if not isinstance(each[0], PartitionRecord)]

    def _commit_expecting(self, records: Records, entry: StreamTopic, done: Done) -> None:
        all_done = AllDone(done)
        self._enrolment.expect(entry, all_done.begin())
        try:
            self._cluster.commit(records, all_done.begin())
        except Refused:
            self._enrolment.forget(entry)
            raise
        all_done.all_begun()

    # -- changing --------------------------------------------------------------------------------

    def update(self, command: UpdateStreamTopic, caller: Caller, reply: Reply[Fault | None]) -> None:
        topic = self._finding.topic(command.stream, command.topic, caller, Operation.ALTER)
        if command.name != topic.name:
            _check_new_name(self._registry.streams[topic.stream_id], command.name)
        options = self._options.resolved(command.options)
        check_size(options, self._options.segment_bytes(topic.kafka_name))
        wanted = settings_of(options, self._finding.partitions_count(topic))
        records = self._settings_records(topic, wanted)
        all_done = AllDone(reply)
        if records:
            self._cluster.commit(records, all_done.begin())
        self._log.commit([topic_change(replace(topic, name=command.name, options=options))], all_done.begin())
        all_done.all_begun()

    def resizing_records(self, topic: StreamTopic, partitions: int) -> Records:
        """What gives each of so many partitions its share of the topic's size, unless somebody else has set
        another one.
        """
        own = self._cluster.image.configs.of_topic(topic.kafka_name)
        before = settings_of(topic.options, self._finding.partitions_count(topic))
        if own.get(RETENTION_BYTES) != before[RETENTION_BYTES]:
            return []
        share = settings_of(topic.options, partitions)[RETENTION_BYTES]
        return self._settings_records(topic, {RETENTION_BYTES: share})

    def _settings_records(self, topic: StreamTopic, wanted: Mapping[str, str | None]) -> Records:
        own = self._cluster.image.configs.of_topic(topic.kafka_name)
        return [
            (
                ConfigRecord(
                    resource_type=ConfigType.TOPIC, resource_name=topic.kafka_name, name=name, value=value
                ),
                0,
            )
            for name, value in changes(own, wanted).items()
        ]

    # -- emptying and removing -------------------------------------------------------------------

    def purge(self, command: PurgeStreamTopic, caller: Caller, reply: Reply[Fault | None]) -> None:
        self.empty(self._finding.topic(command.stream, command.topic, caller, Operation.DELETE), reply)

    def empty(self, topic: StreamTopic, done: Done) -> None:
        """The next record has offset 0, and nobody has read anything."""
        records = self._creation.recreation_records(self._finding.kafka_topic(topic))
        successor_id = next(record.topic_id for record, _ in records if isinstance(record, TopicRecord))
        all_done = AllDone(done)
        announced = self._enrolment.announce(topic, successor_id, all_done.begin())
        self._commit_expecting(records, announced, all_done.begin())
        all_done.all_begun()

    def delete(self, command: DeleteStreamTopic, caller: Caller, reply: Reply[Fault | None]) -> None:
        topic = self._finding.topic(command.stream, command.topic, caller, Operation.DELETE)
        self.remove([topic], reply)

    def remove(self, topics: Sequence[StreamTopic], done: Done) -> None:
        if not self._settings.broker("delete.topic.enable"):
            raise Refused(Fault.TOPIC_DELETION_DISABLED, "Topic deletion is disabled.")
        records: Records = [
            (RemoveTopicRecord(topic_id=self._finding.kafka_topic(topic).topic_id), 0) for topic in topics
        ]
        if records:
            self._cluster.commit(records, done)
        else:
            done(None)


def _check_new_name(stream: Stream, name: str) -> None:
    if not is_name(name):
        raise Refused(Fault.INVALID_TOPIC_NAME, "The name of a topic has 1 to 255 bytes.")
    if name in stream.by_name:
        raise Refused(Fault.TOPIC_EXISTS)
