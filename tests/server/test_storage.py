"""Partitions come and go without stopping anybody, and lie where they should (R3, R4, R5)."""

from random import Random

import pytest

from tests.core.fakes import NOW_MS
from tests.server.storage_world import TOPIC_ID, StorageWorld, records, write
from trivium.core.faults import Fault, Refused
from trivium.log.settings import LogSettings
from trivium.testing.disk import FakeDisk

TWO = ["/one", "/two"]


# -- making ----------------------------------------------------------------------------------------


def test_new_partition_has_files_after_a_while_although_nobody_uses_it() -> None:
    disk = FakeDisk()
    world = StorageWorld(disk)
    for number in range(50):
        world.storage.create("orders", number, TOPIC_ID.bytes)
    assert not disk.is_directory("/data/orders-0")
    world.pass_time(1_000)
    assert all(disk.is_directory(f"/data/orders-{number}") for number in range(50))
    assert world.timers.next_due_ms is None


def test_new_partition_that_is_used_is_there_at_once() -> None:
    world = StorageWorld(FakeDisk())
    world.storage.create("orders", 0, TOPIC_ID.bytes)
    log = world.storage.log("orders", 0)
    assert write(log, b"a", timestamp=NOW_MS) == 0
    assert world.storage.log("orders", 0) is log


def test_partition_that_is_deleted_before_it_was_made_leaves_no_trace() -> None:
    disk = FakeDisk()
    world = StorageWorld(disk)
    before = disk.tree()
    world.storage.create("orders", 0, TOPIC_ID.bytes)
    world.storage.delete("orders", 0)
    world.pass_time(1_000)
    assert disk.tree() == before
    with pytest.raises(Refused) as refused:
        world.storage.log("orders", 0)
    assert refused.value.fault is Fault.STORAGE


def test_partitions_are_spread_before_they_are_made() -> None:
    world = StorageWorld(FakeDisk(), TWO)
    for number in range(11):
        world.storage.create("orders", number, TOPIC_ID.bytes)
    counts = [len(facts.sizes) for facts in world.storage.directories()]
    assert counts == [6, 6]  # the metadata log is the twelfth
    world.pass_time(1_000)
    assert [len(facts.sizes) for facts in world.storage.directories()] == counts


def test_full_disk_delays_a_partition_and_loses_nothing() -> None:
    """R5."""
    disk = FakeDisk()
    world = StorageWorld(disk)
    disk.fill()
    world.storage.create("orders", 0, TOPIC_ID.bytes)
    world.pass_time(20_000)
    with pytest.raises(Refused, match="no space left"):
        world.storage.log("orders", 0)
    disk.fill(None)
    world.pass_time(10_000)
    assert disk.is_directory("/data/orders-0")
    assert write(world.storage.log("orders", 0), b"a", timestamp=NOW_MS) == 0


@pytest.mark.parametrize("seed", range(10))
def test_partition_that_a_crash_left_unmade_is_made_by_the_next_start(seed: int) -> None:
    disk = FakeDisk()
    world = StorageWorld(disk)
    for number in range(5):
        world.storage.create("orders", number, TOPIC_ID.bytes)
    write(world.storage.log("orders", 3), b"unsynced", timestamp=NOW_MS)
    again = StorageWorld(disk.crash(Random(seed)))
    again.storage.adopt((("orders", number), TOPIC_ID.bytes, ()) for number in range(5))
    for number in range(5):
        assert write(again.storage.log("orders", number), b"a", timestamp=NOW_MS) in (0, 1)


def test_records_are_durable_when_their_topic_is() -> None:
    """A crash that undid the topic would undo what was acknowledged in it."""
    world = StorageWorld(FakeDisk())
    metadata = world.storage.metadata
    assert metadata is not None
    write(metadata, b"the topic", timestamp=NOW_MS)
    log = world.log()
    write(log, b"a", timestamp=NOW_MS)
    heard: list[Fault | None] = []
    log.when_durable(heard.append)
    assert heard == [None]
    assert metadata.log.recovery_point == 1


# -- deleting --------------------------------------------------------------------------------------


def test_deleted_partition_is_gone_at_once_and_its_files_soon() -> None:
    disk = FakeDisk()
    world = StorageWorld(disk)
    write(world.log(), b"a", timestamp=NOW_MS)
    world.worker.holds = True
    world.storage.delete("orders", 0)
    assert not disk.is_directory("/data/orders-0")
    assert records(world.log()) == []
    world.worker.release()
    world.pass_time(59_000)
    assert [path for path in disk.tree() if "-delete" in path], "file.delete.delay.ms has not passed"
    world.pass_time(1_000)
    assert not [path for path in disk.tree() if "-delete" in path]


def test_deletion_in_an_offline_directory_is_no_error() -> None:
    disk = FakeDisk()
    world = StorageWorld(disk, TWO)
    logs = [world.log("orders", number) for number in range(2)]
    log = next(log for log in logs if log.home.path == "/two")
    disk.fail("write")
    with pytest.raises(Refused):
        write(log, b"a", timestamp=NOW_MS)
    world.storage.delete("orders", logs.index(log))
    with pytest.raises(Refused):
        world.storage.log("orders", logs.index(log))


