"""Finding offsets: by name, by time, by epoch, and as the isolation level sees it."""

import pytest

from tests.core.batches import batch, produce, writing_world
from tests.core.fakes import NOW_MS, World
from trivium.core.access import Access
from trivium.core.commands.list_offsets import (
    EpochQuery,
    FindEpochEnds,
    FindOffsets,
    FoundOffset,
    OffsetQuery,
    Spot,
)
from trivium.core.faults import Fault
from trivium.core.list_offsets import Offsets
from trivium.records.batch import check_batches


def world_with_times() -> World:
    """Offsets 0 and 1 at +0 and +1 ms, 2 at +1000, 3 at +500."""
    world = writing_world()
    world.add(Offsets(world.cluster, world.access).routes)
    produce(world, batch(b"a", b"b"))
    produce(world, batch(b"c", timestamp=NOW_MS + 1_000))
    produce(world, batch(b"d", timestamp=NOW_MS + 500))
    return world


def find(world: World, at: Spot | int, *, committed: bool = False, epoch: int = -1) -> FoundOffset:
    (found,) = world.execute(FindOffsets([OffsetQuery("t", 0, at, epoch)], committed=committed))
    return found


@pytest.mark.parametrize(
    ("at", "offset", "timestamp_ms"),
    [
        (Spot.EARLIEST, 0, -1),
        (Spot.LATEST, 4, -1),
        (Spot.YOUNGEST, 2, NOW_MS + 1_000),
        (Spot.TIERED, -1, -1),
        (0, 0, NOW_MS),
        (NOW_MS + 1, 1, NOW_MS + 1),
        (NOW_MS + 2, 2, NOW_MS + 1_000),
        (NOW_MS + 1_001, -1, -1),
    ],
)
def test_offset_is_found(at: Spot | int, offset: int, timestamp_ms: int) -> None:
    found = find(world_with_times(), at)
    assert (found.fault, found.offset, found.timestamp_ms) == (None, offset, timestamp_ms)
    assert found.leader_epoch == (0 if offset >= 0 else -1)


def test_empty_partition_begins_and_ends_in_the_epoch_of_its_leader() -> None:
    world = writing_world()
    world.add(Offsets(world.cluster, world.access).routes)
    world.cluster.partition("t", 0).leader_epoch = 5
    assert [find(world, at)[3:6] for at in (Spot.EARLIEST, Spot.LATEST)] == [(0, -1, 5), (0, -1, 5)]
    assert find(world, Spot.YOUNGEST).offset == -1


def test_committed_end_is_before_the_first_open_transaction() -> None:
    world = world_with_times()
    begun = bytearray(
        batch(
            b"x",
            timestamp=NOW_MS + 9_000,
            producer_id=1,
            producer_epoch=0,
            base_sequence=0,
            transactional=True,
        )
    )
    world.log("t").append(begun, check_batches(begun), 0)
    assert (find(world, Spot.LATEST).offset, find(world, Spot.LATEST, committed=True).offset) == (5, 4)
    assert (find(world, NOW_MS + 5_000).offset, find(world, NOW_MS + 5_000, committed=True).offset) == (4, -1)


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        (OffsetQuery("missing", 0, Spot.LATEST), Fault.UNKNOWN_TOPIC),
        (OffsetQuery("t", 7, Spot.LATEST), Fault.UNKNOWN_TOPIC),
        (OffsetQuery("t", 0, Spot.LATEST, 9), Fault.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_what_is_not_there_has_no_offset(query: OffsetQuery, fault: Fault) -> None:
    bad, good = world_with_times().execute(FindOffsets([query, OffsetQuery("t", 0, Spot.LATEST)]))
    assert (bad.fault, good.fault) == (fault, None)


def test_right_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    world = world_with_times()
    monkeypatch.setattr(Access, "allows", lambda *_: False)
    assert find(world, Spot.LATEST).fault is Fault.NOT_AUTHORIZED_TOPIC


def test_epoch_before_all_is_fenced_and_minus_one_says_nothing() -> None:
    world = writing_world()
    world.add(Offsets(world.cluster, world.access).routes)
    assert find(world, Spot.LATEST, epoch=-1).fault is None
    assert find(world, Spot.LATEST, epoch=-2).fault is Fault.FENCED_LEADER_EPOCH


# -- epochs --------------------------------------------------------------------------------------


def world_with_epochs() -> World:
    """Epoch 0 wrote offsets 0 and 1, epoch 3 wrote 2. The leader is at epoch 6 and has written nothing."""
    world = writing_world()
    world.add(Offsets(world.cluster, world.access).routes)
    produce(world, batch(b"a", b"b"))
    world.cluster.partition("t", 0).leader_epoch = 3
    produce(world, batch(b"c"))
    world.cluster.partition("t", 0).leader_epoch = 6
    return world


@pytest.mark.parametrize(
    ("epoch", "expected"),
    [(0, (0, 2)), (1, (0, 2)), (3, (3, 3)), (5, (3, 3)), (6, (6, 3)), (7, (-1, -1)), (-1, (-1, -1))],
)
def test_epoch_ends_where_the_next_one_begins(epoch: int, expected: tuple[int, int]) -> None:
    (found,) = world_with_epochs().execute(FindEpochEnds([EpochQuery("t", 0, epoch)]))
    assert (found.fault, found.leader_epoch, found.offset_end) == (None, *expected)


def test_epoch_of_an_empty_partition_ends_at_its_beginning() -> None:
    world = writing_world()
    world.add(Offsets(world.cluster, world.access).routes)
    (found,) = world.execute(FindEpochEnds([EpochQuery("t", 0, 0)]))
    assert (found.leader_epoch, found.offset_end) == (0, 0)


@pytest.mark.parametrize(
    ("current", "fault"), [(5, Fault.FENCED_LEADER_EPOCH), (7, Fault.UNKNOWN_LEADER_EPOCH)]
)
def test_client_with_another_leader_in_mind_is_refused(current: int, fault: Fault) -> None:
    (found,) = world_with_epochs().execute(FindEpochEnds([EpochQuery("t", 0, 0, current)]))
    assert (found.fault, found.offset_end) == (fault, -1)
