"""R4: a failed sync is never swallowed. R5: a full disk is an error, not an accident."""

import contextlib
import errno
from random import Random
from uuid import UUID

import pytest

from tests.log.log_of import NOW, append, batch, contents, open_directory
from trivium.log.commit import GroupCommit
from trivium.log.directory import LogDirectory
from trivium.log.faults import DirectoryOffline, DirectoryRefused, DiskFull, LogError
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.log.store import Identity, LogStore
from trivium.testing.disk import FakeDisk

SMALL = LogSettings(segment_bytes=600, index_interval_bytes=100)


def opened(disk: FakeDisk, path: str = "/data") -> tuple[LogDirectory, PartitionLog]:
    directory = open_directory(disk, path, SMALL)
    log = directory.logs.get(("orders", 0))
    return directory, log or directory.create("orders", 0, UUID(int=7), SMALL, NOW)


class Acks:
    """What group commit told those who waited."""

    def __init__(self) -> None:
        self.durable = 0
        self.refused: list[LogError] = []

    def __call__(self, fault: LogError | None) -> None:
        if fault is None:
            self.durable += 1
        else:
            self.refused.append(fault)


def commit_round(commit: GroupCommit) -> None:
    if (round_ := commit.begin()) is not None:
        commit.finish(round_, round_.run())


def test_failed_sync_is_final_whichever_it_is() -> None:
    """R4: whatever the n-th sync belongs to, nothing after it is acknowledged, the directory is offline."""
    failures = 0
    for nth in range(1, 24):
        disk = FakeDisk()
        opened(disk)[0].close()
        disk = disk.kill()
        directory, log = opened(disk)
        disk.fail("sync", nth)
        acks = Acks()
        failed_at = None
        for number in range(20):
            with contextlib.suppress(DirectoryOffline):
                append(log, b"%d" % number)
                directory.commit.wait_for(log, acks)
                commit_round(directory.commit)
            if directory.is_offline and failed_at is None:
                failed_at = acks.durable
        if failed_at is None:
            continue
        failures += 1
        assert acks.durable == failed_at, f"sync {nth}: acknowledged after the failure"
        with pytest.raises(DirectoryOffline):
            log.read(0, 1000)
        # What was acknowledged before the failure is on disk, whatever became of the rest.
        survivor = open_directory(disk.kill(), "/data", SMALL).logs["orders", 0]
        assert len(contents(survivor)) >= failed_at
    assert failures > 10


def test_failed_sync_reaches_everybody_who_waits_for_it() -> None:
    disk = FakeDisk()
    directory, log = opened(disk)
    acks = Acks()
    for number in range(3):
        append(log, b"%d" % number)
        directory.commit.wait_for(log, acks)
    disk.fail("sync")
    commit_round(directory.commit)
    assert acks.durable == 0
    assert [type(fault) for fault in acks.refused] == [DirectoryOffline] * 3
    assert log.recovery_point == 0
    with pytest.raises(DirectoryOffline):
        append(log, b"more")


def test_retried_sync_would_have_lied() -> None:
    """R4: the fake disk does what Linux does, so that swallowing the error would show as loss."""
    disk = FakeDisk()
    _directory, log = opened(disk)
    append(log, b"a")
    disk.fail("sync")
    with pytest.raises(DirectoryOffline):
        log.sync()
    log.active.file.sync()
    survivors = [
        len(contents(open_directory(disk.crash(Random(seed)), "/data", SMALL).logs["orders", 0]))
        for seed in range(20)
    ]
    assert 0 in survivors


def test_failed_directory_leaves_the_others_serving() -> None:
    disk = FakeDisk()
    store = open_store(disk, ["/one", "/two"])
    first = store.create("a", 0, UUID(int=1), SMALL, NOW)
    second = store.create("b", 0, UUID(int=2), SMALL, NOW)
    assert {store.home("a", 0).path, store.home("b", 0).path} == {"/one", "/two"}
    append(first, b"1")
    append(second, b"2")
    disk.fail("sync")
    with pytest.raises(DirectoryOffline):
        first.sync()
    append(second, b"3")
    second.sync()
    assert contents(second) == [(0, b"2"), (1, b"3")]
    assert store.create("c", 0, UUID(int=3), SMALL, NOW).health is second.health
    store.close()
    again = open_store(disk.kill(), ["/one", "/two"])
    assert [directory.opening.clean for directory in again.directories] == [False, True]


