"""Logs are kept in order by themselves, at their intervals, and an idle node is left in peace."""

import pytest

from tests.core.fakes import NOW_MS, FakeClock
from tests.log.log_of import batch
from tests.server.storage_world import MINUTE_MS, StorageWorld, records, write
from trivium.log.checkpoint import read_offsets
from trivium.log.settings import LogSettings
from trivium.records.batch import iter_batches
from trivium.testing.disk import FakeDisk

HOUR_MS = 60 * MINUTE_MS
COMPACTED = LogSettings(compact=True, delete=False, segment_ms=MINUTE_MS, min_cleanable_dirty_ratio=0.0)


# -- retention -------------------------------------------------------------------------------------


def test_old_records_go_at_the_next_check_and_not_before() -> None:
    world = StorageWorld(FakeDisk(), settings=LogSettings(retention_ms=HOUR_MS))
    log = world.log()
    world.maintenance.start()
    write(log, b"old", timestamp=NOW_MS)
    world.pass_time(HOUR_MS)
    assert records(log) == [(0, b"old")]
    world.pass_time(6 * MINUTE_MS)
    assert records(log) == []
    assert log.log_start_offset == log.log_end_offset == 1


def test_too_many_records_go_from_the_oldest_on() -> None:
    settings = LogSettings(retention_ms=-1, retention_bytes=200, segment_bytes=100)
    world = StorageWorld(FakeDisk(), settings=settings)
    log = world.log()
    world.maintenance.start()
    for number in range(10):
        write(log, b"%d" % number, timestamp=NOW_MS)
    world.pass_time(MINUTE_MS)
    assert 200 <= log.size_bytes < 400
    assert records(log)[-1] == (9, b"9")


def test_jump_of_the_wall_clock_starts_no_check() -> None:
    """R10: the check comes by the monotonic clock; only the age of records is a matter of the other."""
    world = StorageWorld(FakeDisk(), settings=LogSettings(retention_ms=HOUR_MS))
    log = world.log()
    world.maintenance.start()
    write(log, b"old", timestamp=NOW_MS)
    world.clock.jump(100 * HOUR_MS)
    world.timers.run_due()
    assert records(log) == [(0, b"old")]


def test_metadata_log_is_never_subject_to_retention() -> None:
    world = StorageWorld(FakeDisk(), settings=LogSettings(retention_ms=1, retention_bytes=1))
    metadata = world.storage.metadata
    assert metadata is not None
    write(metadata, b"everything", timestamp=NOW_MS)
    world.maintenance.start()
    world.pass_time(HOUR_MS)
    assert records(metadata) == [(0, b"everything")]


def test_producers_that_fell_silent_are_forgotten() -> None:
    world = StorageWorld(FakeDisk(), settings=LogSettings(producer_id_expiration_ms=HOUR_MS))
    log = world.log()
    data = batch(b"a", timestamp=NOW_MS, producer_id=5, producer_epoch=0, base_sequence=0)
    log.append(data, list(iter_batches(data)), 0)
    world.maintenance.start()
    world.pass_time(MINUTE_MS)
    assert log.producer(5) is not None
    world.pass_time(HOUR_MS + 10 * MINUTE_MS)
    assert log.producer(5) is None


def test_many_partitions_are_looked_at_in_slices() -> None:
    """The clock moves while the work is done: after a few milliseconds the loop has its turn."""

    class BusyClock(FakeClock):
        def wall_ms(self) -> int:
            self.advance(1)
            return super().wall_ms()

    clock = BusyClock()
    world = StorageWorld(FakeDisk(), clock=clock, settings=LogSettings(retention_ms=1))
    logs = [world.log("orders", number) for number in range(40)]
    for log in logs:
        write(log, b"old", timestamp=NOW_MS - HOUR_MS)
    world.maintenance.start()
    turns = 0
    while any(log.log_start_offset == 0 for log in logs):
        due_ms = world.timers.next_due_ms
        assert due_ms is not None
        clock.advance(max(0, due_ms - clock.monotonic_ms()))
        before = sum(log.log_start_offset for log in logs)
        world.timers.run_due()
        gone = sum(log.log_start_offset for log in logs) - before
        assert gone <= 6
        turns += bool(gone)
    assert turns > 5


