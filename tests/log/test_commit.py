"""Group commit: many appends, one sync, then all their acks."""

import errno
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from random import Random
from uuid import UUID

import pytest

from tests.log.log_of import NOW, append, open_directory
from trivium.log.commit import Round
from trivium.log.directory import LogDirectory
from trivium.log.faults import DirectoryOffline, LogError
from trivium.log.files import RealFiles
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.log.shortening import drop_oldest, truncate
from trivium.log.staged import carry_out
from trivium.testing.disk import FakeDisk, FakeFile


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


def loose(_failure: LogError | None) -> None:
    raise RuntimeError("a bolt is loose")


def test_mistake_of_one_who_is_told_keeps_it_from_nobody_else() -> None:
    directory = opened(FakeDisk())
    log = directory.logs["orders", 0]
    told: list[LogError | None] = []
    append(log, b"1")
    for waiter in (told.append, loose, told.append):
        directory.commit.wait_for(log, waiter)
    round_ = directory.commit.begin()
    assert round_ is not None
    with pytest.raises(RuntimeError, match="a bolt is loose"):
        directory.commit.finish(round_, round_.run())
    assert told == [None, None]
    directory.commit.wait_for(log, told.append)
    assert directory.commit.begin() is not None


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
    carry_out(drop_oldest(log, NOW))
    error = round_.run()
    directory.commit.finish(round_, error)
    assert error is None
    left = [path for path in disk.tree() if "/00000000000000000000." in path]
    assert all(path.endswith(".deleted") for path in left), "its files came back"
    assert log.recovery_point == log.log_end_offset


def test_partition_deleted_before_or_during_a_round_harms_nobody() -> None:
    for before in (True, False):
        disk = FakeDisk()
        directory = opened(disk, partitions=2)
        told: list[LogError | None] = []
        for log in directory.logs.values():
            append(log, b"a")
            directory.commit.wait_for(log, told.append)
        if before:
            directory.delete("orders", 0, UUID(int=9))
        round_ = directory.commit.begin()
        assert round_ is not None
        if not before:
            directory.delete("orders", 0, UUID(int=9))
        directory.commit.finish(round_, round_.run())
        assert told == [None, None]
        assert not directory.is_offline
        assert directory.logs["orders", 1].recovery_point == 2


def test_sync_beside_a_running_one_relies_on_nothing_that_it_has_not_done() -> None:
    """R2: at a stop, say, while a round is still at work on segments that were sealed."""
    settings = LogSettings(segment_bytes=300)
    for seed in range(10):
        disk = FakeDisk()
        directory = open_directory(disk, "/data", settings)
        log = directory.create("orders", 0, UUID(int=7), settings, NOW)
        for number in range(12):
            append(log, b"%d" % number * 20)
        assert log.begin_sync() is not None
        log.sync()
        directory.write_checkpoints()
        again = open_directory(disk.crash(Random(seed)), "/data", settings).logs["orders", 0]
        assert again.corruption is None
        assert again.log_end_offset == 12


def test_sync_of_records_that_were_cut_says_nothing_of_those_that_followed() -> None:
    log = opened(FakeDisk()).logs["orders", 0]
    for number in range(4):
        append(log, b"%d" % number)
    pending = log.begin_sync()
    assert pending is not None
    pending.run()
    truncate(log, 1)
    append(log, b"another")
    log.finish_sync(pending)
    assert log.recovery_point == 1
    log.sync()
    assert log.recovery_point == 2


@pytest.mark.parametrize("later", ["sync", "write_checkpoints", "truncate", "close"])
def test_sync_that_failed_in_a_round_fails_every_later_one_before_it_is_reported(later: str) -> None:
    """R4: the system tells one caller of lost pages. Whoever syncs next would hear that all is well."""
    disk = FakeDisk()
    directory = opened(disk)
    log = directory.logs["orders", 0]
    append(log, b"lost")
    acks: list[LogError | None] = []
    directory.commit.wait_for(log, acks.append)
    round_ = directory.commit.begin()
    assert round_ is not None
    disk.fail("sync")
    error = round_.run()
    assert error is not None
    assert error.errno == errno.EIO
    log.advance_log_start(2)  # What makes a checkpoint sync.
    calls: dict[str, Callable[[], None]] = {
        "sync": log.sync,
        "write_checkpoints": directory.write_checkpoints,
        "truncate": lambda: directory.truncate("orders", 0, 1),
        "close": log.close,
    }
    with pytest.raises(DirectoryOffline):
        calls[later]()
    assert log.recovery_point == 1
    assert directory.is_offline
    directory.commit.finish(round_, error)
    assert [type(ack) for ack in acks] == [DirectoryOffline]


