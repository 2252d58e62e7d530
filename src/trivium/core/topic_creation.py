"""Making topics and partitions. Records of the metadata log are how they come to be.

Everything that one request asks for is checked first and committed in one batch: what is right is made, what
is wrong is refused by itself, and a crash leaves all of it or nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from trivium.core.access import CLUSTER_NAME, Access, Operation, Resource
from trivium.core.assignments import check_assignment
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply, Routes, TopicRef
from trivium.core.commands.topics import (
    CreatedPartitions,
    CreatedTopic,
    CreatePartitions,
    CreateTopics,
    NewPartitions,
    NewTopic,
)
from trivium.core.config.change import check_new_topic
from trivium.core.config.description import Entry, describe_topic
from trivium.core.faults import Fault, Refused
from trivium.core.metadata_configs import ConfigType
from trivium.core.metadata_topics import Topic
from trivium.core.mutations import AdmitsMutations, admits_all, check_budget
from trivium.core.patience import has_no_time, in_time
from trivium.core.ports import Done
from trivium.core.settings import Settings, whole
from trivium.core.timers import Timers
from trivium.core.topic_names import TakenNames
from trivium.messages.schema import Message
from trivium.messages.stored.metadata_topics import (
    ConfigRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from trivium.wire.uuid_text import ZERO_UUID

PARTITIONS_PER_REQUEST_MAX: Final = 10_000
"""Kafka's limit: a mistyped number should be an answer, not a full disk."""
DEFAULT: Final = -1

PARTITION_RECORD_VERSION: Final = 1
"""The one that names directories (KIP-858)."""

NewId = Callable[[], bytes]
Records = list[tuple[Message, int]]
"""Records of the metadata log, each with the version it is written in."""


class _Plan(NamedTuple):
    """A topic that could be made."""

    topic_id: bytes
    partitions: int
    configs: Mapping[str, str]
    records: Records


