"""This node in the metadata: what it writes when it starts, and when it stops.

A cluster of one still keeps the books of a KRaft cluster, so that Kafka's tools, and a real Kafka that
boots on the directory, find what they expect: the level of the metadata, a registered broker with its
listeners and directories, and a leader for every partition that lies here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from trivium.core.features import FOUNDING_LEVELS, SUPPORTED_FEATURES
from trivium.core.metadata import MetadataImage
from trivium.core.metadata_cluster import METADATA_VERSION, Broker, Listener
from trivium.core.metadata_snapshot import VersionedRecord, broker_record
from trivium.core.metadata_topics import NO_LEADER, Partition, Topic
from trivium.messages.stored.metadata_brokers import BrokerRegistrationChangeRecord, FeatureLevelRecord
from trivium.messages.stored.metadata_topics import PartitionChangeRecord
from trivium.messages.stored.metadata_transactions import AbortTransactionRecord

_FENCED = 1


class Identity(NamedTuple):
    """Who this node is, for one life of the process."""

    node_id: int
    incarnation_id: bytes
    rack: str | None = None
    directories: Sequence[bytes] = ()


def founding_records(image: MetadataImage) -> Iterator[VersionedRecord]:
    """What must stand in the log before anything of ours."""
    if image.is_in_transaction:
        # Its writer is gone; whatever followed would count as a part of it.
        yield AbortTransactionRecord(reason="The node that began it has stopped."), 0
    if METADATA_VERSION not in image.features.levels:
        for name, level in FOUNDING_LEVELS.items():
            yield FeatureLevelRecord(name=name, feature_level=level), 0


def leadership_records(
    image: MetadataImage,
    node_id: int,
    *,
    is_clean: Callable[[str, int], bool],
    is_offline: Callable[[str, int], bool],
) -> Iterator[VersionedRecord]:
    """Let this node lead every partition that it has a replica of, and none whose directory is offline.

    Also one that it led before, if records may have been lost with the last stop: in a new epoch a client
    that has seen them finds out (KIP-320). Partitions of other nodes are left to them.
    """
    for topic in image.topics:
        for index, partition in topic.partitions.items():
            if node_id not in partition.replicas:
                continue
            if is_offline(topic.name, index):
                if partition.leader == node_id:
                    yield leader_record(topic, index, partition, NO_LEADER)
            elif partition.leader != node_id or not is_clean(topic.name, index):
                yield leader_record(topic, index, partition, node_id)


def leader_record(topic: Topic, index: int, partition: Partition, leader: int) -> VersionedRecord:
    """A new epoch of a partition, with this leader as the only one in sync; -1: with none."""
    had_eligible = bool(partition.eligible_leader_replicas or partition.last_known_elr)
    record = PartitionChangeRecord(
        partition_id=index,
        topic_id=topic.topic_id,
        leader=leader,
        isr=[leader] if leader >= 0 and partition.isr != (leader,) else None,
        eligible_leader_replicas=[] if had_eligible else None,
        last_known_elr=[] if had_eligible else None,
    )
    return record, 2 if had_eligible else 0


def registration_record(
    identity: Identity, listeners: Mapping[str, Listener], metadata_offset: int
) -> VersionedRecord:
    """This broker as it is now. Its epoch is the offset of this very record, as in Kafka."""
    return broker_record(
        Broker(
            broker_id=identity.node_id,
            broker_epoch=metadata_offset,
            incarnation_id=identity.incarnation_id,
            listeners=listeners,
            features=SUPPORTED_FEATURES,
            rack=identity.rack,
            is_fenced=False,
            in_controlled_shutdown=False,
            directories=tuple(identity.directories),
        )
    )


def farewell_records(image: MetadataImage, node_id: int) -> Iterator[VersionedRecord]:
    """A clean stop: whoever starts next need not wait for this broker's session to run out."""
    broker = image.brokers.by_id.get(node_id)
    if broker is not None and not broker.is_fenced:
        yield (
            BrokerRegistrationChangeRecord(
                broker_id=node_id, broker_epoch=broker.broker_epoch, fenced=_FENCED
            ),
            0,
        )