# -- deleting records ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_deleted_records_stay_away_once_that_is_confirmed(seed: int) -> None:
    disk = FakeDisk()
    world = StorageWorld(disk)
    log = world.log()
    for number in range(5):
        write(log, b"%d" % number, timestamp=NOW_MS)
    heard: list[Fault | None] = []
    log.delete_before(3, heard.append)
    assert heard == [None]
    again = StorageWorld(disk.crash(Random(seed)))
    assert records(again.log()) == [(3, b"3"), (4, b"4")]


def test_deletions_of_records_share_a_checkpoint() -> None:
    disk = FakeDisk()
    world = StorageWorld(disk)
    logs = [world.log("orders", number) for number in range(20)]
    for log in logs:
        write(log, b"a", timestamp=NOW_MS)
    before = len(disk.faults.calls)
    world.worker.holds = True
    heard: list[Fault | None] = []
    for log in logs:
        log.delete_before(1, heard.append)
    assert heard == []
    world.worker.release()
    assert heard == [None] * 20
    written = [
        call for call in disk.faults.calls[before:] if call.kind == "rename" and "log-start" in call.path
    ]
    assert len(written) == 2


def test_offset_behind_the_end_is_refused_and_deletes_nothing() -> None:
    world = StorageWorld(FakeDisk())
    log = world.log()
    write(log, b"a", timestamp=NOW_MS)
    with pytest.raises(Refused) as refused:
        log.delete_before(2, lambda _fault: None)
    assert refused.value.fault is Fault.OFFSET_OUT_OF_RANGE
    assert records(log) == [(0, b"a")]


# -- directories -----------------------------------------------------------------------------------


def test_directories_tell_sizes_space_and_ids() -> None:
    disk = FakeDisk()
    world = StorageWorld(disk)
    log = world.log()
    write(log, b"a" * 100, timestamp=NOW_MS)
    (facts,) = world.storage.directories()
    assert facts.path == "/data"
    assert facts.fault is None
    assert facts.sizes["orders", 0] == log.size_bytes > 100
    assert facts.directory_id == world.store.directories[0].meta.directory_id.bytes  # type: ignore[union-attr]
    assert 0 < facts.usable_bytes < facts.total_bytes


def test_directory_that_failed_is_told_so_and_its_partitions_are_offline() -> None:
    """R4."""
    disk = FakeDisk()
    world = StorageWorld(disk, TWO)
    logs = [world.log("orders", number) for number in range(2)]
    lost = logs.index(next(log for log in logs if log.home.path == "/two"))
    disk.fail("write")
    with pytest.raises(Refused):
        write(logs[lost], b"a", timestamp=NOW_MS)
    assert [facts.fault for facts in world.storage.directories()] == [None, Fault.STORAGE]
    assert [world.storage.is_offline("orders", number) for number in range(2)].index(True) == lost
    with pytest.raises(Refused) as refused:
        logs[lost].read(0, 100, committed=False)
    assert refused.value.fault is Fault.STORAGE
    assert write(logs[1 - lost], b"a", timestamp=NOW_MS) == 0


def test_partition_in_a_directory_that_cannot_be_opened_is_offline_and_not_made_again() -> None:
    disk = FakeDisk()
    world = StorageWorld(disk, TWO)
    logs = [world.log("orders", number) for number in range(4)]
    for log in logs:
        write(log, b"a", timestamp=NOW_MS)
    ids = [facts.directory_id for facts in world.storage.directories()]
    homes = [log.home.path for log in logs]
    world.store.close()
    disk = FakeDisk(
        {path: data for path, data in disk.tree().items() if path.startswith("/one")} | {"/two": b""}
    )
    again = StorageWorld(disk, TWO)
    assert list(again.store.failed_to_open) == ["/two"]
    again.storage.adopt(
        (("orders", number), TOPIC_ID.bytes, (ids[TWO.index(homes[number])],)) for number in range(4)
    )
    again.pass_time(1_000)
    for number in range(4):
        assert again.storage.is_offline("orders", number) == (homes[number] == "/two")
        if homes[number] == "/two":
            with pytest.raises(Refused, match="could be opened"):
                again.storage.log("orders", number)
        else:
            assert records(again.storage.log("orders", number)) == [(0, b"a")]
    again.storage.create("new", 0, TOPIC_ID.bytes)
    assert write(again.storage.log("new", 0), b"a", timestamp=NOW_MS) == 0


def test_changed_settings_reach_every_log_of_the_topic() -> None:
    world = StorageWorld(FakeDisk())
    log, other = world.log(), world.log("other")
    world.settings = LogSettings(retention_ms=5)
    world.storage.configure("orders")
    assert (log.log.settings.retention_ms, other.log.settings.retention_ms) == (5, LogSettings().retention_ms)
    world.storage.configure("")
    assert other.log.settings.retention_ms == 5
