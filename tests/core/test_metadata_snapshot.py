"""A snapshot says everything that its image knows, and nothing else (R2, 001.22-001.26)."""

from typing import Any

import pytest

from trivium.core.metadata import REPLAYED_RECORDS, MetadataImage
from trivium.core.metadata_configs import ConfigType
from trivium.core.metadata_snapshot import snapshot_records, still
from trivium.messages.schema import Message
from trivium.messages.stored import metadata_access as access
from trivium.messages.stored import metadata_brokers as brokers
from trivium.messages.stored import metadata_topics as topics
from trivium.messages.stored.metadata_log import decode_metadata_record, encode_metadata_record

TOPIC_ID = bytes(15) + b"\x07"
DIRECTORY = bytes(15) + b"\x08"

BROKER = brokers.RegisterBrokerRecord(
    broker_id=1,
    incarnation_id=bytes(15) + b"\x01",
    broker_epoch=5,
    end_points=[brokers.BrokerEndpoint(name="PLAINTEXT", host="h", port=9092, security_protocol=0)],
    features=[brokers.BrokerFeature(name="f", min_supported_version=1, max_supported_version=3)],
    rack="r",
    fenced=False,
    in_controlled_shutdown=True,
    log_dirs=[DIRECTORY],
    cordoned_log_dirs=[DIRECTORY],
)


def partition(**fields: Any) -> topics.PartitionRecord:
    return topics.PartitionRecord(
        partition_id=0,
        topic_id=TOPIC_ID,
        replicas=[1, 2],
        isr=[1],
        removing_replicas=[1],
        adding_replicas=[2],
        leader=1,
        leader_recovery_state=1,
        leader_epoch=4,
        partition_epoch=9,
        directories=[DIRECTORY, DIRECTORY],
        **fields,
    )


TOPIC = topics.TopicRecord(name="t", topic_id=TOPIC_ID)
QUOTA = access.ClientQuotaRecord(
    entity=[
        access.EntityData(entity_type="user", entity_name="u"),
        access.EntityData(entity_type="client-id", entity_name=None),
    ],
    key="producer_byte_rate",
    value=1.5,
    remove=False,
)

KNOWN: list[Message] = [
    brokers.FeatureLevelRecord(name="group.version", feature_level=1),
    brokers.FeatureLevelRecord(name="metadata.version", feature_level=30),
    BROKER,
    TOPIC,
    partition(eligible_leader_replicas=[1], last_known_elr=[2]),
    topics.ConfigRecord(resource_type=ConfigType.TOPIC, resource_name="t", name="a", value="1"),
    topics.ConfigRecord(resource_type=ConfigType.BROKER, resource_name="", name="b", value=""),
    QUOTA,
    brokers.ProducerIdsRecord(broker_id=1, broker_epoch=5, next_producer_id=2000),
    access.AccessControlEntryRecord(
        id=bytes(15) + b"\x02",
        resource_type=2,
        resource_name="t",
        pattern_type=4,
        principal="User:u",
        host="*",
        operation=3,
        permission_type=2,
    ),
    access.UserScramCredentialRecord(
        name="u", mechanism=1, salt=b"s", stored_key=b"k", server_key=b"v", iterations=4096
    ),
    access.DelegationTokenRecord(
        owner="User:u",
        requester="User:r",
        renewers=["User:x"],
        issue_timestamp=1,
        max_timestamp=9,
        expiration_timestamp=5,
        token_id="id",
    ),
]
"""One of everything that adds to an image."""


def image_of(records: list[Message]) -> MetadataImage:
    image = MetadataImage()
    for record in records:
        image.replay(record)
    return image


def through_snapshot(image: MetadataImage) -> MetadataImage:
    """The image that a reader of the snapshot's bytes gets."""
    encoded = [encode_metadata_record(record, version) for record, version in snapshot_records(image)]
    return image_of([decode_metadata_record(value)[2] for value in encoded])


def test_snapshot_when_replayed_makes_the_same_image() -> None:
    image = image_of(KNOWN)
    assert through_snapshot(image) == image


def test_snapshot_of_an_empty_image_has_no_records() -> None:
    assert list(snapshot_records(MetadataImage())) == []


@pytest.mark.parametrize("record", KNOWN, ids=lambda record: type(record).__name__)
def test_snapshot_keeps_each_kind_of_record(record: Message) -> None:
    image = image_of([TOPIC, record] if isinstance(record, topics.PartitionRecord) else [record])
    assert through_snapshot(image) == image != MetadataImage()


def test_every_record_that_adds_to_an_image_is_tried_here() -> None:
    """What is not tried only changes or takes away what another record has added."""
    untried = {kind.__name__ for kind in REPLAYED_RECORDS} - {type(record).__name__ for record in KNOWN}
    assert {name for name in untried if not name.startswith(("Remove", "Unregister"))} == {
        "PartitionChangeRecord",
        "ClearElrRecord",
        "FenceBrokerRecord",
        "UnfenceBrokerRecord",
        "BrokerRegistrationChangeRecord",
    }


def test_snapshot_begins_with_the_level_of_the_metadata() -> None:
    first, _ = next(snapshot_records(image_of(KNOWN)))
    assert first == brokers.FeatureLevelRecord(name="metadata.version", feature_level=30)


def test_partition_without_eligible_leaders_is_written_for_older_readers() -> None:
    versions = [version for _, version in snapshot_records(image_of([TOPIC, partition()]))]
    assert versions == [0, 1]


def test_still_image_is_not_reached_by_later_records() -> None:
    image = image_of(KNOWN)
    picture = still(image)
    assert picture == image
    later = [
        topics.PartitionChangeRecord(partition_id=0, topic_id=TOPIC_ID, leader=2),
        topics.ConfigRecord(resource_type=ConfigType.TOPIC, resource_name="t", name="a", value="2"),
        brokers.FenceBrokerRecord(id=1, epoch=5),
        brokers.FeatureLevelRecord(name="group.version", feature_level=2),
        brokers.ProducerIdsRecord(broker_id=1, broker_epoch=5, next_producer_id=3000),
        access.RemoveAccessControlEntryRecord(id=bytes(15) + b"\x02"),
        access.RemoveUserScramCredentialRecord(name="u", mechanism=1),
        access.RemoveDelegationTokenRecord(token_id="id"),
        access.ClientQuotaRecord(entity=QUOTA.entity, key=QUOTA.key, value=0.0, remove=True),
    ]
    for record in later:
        image.replay(record)
    assert picture == image_of(KNOWN) != image