def test_syncs_of_one_log_in_two_threads_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """R4: of two that overlap, only one would be told of a failure."""
    log = opened(FakeDisk()).logs["orders", 0]
    syncing = threading.Lock()
    overlaps = 0
    plain_sync = FakeFile.sync

    def watched_sync(file: FakeFile) -> None:
        nonlocal overlaps
        if not syncing.acquire(blocking=False):
            overlaps += 1
            return
        time.sleep(0.001)  # Room for another one to come in between.
        plain_sync(file)
        syncing.release()

    monkeypatch.setattr(FakeFile, "sync", watched_sync)
    for number in range(20):
        append(log, b"%d" % number)
        pending = log.begin_sync()
        assert pending is not None
        thread = threading.Thread(target=pending.run)
        thread.start()
        log.sync()
        thread.join()
        log.finish_sync(pending)
    assert overlaps == 0
    assert log.recovery_point == log.log_end_offset


def lent_log(tmp_path: Path) -> tuple[LogDirectory, PartitionLog]:
    directory = open_directory(RealFiles(), str(tmp_path / "data"))
    log = directory.create("orders", 0, UUID(int=1), LogSettings(), NOW)
    append(log, b"first")
    log.sync()
    return directory, log


def never() -> None:
    raise AssertionError("nothing is to be settled")


def test_rounds_of_files_that_only_grew_are_lent_side_by_side(tmp_path: Path) -> None:
    directory, log = lent_log(tmp_path)
    told: list[LogError | None] = []
    rounds = []
    for number in range(3):
        append(log, b"%d" % number)
        directory.commit.wait_for(log, told.append)
        rounds.append(directory.commit.lend(8, never))
    for done, round_ in enumerate(rounds, 1):
        assert round_ is not None
        assert round_.descriptors == [log.active.file.descriptor]
        round_.give_back(None)
        round_.finish(None)
        assert told == [None] * done
        assert log.recovery_point == 1 + done
    log.sync()
    directory.close()


@pytest.mark.parametrize("more", ["a new segment", "a turn that is another's", "a fake disk", "too many"])
def test_round_that_needs_more_than_descriptors_is_not_lent(more: str, tmp_path: Path) -> None:
    directory, log = lent_log(tmp_path)
    if more == "a fake disk":
        directory = opened(FakeDisk())
        log = directory.logs["orders", 0]
    append(log, b"x")
    if more == "a new segment":
        log.roll(NOW)
        append(log, b"y")
    told: list[LogError | None] = []
    directory.commit.wait_for(log, told.append)
    with log.sync_turn if more == "a turn that is another's" else nullcontext():
        assert directory.commit.lend(0 if more == "too many" else 8, never) is None
    round_ = directory.commit.begin()
    assert round_ is not None
    directory.commit.finish(round_, round_.run())
    assert told == [None]


def test_sync_of_whoever_lent_the_turn_settles_first(tmp_path: Path) -> None:
    """R4: the two never overlap, and the one thread that could end the first does not wait for ever."""
    directory, log = lent_log(tmp_path)
    append(log, b"x")
    directory.commit.wait_for(log, lambda _fault: None)
    settled: list[Round] = []

    def settle() -> None:
        assert round_ is not None
        round_.give_back(None)
        settled.append(round_)

    round_ = directory.commit.lend(8, settle)
    assert round_ is not None
    log.sync()
    assert settled == [round_]
    assert log.recovery_point == 2


def test_sync_that_failed_where_it_was_lent_fails_every_later_one(tmp_path: Path) -> None:
    """R4"""
    directory, log = lent_log(tmp_path)
    append(log, b"lost")
    told: list[LogError | None] = []
    directory.commit.wait_for(log, told.append)
    round_ = directory.commit.lend(8, never)
    assert round_ is not None
    round_.give_back(OSError(errno.EIO, "lost pages"))
    assert not log.sync_turn.lend(never)
    with pytest.raises(DirectoryOffline):
        log.sync()
    round_.finish(None)
    assert [type(fault) for fault in told] == [DirectoryOffline]
    assert log.recovery_point == 1


def test_turn_is_not_lent_again_while_another_thread_waits_for_it(tmp_path: Path) -> None:
    """R4, and a checkpoint gets its sync however many writers there are."""
    _directory, log = lent_log(tmp_path)
    assert log.sync_turn.lend(lambda: None)
    assert log.sync_turn.lend(lambda: None), "nobody waits yet"
    other = threading.Thread(target=log.sync_names)
    other.start()
    deadline = time.monotonic() + 60
    while log.sync_turn.lend(lambda: None):
        log.sync_turn.give_back(None)
        assert time.monotonic() < deadline, "the turn is lent for ever"
        time.sleep(0.001)
    assert other.is_alive(), "it has its turn while another has it"
    log.sync_turn.give_back(None)
    log.sync_turn.give_back(None)
    other.join(60)
    assert not other.is_alive()
    assert log.sync_turn.lend(lambda: None)
    log.sync_turn.give_back(None)
