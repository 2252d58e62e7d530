"""Topics and partitions as the metadata log tells them.

A partition is a value: a change makes a new one, as its record says, and nothing is ever half changed.
Two epochs count what happens to it: ``leader_epoch`` each naming of a leader, ``partition_epoch`` every
change. No record carries either once the partition exists; both follow from the number of changes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from trivium.messages.stored.metadata_topics import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from trivium.wire.errors import DecodeError
from trivium.wire.uuid_text import ZERO_UUID, uuid_to_text

NO_LEADER: Final = -1
_LEADER_UNCHANGED: Final = -2
_RECOVERY_UNCHANGED: Final = -1

DIRECTORY_UNKNOWN: Final = ZERO_UUID
"""The directory of a replica that was placed before brokers told where (KIP-858)."""


class Partition(NamedTuple):
    """Who holds a partition and who leads it. ``directories`` go with ``replicas``, one each."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    directories: tuple[bytes, ...]
    removing_replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    eligible_leader_replicas: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()
    is_recovering: bool = False
    """The leader was elected uncleanly and has not caught up with itself yet."""


@dataclass(slots=True)
class Topic:
    name: str
    topic_id: bytes
    partitions: dict[int, Partition] = field(default_factory=dict)


@dataclass(slots=True)
class Topics:
    """All topics, found by name or by id."""

    by_name: dict[str, Topic] = field(default_factory=dict)
    by_id: dict[bytes, Topic] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Topic]:
        return iter(self.by_name.values())

    def __len__(self) -> int:
        return len(self.by_name)

    def id_of(self, name: str) -> bytes | None:
        topic = self.by_name.get(name)
        return None if topic is None else topic.topic_id

    def create(self, record: TopicRecord) -> None:
        if record.name in self.by_name or record.topic_id in self.by_id:
            raise DecodeError(f"topic {record.name} is created twice")
        self.by_name[record.name] = self.by_id[record.topic_id] = Topic(record.name, record.topic_id)

    def remove(self, record: RemoveTopicRecord) -> Topic:
        topic = self._topic(record.topic_id)
        del self.by_name[topic.name], self.by_id[topic.topic_id]
        return topic

    def place(self, record: PartitionRecord) -> None:
        """A new partition, or in a snapshot one with all its history."""
        topic = self._topic(record.topic_id)
        topic.partitions[record.partition_id] = Partition(
            replicas=tuple(record.replicas),
            isr=tuple(record.isr),
            leader=record.leader,
            leader_epoch=record.leader_epoch,
            partition_epoch=record.partition_epoch,
            directories=_directories(topic, record.replicas, record.directories),
            removing_replicas=tuple(record.removing_replicas),
            adding_replicas=tuple(record.adding_replicas),
            eligible_leader_replicas=tuple(record.eligible_leader_replicas or ()),
            last_known_elr=tuple(record.last_known_elr or ()),
            is_recovering=bool(record.leader_recovery_state),
        )

    def change(self, record: PartitionChangeRecord) -> None:
        topic = self._topic(record.topic_id)
        before = topic.partitions.get(record.partition_id)
        if before is None:
            raise DecodeError(f"{topic.name}-{record.partition_id} is changed and does not exist")
        if record.replicas == []:
            # Kafka has no record for a partition that goes: one without replicas is nowhere.
            del topic.partitions[record.partition_id]
            return
        topic.partitions[record.partition_id] = _changed(topic, before, record)

    def clear_elr(self, record: ClearElrRecord) -> None:
        """Forget who may lead besides the in-sync replicas: of one topic, or of all if none is named."""
        if record.topic_name and record.topic_name not in self.by_name:
            raise DecodeError(
                f"the eligible leaders of topic {record.topic_name} are cleared: there is no such topic"
            )
        for topic in [self.by_name[record.topic_name]] if record.topic_name else self:
            for number, partition in topic.partitions.items():
                if partition.eligible_leader_replicas or partition.last_known_elr:
                    topic.partitions[number] = partition._replace(
                        eligible_leader_replicas=(),
                        last_known_elr=(),
                        partition_epoch=partition.partition_epoch + 1,
                    )

    def _topic(self, topic_id: bytes) -> Topic:
        topic = self.by_id.get(topic_id)
        if topic is None:
            raise DecodeError(f"no topic has the id {uuid_to_text(topic_id)}")
        return topic


def _changed(topic: Topic, before: Partition, record: PartitionChangeRecord) -> Partition:
    """The partition after the record; a field that the record leaves out stays as it was."""
    replicas = _if_given(record.replicas, before.replicas)
    directories = before.directories if record.directories is None else record.directories
    elects = record.leader != _LEADER_UNCHANGED
    return Partition(
        replicas=replicas,
        isr=_if_given(record.isr, before.isr),
        leader=record.leader if elects else before.leader,
        leader_epoch=before.leader_epoch + elects,
        partition_epoch=before.partition_epoch + 1,
        directories=_directories(topic, replicas, directories),
        removing_replicas=_if_given(record.removing_replicas, before.removing_replicas),
        adding_replicas=_if_given(record.adding_replicas, before.adding_replicas),
        eligible_leader_replicas=_if_given(record.eligible_leader_replicas, before.eligible_leader_replicas),
        last_known_elr=_if_given(record.last_known_elr, before.last_known_elr),
        is_recovering=(
            before.is_recovering
            if record.leader_recovery_state == _RECOVERY_UNCHANGED
            else bool(record.leader_recovery_state)
        ),
    )


def _if_given(given: list[int] | None, before: tuple[int, ...]) -> tuple[int, ...]:
    return before if given is None else tuple(given)


def _directories(
    topic: Topic, replicas: list[int] | tuple[int, ...], directories: list[bytes] | tuple[bytes, ...]
) -> tuple[bytes, ...]:
    """One directory for each replica; records from before KIP-858 name none."""
    if not directories:
        return (DIRECTORY_UNKNOWN,) * len(replicas)
    if len(directories) != len(replicas):
        raise DecodeError(
            f"a partition of {topic.name} has {len(replicas)} replicas in {len(directories)} directories"
        )
    return tuple(directories)