def test_dropped_segments_stay_on_disk_as_long_as_the_setting_says() -> None:
    """``file.delete.delay.ms``: under another name, and out of everybody's sight."""
    disk = FakeDisk()
    settings = LogSettings(retention_ms=1, segment_bytes=100, file_delete_delay_ms=5 * MINUTE_MS)
    world = StorageWorld(disk, settings=settings, log_initial_task_delay_ms=0)
    log = world.log()
    for number in range(3):
        write(log, b"%d" % number, timestamp=NOW_MS - HOUR_MS)
    world.maintenance.start()
    world.pass_time(4 * MINUTE_MS)
    assert records(log) == []
    assert len([path for path in disk.tree() if path.endswith(".log.deleted")]) == 3
    world.pass_time(2 * MINUTE_MS)
    assert not [path for path in disk.tree() if path.endswith(".deleted")]


def test_segments_go_one_after_the_other_while_the_disk_takes_its_time() -> None:
    """R9: the log is written to and read while a sync is awaited, and no second segment goes before it."""
    disk = FakeDisk()
    settings = LogSettings(retention_ms=HOUR_MS, segment_bytes=100)
    world = StorageWorld(disk, settings=settings, log_initial_task_delay_ms=0)
    log = world.log()
    for number in range(3):
        write(log, b"%d" % number, timestamp=NOW_MS - 2 * HOUR_MS)
    log.when_durable(lambda _fault: None)
    world.worker.holds = True
    world.maintenance.start()
    world.pass_time(10 * MINUTE_MS)
    assert log.log_start_offset == 1
    write(log, b"new", timestamp=NOW_MS)
    assert [offset for offset, _ in records(log)] == [1, 2, 3]
    world.worker.release()
    assert records(log) == [(3, b"new")]


# -- compaction ------------------------------------------------------------------------------------


def test_replaced_values_go_and_offsets_stay() -> None:
    world = StorageWorld(FakeDisk(), settings=COMPACTED)
    log = world.log("state")
    world.maintenance.start()
    for number in range(5):
        write(log, (b"k", b"%d" % number), timestamp=NOW_MS + number * 2 * MINUTE_MS)
    log.when_durable(lambda _fault: None)
    world.pass_time(MINUTE_MS)
    assert records(log) == [(3, b"3"), (4, b"4")]


def test_compaction_also_comes_when_nothing_more_is_written() -> None:
    """The segment that is written to is never cleaned, so it is rolled by time even without a record."""
    world = StorageWorld(FakeDisk(), settings=COMPACTED)
    log = world.log("state")
    world.maintenance.start()
    for number in range(5):
        write(log, (b"k", b"%d" % number), timestamp=NOW_MS)
    log.when_durable(lambda _fault: None)
    world.pass_time(HOUR_MS)
    assert records(log) == [(4, b"4")]


def test_compaction_that_is_turned_off_does_nothing() -> None:
    world = StorageWorld(FakeDisk(), settings=COMPACTED, log_cleaner_enable=0)
    log = world.log("state")
    world.maintenance.start()
    for number in range(5):
        write(log, (b"k", b"%d" % number), timestamp=NOW_MS + number * 2 * MINUTE_MS)
    log.when_durable(lambda _fault: None)
    world.pass_time(HOUR_MS)
    assert len(records(log)) == 5


def test_topic_deleted_while_it_is_compacted_takes_nothing_with_it() -> None:
    disk = FakeDisk()
    world = StorageWorld(disk, settings=COMPACTED)
    log = world.log("state")
    other = world.log("other")
    world.maintenance.start()
    for number in range(5):
        write(log, (b"k", b"%d" % number), timestamp=NOW_MS + number * 2 * MINUTE_MS)
    log.when_durable(lambda _fault: None)
    world.worker.holds = True
    world.pass_time(MINUTE_MS)
    world.storage.delete("state", 0)
    world.worker.release()
    assert not world.store.directories[0].is_offline
    write(other, b"still here", timestamp=NOW_MS)
    world.pass_time(MINUTE_MS)
    assert not [path for path in disk.tree() if "/state-0" in path]


