"""Group commit: many appends, one sync, then all their acks."""

from uuid import UUID

from tests.log.log_of import NOW, append, open_directory
from trivium.log.directory import LogDirectory
from trivium.log.faults import LogError
from trivium.log.settings import LogSettings
from trivium.testing.disk import FakeDisk


def opened(disk: FakeDisk, partitions: int = 1) -> LogDirectory:
    directory = open_directory(disk, "/data")
    for number in range(partitions):
        log = directory.create("orders", number, UUID(int=1), LogSettings(), NOW)
        append(log, b"first")
        log.sync()
    return directory


def test_many_appends_share_one_sync() -> None:
    disk = FakeDisk()
    directory = opened(disk)
    log = directory.logs["orders", 0]
    acks: list[LogError | None] = []
    before = disk.faults.counts["sync"]
    for number in range(10):
        append(log, b"%d" % number)
        directory.commit.wait_for(log, acks.append)
    round_ = directory.commit.begin()
    assert round_ is not None
    assert acks == []
    directory.commit.finish(round_, round_.run())
    assert acks == [None] * 10
    assert disk.faults.counts["sync"] - before == 1
    assert log.recovery_point == log.log_end_offset


def test_append_during_a_round_waits_for_the_next() -> None:
    directory = opened(FakeDisk())
    log = directory.logs["orders", 0]
    told: list[str] = []
    append(log, b"1")
    directory.commit.wait_for(log, lambda _fault: told.append("first"))
    first = directory.commit.begin()
    assert first is not None
    append(log, b"2")
    directory.commit.wait_for(log, lambda _fault: told.append("second"))
    assert directory.commit.begin() is None, "one round at a time"
    directory.commit.finish(first, first.run())
    assert told == ["first"]
    assert log.recovery_point == log.log_end_offset - 1
    second = directory.commit.begin()
    assert second is not None
    directory.commit.finish(second, second.run())
    assert told == ["first", "second"]


def test_round_covers_every_partition_that_waits() -> None:
    directory = opened(FakeDisk(), partitions=5)
    acks: list[LogError | None] = []
    for log in directory.logs.values():
        append(log, b"x")
        directory.commit.wait_for(log, acks.append)
    round_ = directory.commit.begin()
    assert round_ is not None
    directory.commit.finish(round_, round_.run())
    assert acks == [None] * 5
    assert all(log.recovery_point == 2 for log in directory.logs.values())


def test_nothing_to_wait_for_starts_no_round() -> None:
    assert opened(FakeDisk()).commit.begin() is None


def test_segment_that_is_dropped_during_a_sync_stays_open_for_it() -> None:
    disk = FakeDisk()
    directory = opened(disk)
    log = directory.logs["orders", 0]
    append(log, b"old")
    log.roll(NOW)
    append(log, b"new")
    directory.commit.wait_for(log, lambda _fault: None)
    round_ = directory.commit.begin()
    assert round_ is not None
    log.drop_oldest(NOW)
    error = round_.run()
    directory.commit.finish(round_, error)
    assert error is None
    assert not [path for path in disk.tree() if "/00000000000000000000." in path], "its files came back"
    assert log.recovery_point == log.log_end_offset
