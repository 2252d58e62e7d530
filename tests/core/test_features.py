"""Feature levels: what is in force, and who may change it to what (KIP-584)."""

import pytest

from tests.core.fakes import World
from trivium.core.commands.features import DescribeFeatures, FeatureUpdate, UpdatedFeatures, UpdateFeatures
from trivium.core.faults import Fault
from trivium.core.features import FOUNDING_LEVELS, METADATA_LEVEL, SUPPORTED_FEATURES
from trivium.messages.stored.metadata_brokers import FeatureLevelRecord


def world_at(**levels: int) -> World:
    """A cluster with the levels that a new one begins with, but for these."""
    world = World()
    for name, level in {
        **FOUNDING_LEVELS,
        **{key.replace("_", "."): value for key, value in levels.items()},
    }.items():
        world.cluster.commit([(FeatureLevelRecord(name=name, feature_level=level), 0)], lambda _fault: None)
    return world


def level_of(world: World, name: str) -> int:
    return world.execute(DescribeFeatures()).finalized.get(name, 0)


def test_levels_are_those_of_the_metadata_and_their_epoch_grows_with_it() -> None:
    world = world_at()
    before = world.execute(DescribeFeatures())
    assert before.finalized == {
        "metadata.version": METADATA_LEVEL,
        "group.version": 1,
        "share.version": 1,
        "transaction.version": 2,
    }
    assert before.supported["transaction.version"] == (0, 2)
    assert world.execute(UpdateFeatures([FeatureUpdate("transaction.version", 1, lowers=True)])).fault is None
    after = world.execute(DescribeFeatures())
    assert after.finalized["transaction.version"] == 1
    assert after.epoch == before.epoch + 1


def test_level_of_a_feature_that_this_node_cannot_do_is_not_shown() -> None:
    """Never advertise what does not work: a directory of Kafka may have more in force."""
    assert set(world_at(unheard_version=1).execute(DescribeFeatures()).finalized) == set(FOUNDING_LEVELS)


def test_what_a_new_cluster_begins_with_can_be_done() -> None:
    for name, level in FOUNDING_LEVELS.items():
        assert SUPPORTED_FEATURES[name].level_min <= level <= SUPPORTED_FEATURES[name].level_last


def test_change_is_answered_when_it_is_durable() -> None:
    world = world_at(transaction_version=0)
    world.storage.holds_syncs = True
    replies = world.submit(UpdateFeatures([FeatureUpdate("transaction.version", 2)]))
    assert replies == []
    world.storage.sync()
    assert replies == [UpdatedFeatures()]
    assert level_of(world, "transaction.version") == 2


@pytest.mark.parametrize(
    ("update", "words"),
    [
        (FeatureUpdate("unheard.version", 1), "does not know"),
        (FeatureUpdate("transaction.version", 3), "can do 0 to 2"),
        (FeatureUpdate("transaction.version", -1), "can do 0 to 2"),
        (FeatureUpdate("transaction.version", 0), "downgrade"),
        (FeatureUpdate("transaction.version", 2, lowers=True), "no downgrade"),
        (FeatureUpdate("metadata.version", METADATA_LEVEL - 1, lowers=True), "cannot hold"),
        (FeatureUpdate("kraft.version", 1), "voters"),
    ],
)
def test_level_that_cannot_be_had_is_refused_and_nothing_changes(update: FeatureUpdate, words: str) -> None:
    world = world_at(transaction_version=1)
    end = world.cluster.metadata_offset_end
    result = world.execute(UpdateFeatures([update]))
    assert result.fault is Fault.INVALID_UPDATE_VERSION
    assert words in (result.message or "")
    assert world.cluster.metadata_offset_end == end


def test_one_level_that_cannot_be_had_keeps_the_others_from_changing() -> None:
    world = world_at(transaction_version=0)
    updates = [FeatureUpdate("transaction.version", 2), FeatureUpdate("unheard.version", 1)]
    assert world.execute(UpdateFeatures(updates)).fault is Fault.INVALID_UPDATE_VERSION
    assert level_of(world, "transaction.version") == 0


def test_feature_that_is_named_twice_is_refused() -> None:
    update = FeatureUpdate("transaction.version", 1, lowers=True)
    assert world_at().execute(UpdateFeatures([update, update])).fault is Fault.INVALID_REQUEST


def test_rehearsal_changes_nothing_and_neither_does_the_level_that_is_in_force() -> None:
    world = world_at()
    end = world.cluster.metadata_offset_end
    rehearsed = UpdateFeatures([FeatureUpdate("transaction.version", 1, lowers=True)], validates_only=True)
    assert world.execute(rehearsed) == UpdatedFeatures()
    assert world.execute(UpdateFeatures([FeatureUpdate("transaction.version", 2)])) == UpdatedFeatures()
    assert world.cluster.metadata_offset_end == end
