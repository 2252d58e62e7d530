"""What a node writes about itself: at its start, when it takes over, when it goes."""

from collections.abc import Callable

import pytest

from trivium.core.features import FOUNDING_LEVELS
from trivium.core.metadata import MetadataImage
from trivium.core.metadata_cluster import Listener
from trivium.core.metadata_snapshot import VersionedRecord
from trivium.core.metadata_topics import NO_LEADER, Partition
from trivium.core.registration import (
    Identity,
    farewell_records,
    founding_records,
    leadership_records,
    registration_record,
)
from trivium.messages.stored.metadata_brokers import FeatureLevelRecord
from trivium.messages.stored.metadata_log import decode_metadata_record, encode_metadata_record
from trivium.messages.stored.metadata_topics import PartitionRecord, TopicRecord
from trivium.messages.stored.metadata_transactions import BeginTransactionRecord

NODE_ID = 1
TOPIC_ID = bytes(15) + b"\x07"
YES: Callable[[str, int], bool] = lambda _topic, _index: True  # noqa: E731
NO: Callable[[str, int], bool] = lambda _topic, _index: False  # noqa: E731


def replayed(image: MetadataImage, *records: VersionedRecord) -> MetadataImage:
    """Let them happen, through the bytes that a log would hold."""
    for record, version in records:
        image.replay(decode_metadata_record(encode_metadata_record(record, version))[2])
    return image


def image_with(**fields: object) -> MetadataImage:
    """One topic of one partition."""
    record: dict[str, object] = {
        "partition_id": 0,
        "topic_id": TOPIC_ID,
        "replicas": [1],
        "isr": [1],
        "removing_replicas": [],
        "adding_replicas": [],
        "leader": 1,
        "leader_epoch": 4,
        "partition_epoch": 9,
        "directories": [],
    }
    partition = PartitionRecord(**(record | fields))  # type: ignore[arg-type]
    return replayed(MetadataImage(), (TopicRecord(name="t", topic_id=TOPIC_ID), 0), (partition, 2))


def partition(image: MetadataImage) -> Partition:
    return image.topics.by_name["t"].partitions[0]


def test_new_cluster_begins_with_the_level_of_its_metadata() -> None:
    image = MetadataImage()
    replayed(image, *founding_records(image))
    assert image.features.levels == FOUNDING_LEVELS
    assert list(founding_records(image)) == []


def test_level_that_a_cluster_has_stays_as_it_is() -> None:
    image = replayed(MetadataImage(), (FeatureLevelRecord(name="metadata.version", feature_level=20), 0))
    assert list(founding_records(image)) == []


def test_transaction_that_nobody_will_end_is_aborted_first() -> None:
    """What followed would be taken for a part of it."""
    image = replayed(
        MetadataImage(),
        (FeatureLevelRecord(name="metadata.version", feature_level=20), 0),
        (BeginTransactionRecord(name="half"), 0),
        (TopicRecord(name="half", topic_id=TOPIC_ID), 0),
    )
    replayed(image, *founding_records(image))
    assert not image.is_in_transaction
    assert len(image.topics) == 0


def test_partition_that_this_node_leads_is_left_alone_after_a_clean_stop() -> None:
    assert list(leadership_records(image_with(), NODE_ID, is_clean=YES, is_offline=NO)) == []


def test_partition_that_this_node_leads_gets_a_new_epoch_after_a_crash() -> None:
    image = image_with()
    replayed(image, *leadership_records(image, NODE_ID, is_clean=NO, is_offline=NO))
    assert (partition(image).leader, partition(image).leader_epoch) == (1, 5)


def test_partition_without_a_leader_is_led_as_kafka_leaves_it_at_a_clean_stop() -> None:
    image = image_with(leader=-1, isr=[], eligible_leader_replicas=[1], last_known_elr=[1])
    replayed(image, *leadership_records(image, NODE_ID, is_clean=YES, is_offline=NO))
    found = partition(image)
    assert (found.leader, found.isr, found.leader_epoch) == (1, (1,), 5)
    assert (found.eligible_leader_replicas, found.last_known_elr) == ((), ())


def test_replica_of_a_former_cluster_is_taken_over() -> None:
    image = image_with(replicas=[3, 1], isr=[3, 1], leader=3)
    replayed(image, *leadership_records(image, NODE_ID, is_clean=YES, is_offline=NO))
    assert (partition(image).leader, partition(image).isr) == (1, (1,))


def test_partition_of_other_nodes_is_left_to_them() -> None:
    image = image_with(replicas=[2, 3], isr=[2], leader=2)
    assert list(leadership_records(image, NODE_ID, is_clean=NO, is_offline=NO)) == []


@pytest.mark.parametrize("leader", [1, NO_LEADER])
def test_partition_in_an_offline_directory_has_no_leader(leader: int) -> None:
    image = image_with(leader=leader)
    replayed(image, *leadership_records(image, NODE_ID, is_clean=YES, is_offline=YES))
    assert partition(image).leader == NO_LEADER
    assert partition(image).isr == (1,)


def test_registered_node_is_known_by_where_it_listens_until_it_says_goodbye() -> None:
    image = MetadataImage()
    directory = bytes(15) + b"\x09"
    identity = Identity(NODE_ID, bytes(15) + b"\x05", "rack", [directory])
    replayed(image, registration_record(identity, {"PLAINTEXT": Listener("host", 9092, 0)}, 17))
    broker = image.brokers.by_id[NODE_ID]
    assert broker.listeners == {"PLAINTEXT": Listener("host", 9092, 0)}
    assert (broker.broker_epoch, broker.is_fenced, broker.rack) == (17, False, "rack")
    assert broker.directories == (directory,)
    replayed(image, *farewell_records(image, NODE_ID))
    assert image.brokers.by_id[NODE_ID].is_fenced
    assert list(farewell_records(image, NODE_ID)) == []
