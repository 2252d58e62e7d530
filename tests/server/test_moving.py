"""A partition is carried to another directory while it is written to, and a crash costs nothing (R3)."""

from random import Random

import pytest

from tests.core.fakes import NOW_MS
from tests.log.log_of import batch
from tests.server.storage_world import StorageWorld, records, write
from trivium.core.faults import Fault, Refused
from trivium.log.settings import LogSettings
from trivium.records.batch import iter_batches
from trivium.server import moving
from trivium.testing.disk import FakeDisk, PowerLoss

TWO = ["/one", "/two"]
SETTINGS = LogSettings(segment_bytes=300, index_interval_bytes=100)


def filled(disk: FakeDisk, count: int = 20) -> StorageWorld:
    """With one partition of so many records, in several segments."""
    world = StorageWorld(disk, TWO, settings=SETTINGS)
    log = world.log()
    for number in range(count):
        write(log, b"%d" % number, timestamp=NOW_MS + number)
    log.when_durable(lambda _fault: None)
    return world


def other(world: StorageWorld) -> str:
    home = world.store.home("orders", 0).path
    return next(path for path in TWO if path != home)


def expected(count: int) -> list[tuple[int, bytes | None]]:
    return [(number, b"%d" % number) for number in range(count)]


def test_moved_partition_is_whole_and_its_old_place_is_empty() -> None:
    disk = FakeDisk()
    world = filled(disk)
    log, source, target = world.log(), world.store.home("orders", 0).path, other(world)
    heard: list[Fault | None] = []
    world.storage.move("orders", 0, target, heard.append)
    assert heard == [None]
    assert records(log) == expected(20)
    assert log.home.path == target
    assert not [path for path in disk.tree() if path.startswith(f"{source}/orders-0/")]
    world.pass_time(SETTINGS.file_delete_delay_ms)
    assert not [path for path in disk.tree() if path.startswith(f"{source}/orders-0")]
    assert write(log, b"20", timestamp=NOW_MS) == 20
    world.store.close()
    again = StorageWorld(disk, TWO, settings=SETTINGS)
    assert again.store.home("orders", 0).path == target
    assert records(again.log()) == expected(21)


def test_records_written_during_a_move_are_carried_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "SWITCH_BYTES_MAX", 100)
    world = filled(FakeDisk())
    log = world.log()
    heard: list[Fault | None] = []
    world.worker.holds = True
    world.storage.move("orders", 0, other(world), heard.append)
    for number in range(20, 60):
        write(log, b"%d" % number, timestamp=NOW_MS + number)
    (facts,) = [each.arriving for each in world.storage.directories() if each.arriving]
    assert facts["orders", 0].offset_lag == 60
    world.worker.release()
    assert heard == [None]
    assert records(log) == expected(60)
    assert log.latest() is not None
    assert log.epoch_at(59) == 0
    assert not any(each.arriving for each in world.storage.directories())


def test_log_start_and_producers_survive_a_move() -> None:
    world = filled(FakeDisk())
    log = world.log()
    data = batch(b"20", timestamp=NOW_MS, producer_id=5, producer_epoch=2, base_sequence=0)
    log.append(data, list(iter_batches(data)), 0)
    log.delete_before(7, lambda _fault: None)
    world.storage.move("orders", 0, other(world), lambda _fault: None)
    assert log.log_start_offset == 7
    producer = log.producer(5)
    assert producer is not None
    assert (producer.epoch, producer.last_sequence) == (2, 0)


def test_partition_deleted_during_its_move_is_gone_everywhere() -> None:
    disk = FakeDisk()
    world = filled(disk)
    world.worker.holds = True
    world.storage.move("orders", 0, other(world), lambda _fault: None)
    world.storage.delete("orders", 0)
    world.worker.release()
    world.pass_time(60_000)
    assert not [path for path in disk.tree() if "orders" in path]


def test_move_that_is_called_back_leaves_the_partition_where_it_is() -> None:
    disk = FakeDisk()
    world = filled(disk)
    log, source, target = world.log(), world.store.home("orders", 0).path, other(world)
    heard: list[str] = []
    world.worker.holds = True
    world.storage.move("orders", 0, target, lambda _fault: heard.append("away"))
    world.storage.move("orders", 0, source, lambda _fault: heard.append("home"))
    world.worker.release()
    assert heard == ["home"]
    assert log.home.path == source
    assert not [path for path in disk.tree() if path.startswith(f"{target}/orders")]


def switched(disk: FakeDisk) -> StorageWorld:
    """A world whose partition has just moved, with a copy that is not durable yet."""
    world = filled(disk)
    world.worker.holds = True
    world.storage.move("orders", 0, other(world), lambda _fault: None)
    world.worker.step()
    return world


