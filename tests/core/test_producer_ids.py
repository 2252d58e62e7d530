"""Producer ids: none twice, whatever happens, and what partitions remember of their owners."""

from collections import Counter

import pytest

from tests.core.batches import batch, produce, writing_world
from tests.core.fakes import NOW_MS, World
from tests.core.mistakes import Mistakes, asking, loose
from trivium.core.caller import Caller
from trivium.core.commands.producers import ActiveProducer, DescribeProducers, InitProducer
from trivium.core.faults import Fault
from trivium.core.producer_ids import BLOCK_IDS, ID_LAST, Producers


def world_with_producers() -> World:
    world = writing_world()
    world.add(Producers(world.cluster, world.access).routes)
    return world


def restart(world: World) -> None:
    """The core forgets; the metadata does not."""
    world.add(Producers(world.cluster, world.access).routes)


def test_ids_are_counted_from_the_first_and_begin_at_epoch_0() -> None:
    world = world_with_producers()
    given = [world.execute(InitProducer()) for _ in range(3)]
    assert [(each.producer_id, each.producer_epoch, each.fault) for each in given] == [
        (0, 0, None),
        (1, 0, None),
        (2, 0, None),
    ]


def test_ids_are_never_given_twice_across_blocks_and_restarts() -> None:
    """R13. What was left of a block before a restart is lost and never used."""
    world = world_with_producers()
    given: Counter[int] = Counter()
    for count in (3, BLOCK_IDS + 5, 1):
        given.update(world.execute(InitProducer()).producer_id for _ in range(count))
        restart(world)
    assert max(given.values()) == 1
    assert world.image.producer_ids.next_id == 4 * BLOCK_IDS


def test_id_is_given_only_when_its_block_is_durable() -> None:
    """A crash before the sync must not let the same ids out again."""
    world = world_with_producers()
    world.storage.holds_syncs = True
    replies = [world.submit(InitProducer()) for _ in range(3)]
    assert replies == [[], [], []]
    world.storage.sync()
    assert [reply[0].producer_id for reply in replies] == [0, 1, 2]
    assert world.image.producer_ids.next_id == BLOCK_IDS


@pytest.mark.parametrize("fault", [None, Fault.STORAGE])
def test_id_is_given_or_refused_whatever_goes_wrong_for_another_who_waits(fault: Fault | None) -> None:
    world, first, second = world_with_producers(), Mistakes(), Mistakes()
    world.storage.holds_syncs = True
    with asking(first, "InitProducer"):
        before = world.submit(InitProducer())
    with asking(second, "InitProducer"):
        world.routes[InitProducer](InitProducer(), Caller(), lambda _given: loose())
    after = world.submit(InitProducer())
    world.storage.sync(fault)
    assert len(before) == len(after) == 1
    assert (first.found, second.found) == ([], [("InitProducer", "a bolt is loose")])


def test_more_waiters_than_a_block_holds_take_the_next_one() -> None:
    world = world_with_producers()
    world.storage.holds_syncs = True
    replies = [world.submit(InitProducer()) for _ in range(BLOCK_IDS + 1)]
    world.storage.sync()
    assert replies[-1] == []
    world.storage.sync()
    assert [reply[0].producer_id for reply in replies] == list(range(BLOCK_IDS + 1))


def test_block_that_cannot_be_taken_is_a_fault_and_the_next_try_works() -> None:
    world = world_with_producers()
    metadata_log = world.storage.log("__cluster_metadata", 0)
    metadata_log.fault = Fault.STORAGE
    assert world.execute(InitProducer()).fault is Fault.STORAGE
    metadata_log.fault = None
    assert world.execute(InitProducer()).producer_id == 0


def test_block_whose_sync_failed_is_a_fault() -> None:
    """R4."""
    world = world_with_producers()
    world.storage.holds_syncs = True
    reply = world.submit(InitProducer())
    world.storage.sync(Fault.STORAGE)
    assert (reply[0].fault, reply[0].producer_id) == (Fault.STORAGE, -1)


def test_ids_that_are_used_up_are_a_fault() -> None:
    world = world_with_producers()
    world.image.producer_ids.next_id = ID_LAST - BLOCK_IDS + 1
    assert world.execute(InitProducer()).fault is Fault.INTERNAL


def test_producer_that_names_its_past_gets_a_new_id() -> None:
    """Without a transactional id there is nobody to check it against; Kafka gives a new id, too."""
    world = world_with_producers()
    world.execute(InitProducer())
    result = world.execute(InitProducer(producer_id=0, producer_epoch=4))
    assert (result.producer_id, result.producer_epoch) == (1, 0)


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        (InitProducer(producer_id=5), Fault.INVALID_REQUEST),
        (InitProducer(producer_epoch=5), Fault.INVALID_REQUEST),
    ],
)
def test_producer_that_cannot_have_an_id_is_told_why(command: InitProducer, fault: Fault) -> None:
    world = world_with_producers()
    assert world.execute(command).fault is fault
    assert world.image.producer_ids.next_id == 0


# -- describing ----------------------------------------------------------------------------------


def test_producers_of_a_partition_are_described() -> None:
    world = world_with_producers()
    for producer_id, epoch in ((9, 1), (4, 0)):
        produce(world, batch(b"a", b"b", producer_id=producer_id, producer_epoch=epoch, base_sequence=0))
    (found,) = world.execute(DescribeProducers([("t", 0)]))
    assert found.producers == [
        ActiveProducer(4, 0, 1, NOW_MS + 1, -1, -1),
        ActiveProducer(9, 1, 1, NOW_MS + 1, -1, -1),
    ]


@pytest.mark.parametrize(
    ("topic", "partition", "fault"),
    [
        ("missing", 0, Fault.UNKNOWN_TOPIC),
        ("t", 5, Fault.UNKNOWN_TOPIC),
        ("no/name", 0, Fault.INVALID_TOPIC_NAME),
    ],
)
def test_producers_of_what_is_not_there_are_refused(topic: str, partition: int, fault: Fault) -> None:
    bad, good = world_with_producers().execute(DescribeProducers([(topic, partition), ("t", 1)]))
    assert (bad.fault, good.fault, good.producers) == (fault, None, [])


def test_topic_that_is_not_there_is_said_to_be_missing_in_words() -> None:
    """So does Kafka, and says nothing more of a partition that a topic does not have."""
    topic, partition = world_with_producers().execute(DescribeProducers([("missing", 0), ("t", 5)]))
    assert (topic.message, partition.message) == ("There is no such topic here.", None)
