"""Brokers come, change and go; features and producer ids move on."""

import pytest

from trivium.core.metadata_cluster import Broker, Brokers, Features, Listener, ProducerIds, SupportedLevels
from trivium.messages.stored.metadata_brokers import (
    BrokerEndpoint,
    BrokerFeature,
    BrokerRegistrationChangeRecord,
    FeatureLevelRecord,
    FenceBrokerRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from trivium.wire.errors import DecodeError

DIRECTORY, OTHER = bytes([1]) * 16, bytes([2]) * 16


@pytest.fixture
def brokers() -> Brokers:
    """Broker 3 in epoch 11, just registered."""
    brokers = Brokers()
    brokers.register(
        RegisterBrokerRecord(
            broker_id=3,
            incarnation_id=bytes(16),
            broker_epoch=11,
            end_points=[BrokerEndpoint(name="PLAINTEXT", host="h", port=9092, security_protocol=0)],
            features=[
                BrokerFeature(name="metadata.version", min_supported_version=7, max_supported_version=30)
            ],
            rack="r",
            log_dirs=[DIRECTORY],
        )
    )
    return brokers


def changed(brokers: Brokers, **fields: object) -> Broker:
    brokers.change(BrokerRegistrationChangeRecord(broker_id=3, broker_epoch=11, **fields))  # type: ignore[arg-type]
    return brokers.by_id[3]


def test_broker_when_registered_is_fenced_until_it_has_caught_up(brokers: Brokers) -> None:
    assert brokers.by_id[3] == Broker(
        broker_id=3,
        broker_epoch=11,
        incarnation_id=bytes(16),
        listeners={"PLAINTEXT": Listener("h", 9092, 0)},
        features={"metadata.version": SupportedLevels(7, 30)},
        rack="r",
        is_fenced=True,
        in_controlled_shutdown=False,
        directories=(DIRECTORY,),
    )


def test_broker_flags_follow_registration_changes(brokers: Brokers) -> None:
    assert not changed(brokers, fenced=-1).is_fenced
    stopping = changed(brokers, in_controlled_shutdown=1)
    assert stopping.in_controlled_shutdown
    assert not stopping.is_fenced
    assert changed(brokers, fenced=1).is_fenced


def test_broker_directories_follow_registration_changes(brokers: Brokers) -> None:
    assert changed(brokers, fenced=-1).directories == (DIRECTORY,)
    assert changed(brokers, log_dirs=[DIRECTORY, OTHER]).directories == (DIRECTORY, OTHER)
    assert changed(brokers, cordoned_log_dirs=[OTHER]).cordoned_directories == (OTHER,)
    assert changed(brokers, fenced=1).cordoned_directories == (OTHER,)
    assert changed(brokers, cordoned_log_dirs=[]).cordoned_directories == ()


def test_broker_follows_the_older_records_for_fencing(brokers: Brokers) -> None:
    brokers.unfence(UnfenceBrokerRecord(id=3, epoch=11))
    assert not brokers.by_id[3].is_fenced
    brokers.fence(FenceBrokerRecord(id=3, epoch=11))
    assert brokers.by_id[3].is_fenced


def test_broker_when_unregistered_is_gone(brokers: Brokers) -> None:
    brokers.unregister(UnregisterBrokerRecord(broker_id=3, broker_epoch=11))
    assert list(brokers) == []


def test_broker_of_another_epoch_or_unknown_is_not_changed(brokers: Brokers) -> None:
    with pytest.raises(DecodeError, match="of epoch 11 is changed in epoch 10"):
        brokers.fence(FenceBrokerRecord(id=3, epoch=10))
    with pytest.raises(DecodeError, match="never registered"):
        brokers.unregister(UnregisterBrokerRecord(broker_id=4, broker_epoch=11))
    with pytest.raises(DecodeError, match="2 is no change"):
        changed(brokers, fenced=2)


def test_feature_at_level_zero_is_absent() -> None:
    features = Features()
    features.finalize(FeatureLevelRecord(name="share.version", feature_level=1))
    assert features.levels == {"share.version": 1}
    features.finalize(FeatureLevelRecord(name="share.version", feature_level=0))
    features.finalize(FeatureLevelRecord(name="group.version", feature_level=0))
    assert features.levels == {}


def test_producer_ids_once_given_out_never_come_back() -> None:
    """R13: two producers of one id would deduplicate each other's records."""
    producer_ids = ProducerIds()
    producer_ids.give_out(ProducerIdsRecord(broker_id=1, next_producer_id=2000))
    assert producer_ids.next_id == 2000
    with pytest.raises(DecodeError, match="fall back from 2000 to 1000"):
        producer_ids.give_out(ProducerIdsRecord(broker_id=1, next_producer_id=1000))