def test_directory_that_cannot_be_read_at_start_is_offline() -> None:
    disk = FakeDisk()
    store = open_store(disk, ["/one", "/two"])
    store.create("a", 0, UUID(int=1), SMALL, NOW)
    store.create("b", 0, UUID(int=2), SMALL, NOW)
    store.close()
    disk = disk.kill()
    disk.fail("list")
    again = open_store(disk, ["/one", "/two"])
    assert list(again.failed_to_open) == ["/one"]
    assert [directory.path for directory in again.directories] == ["/two"]


def test_no_directory_left_is_refused_with_the_reasons() -> None:
    disk = FakeDisk({"/one/meta.properties": b"version=1\nnode.id=1\ncluster.id=test-cluster\n"})
    disk.fail("list")
    with pytest.raises(DirectoryRefused, match="Input/output error"):
        open_store(disk, ["/one"])


def open_store(disk: FakeDisk, paths: list[str]) -> LogStore:
    return LogStore.open(
        disk,
        paths,
        Identity(1, "test-cluster"),
        new_id=lambda: UUID(int=9),
        settings_for=lambda _topic: SMALL,
        now_ms=NOW,
    )


# -- a full disk ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("free_bytes", [0, 1, 30, 61, 100, 250, 700, 1500])
def test_full_disk_refuses_writes_and_serves_reads(free_bytes: int) -> None:
    """R5: whatever the disk is filled by (data, index, snapshot, checkpoint), reads go on, and so do
    writes once there is room.
    """
    disk = FakeDisk()
    directory, log = opened(disk)
    for number in range(5):
        append(log, b"%d" % number)
    log.sync()
    disk.fill(free_bytes)
    written = 5
    for number in range(5, 60):
        try:
            append(log, b"%d" % number)
        except DiskFull:
            break
        written += 1
    else:
        pytest.fail("the disk never filled up")
    with pytest.raises(DiskFull):
        append(log, b"x" * 2000)
    expected = [(offset, b"%d" % offset) for offset in range(written)]
    assert contents(log) == expected
    assert not directory.is_offline
    with contextlib.suppress(DiskFull):
        directory.write_checkpoints()
    disk.fill(None)
    append(log, b"again")
    directory.write_checkpoints()
    log.sync()
    assert contents(log) == [*expected, (written, b"again")]
    again = open_directory(disk.kill(), "/data", SMALL).logs["orders", 0]
    assert contents(again) == [*expected, (written, b"again")]


def test_full_disk_and_a_crash_lose_nothing_durable() -> None:
    disk = FakeDisk()
    _directory, log = opened(disk)
    for number in range(5):
        append(log, b"%d" % number)
    log.sync()
    disk.fill(40)
    with pytest.raises(DiskFull):
        log.append(batch(b"x" * 100), leader_epoch=0, now_ms=NOW)
    for seed in range(30):
        crashed = disk.crash(Random(seed))
        crashed.fill(None)
        again = open_directory(crashed, "/data", SMALL).logs["orders", 0]
        assert contents(again) == [(offset, b"%d" % offset) for offset in range(5)]


def test_write_error_that_is_no_full_disk_takes_the_directory_offline() -> None:
    disk = FakeDisk()
    directory, log = opened(disk)
    append(log, b"a")
    disk.fail("write", error=errno.EIO)
    with pytest.raises(DirectoryOffline, match="Input/output error"):
        append(log, b"b")
    assert directory.is_offline


def test_full_disk_after_recovery_refuses_and_goes_on_when_there_is_room() -> None:
    """R5: indexes that recovery made again find no room; that is a full disk, not a failed one."""
    disk = FakeDisk()
    _directory, log = opened(disk)
    for number in range(40):
        append(log, b"%d" % number * 20)
    tree = {path: data for path, data in disk.tree().items() if not path.endswith("index")}
    disk = FakeDisk(tree)
    directory, log = opened(disk)
    disk.fill(0)
    with pytest.raises(DiskFull):
        log.sync()
    assert not directory.is_offline
    assert len(contents(log)) == 40
    disk.fill(None)
    log.sync()
    assert log.recovery_point == 40
