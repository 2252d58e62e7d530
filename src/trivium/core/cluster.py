"""The cluster of one: its metadata, and the partitions that follow from it.

Metadata changes by records and in no other way: ``commit`` appends them to the metadata log, replays
them into the image at once, lets the storage follow, and calls back when they are durable. A start replays
the same records from disk, so that what was answered before a crash is what is there after it.

The append decides. What storage refuses after it changes nothing about that: the rest of the change happens,
the one partition says what is wrong when it is used, and the next start brings it in line.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final, Protocol

from trivium.core.faults import Fault, Refused
from trivium.core.metadata import MetadataImage
from trivium.core.metadata_configs import ConfigType
from trivium.core.metadata_topics import Topic
from trivium.core.partition import LivePartition, Rules
from trivium.core.ports import Clock, Done, Log, Storage
from trivium.messages.schema import Message
from trivium.messages.stored.metadata_log import encode_metadata_record
from trivium.messages.stored.metadata_topics import (
    ConfigRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from trivium.records.batch import build_batch, check_batches
from trivium.records.record import Record

OFFSETS_TOPIC: Final = "__consumer_offsets"
SHARE_STATE_TOPIC: Final = "__share_group_state"
TRANSACTIONS_TOPIC: Final = "__transaction_state"
CLOSED_TOPIC: Final = "__trivium"
"""The hashes of passwords and tokens are in it: no client reads it, whatever its rights."""

AUDIT_TOPIC: Final = "__trivium_audit"
"""Who may read it knows what everybody was allowed, and nobody can write into it."""

INTERNAL_TOPICS = frozenset((OFFSETS_TOPIC, SHARE_STATE_TOPIC, TRANSACTIONS_TOPIC, CLOSED_TOPIC, AUDIT_TOPIC))
"""Topics that clients may look at and not write to."""

METADATA_EPOCH = 1
"""The epoch of the metadata log in a cluster of one: nobody ever contests the leadership. A log that was
begun elsewhere may be further; its own epoch wins then."""


class RulesFor(Protocol):
    def __call__(self, topic: str) -> Rules: ...


class Cluster:
    def __init__(
        self,
        *,
        node_id: int,
        cluster_id: str,
        image: MetadataImage,
        metadata_log: Log,
        storage: Storage,
        clock: Clock,
        rules_for: RulesFor,
    ) -> None:
        self.node_id = node_id
        self.cluster_id = cluster_id
        self.image = image
        self.storage = storage
        self.clock = clock
        self.rules_for = rules_for
        self._metadata_log = metadata_log
        self._metadata_epoch = max(METADATA_EPOCH, metadata_log.epoch_at(metadata_log.log_end_offset - 1))
        self._live: dict[tuple[str, int], LivePartition] = {}
        self._lives = 0
        """How many there have been."""
        self.mutations = 0
        """Partitions that were made and deleted, since the start."""
        self.removed: list[Callable[[Topic], None]] = []
        """Who wants to be told of every topic that is deleted."""
        self.created: list[Callable[[Topic], None]] = []
        """Who wants to be told of every topic that is made, with its partitions; after those deleted."""
        self.dropped: list[Callable[[Topic, int], None]] = []
        """Who wants to be told of every partition that a topic loses while it stays."""

    # -- looking up ------------------------------------------------------------------------------

    @property
    def metadata_epoch(self) -> int:
        return self._metadata_epoch

    @property
    def metadata_offset_end(self) -> int:
        return self._metadata_log.log_end_offset

    def topic(self, ref: str | bytes) -> Topic:
        """The topic of this name or id; refused if there is none."""
        topics = self.image.topics
        if isinstance(ref, str):
            topic = topics.by_name.get(ref)
            if topic is None:
                raise Refused(Fault.UNKNOWN_TOPIC)
        else:
            topic = topics.by_id.get(ref)
            if topic is None:
                raise Refused(Fault.UNKNOWN_TOPIC_ID)
        return topic

    def partition(self, ref: str | bytes, index: int) -> LivePartition:
        """A partition that is there; refused if it is not, or if its log cannot be opened."""
        if isinstance(ref, str):
            live = self._live.get((ref, index))
            if live is not None:
                return live
        topic = self.topic(ref)
        live = self._live.get((topic.name, index))
        return live if live is not None else self._enliven(topic, index)

    def _enliven(self, topic: Topic, index: int) -> LivePartition:
        placed = topic.partitions.get(index)
        if placed is None:
            raise Refused(Fault.UNKNOWN_TOPIC)
        if placed.leader != self.node_id:
            if self.storage.is_offline(topic.name, index):
                raise Refused(Fault.STORAGE, f"{topic.name}-{index} lies in a directory that is offline")
            raise Refused(Fault.LEADER_NOT_AVAILABLE if placed.leader < 0 else Fault.NOT_LEADER)
        log = self.storage.log(topic.name, index)
        self._lives += 1
        rules = self.rules_for(topic.name)
        live = LivePartition(topic.name, index, log, placed.leader_epoch, rules, self._lives)
        self._live[topic.name, index] = live
        return live

    # -- changing --------------------------------------------------------------------------------

    def commit(self, records: Sequence[tuple[Message, int]], done: Done) -> None:
        """Make these metadata records happen, each with the version it is written in; all or none of them.

        They count when this returns; ``done`` is called when no crash can undo them. ``Refused`` if the log
        cannot take them: then nothing has changed.
        """
        now_ms = self.clock.wall_ms()
        batch = bytearray(
            build_batch(
                [
                    Record(number, now_ms, None, encode_metadata_record(record, version))
                    for number, (record, version) in enumerate(records)
                ]
            )
        )
        removed = [
            self.image.topics.by_id[record.topic_id]
            for record, _ in records
            if isinstance(record, RemoveTopicRecord)
        ]
        self._metadata_log.append(batch, check_batches(batch), self._metadata_epoch)
        self.mutations += sum(isinstance(record, PartitionRecord) for record, _ in records)
        self.mutations += sum(len(topic.partitions) for topic in removed)
        try:
            for record, _ in records:
                self.image.replay(record)
            self._follow((record for record, _ in records), removed)
            self._tell(records, removed)
        finally:
            # A bug on the way is reported by whoever called; nobody may wait for ever because of it.
            self._metadata_log.when_durable(done)

    def _tell(self, records: Sequence[tuple[Message, int]], removed: Sequence[Topic]) -> None:
        for topic in removed:
            for told in self.removed:
                told(topic)
        for record, _ in records:
            if isinstance(record, TopicRecord):
                for told in self.created:
                    told(self.image.topics.by_id[record.topic_id])
            elif isinstance(record, PartitionChangeRecord) and record.replicas == []:
                for told_of in self.dropped:
                    told_of(self.image.topics.by_id[record.topic_id], record.partition_id)

    def _follow(self, records: Iterable[Message], removed: Sequence[Topic]) -> None:
        """Bring storage and live partitions in line with what the image has just learned."""
        for topic in removed:
            for index in topic.partitions:
                self._forget(topic.name, index)
        reconfigured: dict[str, None] = {}
        for record in records:
            if isinstance(record, PartitionRecord):
                name = self.image.topics.by_id[record.topic_id].name
                with suppress(Refused):
                    self.storage.create(name, record.partition_id, record.topic_id)
            elif isinstance(record, PartitionChangeRecord):
                name = self.image.topics.by_id[record.topic_id].name
                if record.replicas == []:
                    self._forget(name, record.partition_id)
                    continue
                live = self._live.pop((name, record.partition_id), None)
                if live is not None:
                    # Whoever waits there asks anew, and hears what has changed.
                    live.announce(0)
            elif isinstance(record, ConfigRecord):
                if record.resource_type == ConfigType.TOPIC:
                    reconfigured[record.resource_name] = None
                elif record.resource_type == ConfigType.BROKER:
                    reconfigured[""] = None
        for name in reconfigured:
            self._reconfigure(name)

    def forget_live(self, topic: str, index: int) -> None:
        """The log of a partition has failed: whoever waits for it hears so, whoever comes looks anew."""
        live = self._live.pop((topic, index), None)
        if live is not None:
            live.announce(0)

    def _forget(self, topic: str, index: int) -> None:
        live = self._live.pop((topic, index), None)
        with suppress(Refused):
            self.storage.delete(topic, index)
        if live is not None:
            live.announce(0)

    def _reconfigure(self, topic: str) -> None:
        with suppress(Refused):
            self.storage.configure(topic)
        rules: dict[str, Rules] = {}
        for live in self._live.values():
            if topic in ("", live.topic):
                if live.topic not in rules:
                    rules[live.topic] = self.rules_for(live.topic)
                live.rules = rules[live.topic]