def test_moved_partition_is_at_work_before_its_disk_has_taken_everything_in() -> None:
    """R9: the loop waits for no sync, and the original stays until there has been one."""
    disk = FakeDisk()
    world = switched(disk)
    log = world.log()
    source = other(world)
    assert write(log, b"20", timestamp=NOW_MS) == 20
    assert records(log) == expected(21)
    assert [path for path in disk.tree() if path.startswith(f"{source}/orders-0/")]
    world.worker.release()
    assert not [path for path in disk.tree() if path.startswith(f"{source}/orders-0/")]


@pytest.mark.parametrize("acknowledged", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_crash_right_after_a_switch_loses_nothing_durable(seed: int, acknowledged: bool) -> None:
    disk = FakeDisk()
    world = switched(disk)
    write(world.log(), b"20", timestamp=NOW_MS)
    if acknowledged:
        world.log().when_durable(lambda _fault: None)
    again = StorageWorld(disk.crash(Random(seed)), TWO, settings=SETTINGS)
    assert records(again.log())[: 20 + acknowledged] == expected(20 + acknowledged)


def test_partition_deleted_right_after_its_switch_is_gone_from_both_places() -> None:
    disk = FakeDisk()
    world = switched(disk)
    world.storage.delete("orders", 0)
    again = world.log()
    world.worker.release()
    world.pass_time(SETTINGS.file_delete_delay_ms)
    assert records(again) == []
    assert len({path.split("/")[1] for path in disk.tree() if "orders" in path}) == 1


def test_partition_called_back_right_after_its_switch_returns() -> None:
    disk = FakeDisk()
    world = switched(disk)
    log, source = world.log(), other(world)
    heard: list[Fault | None] = []
    world.storage.move("orders", 0, source, heard.append)
    write(log, b"20", timestamp=NOW_MS)
    world.worker.release()
    assert heard == [None]
    assert log.home.path == source
    assert records(log) == expected(21)


def test_partition_without_files_is_made_in_its_new_place() -> None:
    disk = FakeDisk()
    world = StorageWorld(disk, TWO)
    world.storage.create("orders", 0, bytes(15) + b"\x07")
    for path in TWO:
        world.storage.move("orders", 0, path, lambda _fault: None)
    world.pass_time(1_000)
    assert world.store.home("orders", 0).path == TWO[-1]


@pytest.mark.parametrize("fails", ["write", "sync", "rename", "read"])
def test_move_to_a_disk_that_fails_leaves_the_partition_where_it_is(fails: str) -> None:
    disk = FakeDisk()
    world = filled(disk)
    log, source, target = world.log(), world.store.home("orders", 0).path, other(world)
    heard: list[Fault | None] = []
    disk.fail(fails)
    world.storage.move("orders", 0, target, heard.append)
    assert heard == [Fault.STORAGE]
    if not log.home.is_offline:
        assert log.home.path == source
        assert records(log) == expected(20)


def test_unknown_directory_is_refused() -> None:
    world = filled(FakeDisk())
    with pytest.raises(Refused) as refused:
        world.storage.move("orders", 0, "/elsewhere", lambda _fault: None)
    assert refused.value.fault is Fault.LOG_DIRECTORY_NOT_FOUND


def test_partition_that_is_moving_is_not_compacted() -> None:
    minute_ms = 60_000
    settings = LogSettings(compact=True, delete=False, segment_ms=minute_ms, min_cleanable_dirty_ratio=0.0)
    world = StorageWorld(FakeDisk(), TWO, settings=settings)
    log = world.log()
    for number in range(5):
        write(log, (b"k", b"%d" % number), timestamp=NOW_MS + number * 2 * minute_ms)
    log.when_durable(lambda _fault: None)
    world.worker.holds = True
    world.storage.move("orders", 0, other(world), lambda _fault: None)
    world.maintenance.start()
    world.pass_time(minute_ms)
    assert len(records(log)) == 5
    world.worker.release()
    world.pass_time(minute_ms)
    assert records(log) == [(3, b"3"), (4, b"4")]


def changes_of_a_move() -> int:
    """How many changes of the disk it takes."""
    disk = FakeDisk()
    world = filled(disk)
    before = disk.faults.changes
    world.storage.move("orders", 0, other(world), lambda _fault: None)
    return disk.faults.changes - before


@pytest.mark.parametrize("after_power_loss", [True, False])
def test_crash_at_any_point_of_a_move_loses_nothing(after_power_loss: bool) -> None:
    for nth in range(1, changes_of_a_move() + 1):
        disk = FakeDisk()
        world = filled(disk)
        disk.stop_at(nth, PowerLoss, halfway=nth % 2 == 0)
        with pytest.raises(PowerLoss):
            world.storage.move("orders", 0, other(world), lambda _fault: None)
        crashed = disk.crash(Random(nth)) if after_power_loss else disk.kill()
        again = StorageWorld(crashed, TWO, settings=SETTINGS)
        again.moving.sweep(again.store)
        assert records(again.log()) == expected(20), f"crash before change {nth}"
        left = [path for path in crashed.tree() if "-future" in path]
        assert left == [], f"crash before change {nth}"
        again.store.close()
        assert records(StorageWorld(crashed, TWO, settings=SETTINGS).log()) == expected(20)