def test_topic_made_again_while_its_namesake_is_compacted_keeps_its_own_records() -> None:
    disk = FakeDisk()
    world = StorageWorld(disk, settings=COMPACTED)
    log = world.log("state")
    world.maintenance.start()
    for number in range(5):
        write(log, (b"k", b"%d" % number), timestamp=NOW_MS + number * 2 * MINUTE_MS)
    log.when_durable(lambda _fault: None)
    world.worker.holds = True
    world.pass_time(MINUTE_MS)
    world.storage.delete("state", 0)
    again = world.log("state")
    write(again, (b"k", b"new"), timestamp=NOW_MS)
    world.worker.release()
    assert records(again) == [(0, b"new")]
    world.store.close()
    assert records(StorageWorld(disk, settings=COMPACTED).log("state")) == [(0, b"new")]


def test_compacted_log_is_served_at_every_step_of_the_exchange() -> None:
    """R9: while its segments are exchanged a log is read and written, and may be deleted at any moment."""
    for deleted_after in range(1, 8):
        disk = FakeDisk()
        world = StorageWorld(disk, settings=COMPACTED)
        log = world.log("state")
        world.maintenance.start()
        for number in range(5):
            write(log, (b"k", b"%d" % number), timestamp=NOW_MS + number * 2 * MINUTE_MS)
        log.when_durable(lambda _fault: None)
        world.worker.holds = True
        world.pass_time(MINUTE_MS)
        for step in range(deleted_after):
            world.worker.step()
            assert [offset for offset, _ in records(log)][-2:] == [3 + step, 4 + step]
            write(log, (b"k", b"more"), timestamp=NOW_MS + 8 * MINUTE_MS)
        world.storage.delete("state", 0)
        again = world.log("state")
        write(again, (b"k", b"of the namesake"), timestamp=NOW_MS)
        world.worker.release()
        world.pass_time(2 * MINUTE_MS)
        assert records(again) == [(0, b"of the namesake")]
        assert not world.store.directories[0].is_offline


def test_move_waits_for_segments_that_are_being_exchanged() -> None:
    world = StorageWorld(FakeDisk(), ["/one", "/two"], settings=COMPACTED)
    log = world.log("state")
    world.maintenance.start()
    for number in range(5):
        write(log, (b"k", b"%d" % number), timestamp=NOW_MS + number * 2 * MINUTE_MS)
    log.when_durable(lambda _fault: None)
    world.worker.holds = True
    world.pass_time(MINUTE_MS)
    world.worker.step()
    world.worker.step()
    target = next(path for path in ("/one", "/two") if path != log.home.path)
    world.storage.move("state", 0, target, lambda _fault: None)
    world.worker.release()
    assert log.home.path == target
    assert records(log) == [(3, b"3"), (4, b"4")]


def test_retention_leaves_a_log_alone_that_is_being_compacted() -> None:
    settings = LogSettings(
        compact=True, delete=True, retention_ms=1, segment_ms=MINUTE_MS, min_cleanable_dirty_ratio=0.0
    )
    world = StorageWorld(FakeDisk(), settings=settings, log_initial_task_delay_ms=30_000)
    log = world.log("state")
    for number in range(5):
        write(log, (b"k", b"%d" % number), timestamp=NOW_MS - HOUR_MS + number * 2 * MINUTE_MS)
    log.when_durable(lambda _fault: None)
    world.maintenance.start()
    world.worker.holds = True
    world.pass_time(MINUTE_MS)
    assert log.log_start_offset == 0
    world.worker.release()
    world.pass_time(10 * MINUTE_MS)
    assert log.log_start_offset == 5


