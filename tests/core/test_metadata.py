"""The metadata image as a whole: which records it takes, transactions among them, and what it refuses."""

import pytest

from trivium.core.metadata import IGNORED_RECORDS, REPLAYED_RECORDS, TRANSACTION_RECORDS, MetadataImage
from trivium.messages.schema import Message
from trivium.messages.stored.group_log import GROUP_LOG
from trivium.messages.stored.metadata_brokers import FeatureLevelRecord, ZkMigrationStateRecord
from trivium.messages.stored.metadata_log import METADATA_RECORDS
from trivium.messages.stored.metadata_topics import ConfigRecord, RemoveTopicRecord, TopicRecord
from trivium.messages.stored.metadata_transactions import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    NoOpRecord,
)
from trivium.wire.errors import DecodeError

TOPIC_ID = bytes(15) + b"\x07"


def image_of(*records: Message) -> MetadataImage:
    image = MetadataImage()
    for record in records:
        image.replay(record)
    return image


def test_tables_of_records_cover_every_type_of_the_metadata_log_once() -> None:
    tables = [set(REPLAYED_RECORDS), set(IGNORED_RECORDS), set(TRANSACTION_RECORDS)]
    assert set.union(*tables) == set(METADATA_RECORDS.values())
    assert sum(len(table) for table in tables) == len(METADATA_RECORDS)


def test_image_of_nothing_is_the_image_of_records_that_say_nothing() -> None:
    assert image_of(NoOpRecord(), ZkMigrationStateRecord(zk_migration_state=0)) == MetadataImage()


def test_record_of_another_log_is_refused() -> None:
    key_type = next(iter(GROUP_LOG.key_types.values()))
    with pytest.raises(DecodeError, match="is no record of a metadata log"):
        MetadataImage().replay(key_type(group="g", topic="t", partition=0))


def test_transaction_counts_only_when_it_ends() -> None:
    image = image_of(BeginTransactionRecord(name="two"), TopicRecord(name="t", topic_id=TOPIC_ID))
    assert len(image.topics) == 0
    image.replay(EndTransactionRecord())
    assert set(image.topics.by_name) == {"t"}


def test_transaction_that_is_aborted_never_happened() -> None:
    image = image_of(
        FeatureLevelRecord(name="metadata.version", feature_level=30),
        BeginTransactionRecord(),
        TopicRecord(name="t", topic_id=TOPIC_ID),
        FeatureLevelRecord(name="metadata.version", feature_level=1),
        AbortTransactionRecord(reason="no"),
        NoOpRecord(),
    )
    assert image == image_of(FeatureLevelRecord(name="metadata.version", feature_level=30))


def test_transaction_inside_another_is_refused() -> None:
    with pytest.raises(DecodeError, match="begins inside another"):
        image_of(BeginTransactionRecord(), BeginTransactionRecord())


@pytest.mark.parametrize("end", [EndTransactionRecord(), AbortTransactionRecord()])
def test_transaction_that_never_began_cannot_end(end: Message) -> None:
    with pytest.raises(DecodeError, match="never began"):
        image_of(end)


def test_topic_when_removed_takes_its_settings_along() -> None:
    """A later topic of the same name must not inherit them."""
    setting = ConfigRecord(resource_type=2, resource_name="t", name="cleanup.policy", value="compact")
    image = image_of(
        TopicRecord(name="t", topic_id=TOPIC_ID),
        setting,
        RemoveTopicRecord(topic_id=TOPIC_ID),
        TopicRecord(name="t", topic_id=bytes(15) + b"\x08"),
    )
    assert image.configs.of_topic("t") == {}


def test_image_compares_by_what_it_says() -> None:
    topic = TopicRecord(name="t", topic_id=TOPIC_ID)
    assert image_of(topic) == image_of(NoOpRecord(), topic)
    assert image_of(topic) != MetadataImage()