class TopicCreation:
    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        access: Access,
        new_id: NewId,
        timers: Timers,
        admits_mutations: AdmitsMutations = admits_all,
    ) -> None:
        self._admits_mutations = admits_mutations
        self._cluster = cluster
        self._timers = timers
        self._settings = settings
        self._access = access
        self._new_id = new_id
        self.routes: Routes = {CreateTopics: self.create, CreatePartitions: self.create_partitions}

    # -- topics ----------------------------------------------------------------------------------

    def create(self, command: CreateTopics, caller: Caller, reply: Reply[list[CreatedTopic]]) -> None:
        if has_no_time(command):
            reply(command.refused(Fault.TIMED_OUT))
            return
        if sum(map(self._partitions_asked, command.topics)) > PARTITIONS_PER_REQUEST_MAX:
            reply(
                command.refused(Fault.POLICY_VIOLATION, "Excessively large number of partitions per request.")
            )
            return
        taken = TakenNames(self._cluster.image.topics.by_name)
        times = Counter(topic.name for topic in command.topics)
        results: list[CreatedTopic] = []
        records: Records = []
        for topic in {topic.name: topic for topic in command.topics}.values():
            try:
                if times[topic.name] > 1:
                    raise Refused(Fault.INVALID_REQUEST, "Duplicate topic name.")
                if not self._may_create(caller, topic.name):
                    raise Refused(Fault.NOT_AUTHORIZED_TOPIC, "Authorization failed.")
                plan = self._plan(topic, taken)
                if command.refuses_debtors:
                    check_budget(self._admits_mutations, caller, plan.partitions)
            except Refused as refused:
                results.append(CreatedTopic(topic.name, refused.fault, refused.message))
                continue
            taken.add(topic.name)
            records += plan.records
            results.append(
                CreatedTopic(
                    topic.name,
                    topic_id=plan.topic_id,
                    partitions=plan.partitions,
                    replication_factor=1,
                    configs=self._visible_configs(caller, topic.name, plan.configs),
                )
            )
        if not records or command.validate_only:
            reply(results)
            return
        answer = in_time(self._timers, command, reply)
        self._commit(
            records, lambda fault, message: answer([_undone(each, fault, message) for each in results])
        )

    def _may_create(self, caller: Caller, name: str) -> bool:
        allows = self._access.allows
        return allows(caller, Operation.CREATE, Resource.CLUSTER, CLUSTER_NAME) or allows(
            caller, Operation.CREATE, Resource.TOPIC, name
        )

    def _visible_configs(
        self, caller: Caller, name: str, configs: Mapping[str, str]
    ) -> Sequence[Entry] | None:
        if not self._access.allows(caller, Operation.DESCRIBE_CONFIGS, Resource.TOPIC, name):
            return None
        # What came with the request goes back as it was written, which Kafka does here and nowhere else.
        return [
            entry._replace(value=configs.get(entry.name, entry.value))
            for entry in describe_topic(configs, self._settings.layers)
        ]

    def create_automatically(
        self, topics: Iterable[NewTopic], faults: dict[TopicRef, Refused], done: Done
    ) -> None:
        """Make those of the topics that can be made; ``faults`` learns why the others cannot."""
        taken = TakenNames(self._cluster.image.topics.by_name)
        records: Records = []
        for topic in topics:
            try:
                records += self._plan(topic, taken).records
                taken.add(topic.name)
            except Refused as refused:
                faults[topic.name] = refused
        if records:
            self._cluster.commit(records, done)
        else:
            done(None)

    def new_topic_records(self, topic: NewTopic) -> Records:
        """The records that make a topic; ``Refused`` if there may be no such topic."""
        return self._plan(topic, TakenNames(self._cluster.image.topics.by_name)).records

    def recreation_records(self, topic: Topic) -> Records:
        """The records that make a topic again that is there: the same but empty, under another id."""
        topic_id = self._new_id()
        configs = self._cluster.image.configs.of_topic(topic.name)
        return [
            (RemoveTopicRecord(topic_id=topic.topic_id), 0),
            (TopicRecord(name=topic.name, topic_id=topic_id), 0),
            *((_config(topic.name, name, value), 0) for name, value in configs.items()),
            *self._partition_records(topic_id, sorted(topic.partitions)),
        ]

    def more_partitions_records(self, topic: str, partitions: int) -> Records:
        """The records that give a topic so many partitions; ``Refused`` if it cannot have them."""
        return self._more_partitions(NewPartitions(topic, partitions), PARTITIONS_PER_REQUEST_MAX)

    def _plan(self, topic: NewTopic, taken: TakenNames) -> _Plan:
        taken.check(topic.name)
        configs = check_new_topic(list(topic.configs.items()), self._settings.layers)
        partitions = self._assigned(topic) if topic.assignments else self._placed(topic)
        topic_id = self._new_id()
        records: Records = [(TopicRecord(name=topic.name, topic_id=topic_id), 0)]
        records += [(_config(topic.name, name, value), 0) for name, value in configs.items()]
        records += self._partition_records(topic_id, range(partitions))
        return _Plan(topic_id, partitions, configs, records)

    def _placed(self, topic: NewTopic) -> int:
        """How many partitions a topic gets that leaves their place to the broker."""
        if topic.replication_factor == 0 or topic.replication_factor < DEFAULT:
            raise Refused(
                Fault.INVALID_REPLICATION_FACTOR,
                "Replication factor must be larger than 0, or -1 to use the default value.",
            )
        if topic.partitions == 0 or topic.partitions < DEFAULT:
            raise Refused(
                Fault.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value."
            )
        replication_factor = topic.replication_factor
        if replication_factor == DEFAULT:
            replication_factor = whole(self._settings.broker, "default.replication.factor")
        if replication_factor != 1:
            raise Refused(
                Fault.INVALID_REPLICATION_FACTOR,
                f"Unable to replicate the partition {replication_factor} time(s): The target replication "
                f"factor of {replication_factor} cannot be reached because only 1 broker(s) are registered "
                "or some brokers have all their log directories cordoned.",
            )
        return self._partitions_asked(topic)

    def _partitions_asked(self, topic: NewTopic) -> int:
        if topic.assignments:
            return len(topic.assignments)
        if topic.partitions == DEFAULT:
            return whole(self._settings.broker, "num.partitions")
        return max(0, topic.partitions)

    def _assigned(self, topic: NewTopic) -> int:
        """How many partitions a topic gets whose replicas are named."""
        for given, name in (
            (topic.replication_factor, "replication factor"),
            (topic.partitions, "numPartitions"),
        ):
            if given != DEFAULT:
                raise Refused(
                    Fault.INVALID_REQUEST,
                    f"A manual partition assignment was specified, but {name} was not set to -1.",
                )
        indexes: set[int] = set()
        count_before: int | None = None
        for index, replicas in topic.assignments:
            if index in indexes:
                raise Refused(
                    Fault.INVALID_REPLICA_ASSIGNMENT,
                    f"Found multiple manual partition assignments for partition {index}",
                )
            check_assignment(replicas, self._cluster.node_id, count_before)
            count_before = len(replicas)
            indexes.add(index)
        if indexes != set(range(len(indexes))):
            raise Refused(
                Fault.INVALID_REPLICA_ASSIGNMENT,
                "partitions should be a consecutive 0-based integer sequence",
            )
        return len(indexes)

    # -- partitions ------------------------------------------------------------------------------

    def create_partitions(
        self, command: CreatePartitions, caller: Caller, reply: Reply[list[CreatedPartitions]]
    ) -> None:
        if has_no_time(command):
            reply(command.refused(Fault.TIMED_OUT))
            return
        times = Counter(topic.topic for topic in command.topics)
        results: list[CreatedPartitions] = []
        records: Records = []
        for wanted in {topic.topic: topic for topic in command.topics}.values():
            try:
                if times[wanted.topic] > 1:
                    raise Refused(Fault.INVALID_REQUEST, "Duplicate topic name.")
                if not self._access.allows(caller, Operation.ALTER, Resource.TOPIC, wanted.topic):
                    raise Refused(Fault.NOT_AUTHORIZED_TOPIC)
                more = self._more_partitions(wanted, PARTITIONS_PER_REQUEST_MAX - len(records))
                if command.refuses_debtors:
                    check_budget(self._admits_mutations, caller, len(more))
                records += more
                results.append(CreatedPartitions(wanted.topic))
            except Refused as refused:
                results.append(CreatedPartitions(wanted.topic, refused.fault, refused.message))
        if not records or command.validate_only:
            reply(results)
            return
        answer = in_time(self._timers, command, reply)
        self._commit(
            records,
            lambda fault, message: answer(
                [
                    each if fault is None or each.fault else CreatedPartitions(each.topic, fault, message)
                    for each in results
                ]
            ),
        )

    def _more_partitions(self, wanted: NewPartitions, partitions_max: int) -> Records:
        topic = self._cluster.topic(wanted.topic)
        count_before = len(topic.partitions)
        if wanted.partitions == count_before:
            raise Refused(Fault.INVALID_PARTITIONS, f"Topic already has {count_before} partition(s).")
        if wanted.partitions < count_before:
            raise Refused(
                Fault.INVALID_PARTITIONS,
                f"The topic {topic.name} currently has {count_before} partition(s); "
                f"{wanted.partitions} would not be an increase.",
            )
        more = wanted.partitions - count_before
        if more > partitions_max:
            raise Refused(
                Fault.POLICY_VIOLATION,
                f"{more} more partitions for {topic.name}; "
                f"one request may ask for {PARTITIONS_PER_REQUEST_MAX} altogether.",
            )
        if wanted.assignments is not None:
            if len(wanted.assignments) != more:
                raise Refused(
                    Fault.INVALID_REPLICA_ASSIGNMENT,
                    f"Attempted to add {more} additional partition(s), "
                    f"but only {len(wanted.assignments)} assignment(s) were specified.",
                )
            for replicas in wanted.assignments:
                check_assignment(replicas, self._cluster.node_id, 1)
        return self._partition_records(topic.topic_id, range(count_before, wanted.partitions))

    # -- records ---------------------------------------------------------------------------------

    def _partition_records(self, topic_id: bytes, indexes: Iterable[int]) -> Records:
        node_id = self._cluster.node_id
        return [
            (
                PartitionRecord(
                    partition_id=index,
                    topic_id=topic_id,
                    replicas=[node_id],
                    isr=[node_id],
                    removing_replicas=[],
                    adding_replicas=[],
                    leader=node_id,
                    leader_epoch=0,
                    partition_epoch=0,
                    directories=[ZERO_UUID],
                ),
                PARTITION_RECORD_VERSION,
            )
            for index in indexes
        ]

    def _commit(self, records: Records, done: Callable[[Fault | None, str | None], None]) -> None:
        try:
            self._cluster.commit(records, lambda fault: done(fault, None))
        except Refused as refused:
            done(refused.fault, refused.message)


def _config(topic: str, name: str, value: str) -> ConfigRecord:
    return ConfigRecord(resource_type=ConfigType.TOPIC, resource_name=topic, name=name, value=value)


def _undone(result: CreatedTopic, fault: Fault | None, message: str | None) -> CreatedTopic:
    """What became of a topic when its records could not be written."""
    return result if fault is None or result.fault else CreatedTopic(result.name, fault, message)