def test_compaction_gives_up_when_the_node_stops_and_leaves_nothing_behind() -> None:
    disk = FakeDisk()
    world = StorageWorld(disk, settings=COMPACTED)
    log = world.log("state")
    world.maintenance.start()
    for number in range(5):
        write(log, (b"k", b"%d" % number), timestamp=NOW_MS + number * 2 * MINUTE_MS)
    log.when_durable(lambda _fault: None)
    world.worker.holds = True
    world.pass_time(MINUTE_MS)
    world.maintenance.stop()
    world.worker.release()
    assert len(records(log)) == 5
    assert not [path for path in disk.tree() if path.endswith(".cleaned")]
    assert world.timers.next_due_ms is None


# -- durability ------------------------------------------------------------------------------------


def test_sealed_segments_are_synced_and_the_recovery_point_is_written_down() -> None:
    disk = FakeDisk()
    world = StorageWorld(disk, settings=LogSettings(segment_bytes=100))
    log = world.log()
    world.maintenance.start()
    for number in range(3):
        write(log, b"%d" % number, timestamp=NOW_MS)
    assert log.log.recovery_point == 0
    world.pass_time(MINUTE_MS)
    assert read_offsets(disk, "/data/recovery-point-offset-checkpoint")["orders", 0] == 3


def test_flush_ms_makes_a_write_durable_that_nobody_waits_for() -> None:
    world = StorageWorld(FakeDisk(), settings=LogSettings(flush_ms=500))
    log = world.log()
    write(log, b"a", timestamp=NOW_MS)
    world.pass_time(499)
    assert log.log.recovery_point == 0
    world.pass_time(1)
    assert log.log.recovery_point == 1
    assert world.timers.next_due_ms is None


def test_flush_messages_makes_every_so_many_durable() -> None:
    world = StorageWorld(FakeDisk(), settings=LogSettings(flush_messages=3))
    log = world.log()
    points = []
    for number in range(7):
        write(log, b"%d" % number, timestamp=NOW_MS)
        points.append(log.log.recovery_point)
    assert points == [0, 0, 3, 3, 3, 6, 6]


# -- peace -----------------------------------------------------------------------------------------


def test_idle_node_wakes_up_a_few_times_a_minute_and_touches_no_disk() -> None:
    disk = FakeDisk()
    world = StorageWorld(disk)
    for number in range(20):
        write(world.log("orders", number), b"a", timestamp=NOW_MS)
    world.maintenance.start()
    world.pass_time(5 * MINUTE_MS)
    calls, wakes, until_ms = len(disk.faults.calls), 0, world.clock.monotonic_ms() + 10 * MINUTE_MS
    while (due_ms := world.timers.next_due_ms) is not None and due_ms <= until_ms:
        world.clock.advance(due_ms - world.clock.monotonic_ms())
        world.timers.run_due()
        wakes += 1
    assert wakes <= 10 * 15
    assert [call.kind for call in disk.faults.calls[calls:] if call.kind not in ("open", "read")] == []


def test_stopped_maintenance_begins_nothing_more() -> None:
    world = StorageWorld(FakeDisk(), settings=COMPACTED)
    world.maintenance.start()
    world.maintenance.stop()
    assert world.timers.next_due_ms is None


@pytest.mark.parametrize("kind", ["write", "sync", "rename"])
def test_directory_that_fails_during_maintenance_is_offline_and_the_rest_goes_on(kind: str) -> None:
    """R4."""
    disk = FakeDisk()
    world = StorageWorld(disk, ["/one", "/two"], settings=LogSettings(segment_bytes=100))
    logs = [world.log("orders", number) for number in range(2)]
    for log in logs:
        write(log, b"a", timestamp=NOW_MS)
        write(log, b"b", timestamp=NOW_MS)
    world.maintenance.start()
    disk.fail(kind)
    world.pass_time(2 * MINUTE_MS)
    assert [directory.is_offline for directory in world.store.directories].count(True) == 1
    alive = next(log for log in logs if not log.home.is_offline)
    assert records(alive) == [(0, b"a"), (1, b"b")]
