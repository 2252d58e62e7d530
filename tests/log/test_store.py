"""Several log directories as one store."""

import errno
from uuid import UUID

import pytest

from tests.log.log_of import NOW, append, contents
from trivium.log.faults import DirectoryRefused, DiskFull
from trivium.log.settings import LogSettings
from trivium.log.store import Identity, LogStore
from trivium.testing.disk import FakeDisk

PATHS = ["/one", "/two", "/three"]


def opened(disk: FakeDisk, paths: list[str] = PATHS, cluster_id: str | None = "test-cluster") -> LogStore:
    return LogStore.open(
        disk,
        paths,
        Identity(1, cluster_id),
        new_id=lambda: UUID(int=9),
        settings_for=lambda _topic: LogSettings(),
        now_ms=NOW,
    )


def test_partitions_are_spread_over_the_directories_and_found_again() -> None:
    disk = FakeDisk()
    store = opened(disk)
    for number in range(9):
        append(store.create("orders", number, UUID(int=1), LogSettings(), NOW), b"%d" % number)
    assert [len(directory.logs) for directory in store.directories] == [3, 3, 3]
    store.close()
    again = opened(disk)
    assert len(again) == 9
    for number in range(9):
        log = again.get("orders", number)
        assert log is not None
        assert contents(log) == [(0, b"%d" % number)]
    assert again.get("orders", 9) is None


def test_deleted_partition_is_gone_from_the_store() -> None:
    disk = FakeDisk()
    store = opened(disk)
    store.create("orders", 0, UUID(int=1), LogSettings(), NOW)
    store.delete("orders", 0)
    assert store.get("orders", 0) is None
    assert list(store) == []
    store.close()
    assert len(opened(disk)) == 0


def test_partition_in_two_directories_is_refused() -> None:
    disk = FakeDisk()
    store = opened(disk)
    store.create("orders", 0, UUID(int=1), LogSettings(), NOW)
    store.close()
    tree = disk.tree()
    tree |= {path.replace("/one/", "/two/"): data for path, data in tree.items() if "orders" in path}
    disk = FakeDisk(tree)
    with pytest.raises(DirectoryRefused, match="orders-0 is in /one and in /two; move one of them away"):
        opened(disk)
    with pytest.raises(DirectoryRefused, match="orders-0 is in"):
        opened(disk)


def test_directory_of_another_cluster_is_refused_and_the_others_are_released() -> None:
    disk = FakeDisk({"/two/meta.properties": b"version=1\nnode.id=1\ncluster.id=other\n"})
    for _ in range(2):
        with pytest.raises(DirectoryRefused, match="/two belongs to cluster other"):
            opened(disk)


def test_unknown_cluster_is_taken_from_the_first_directory() -> None:
    disk = FakeDisk(
        {
            "/one/meta.properties": b"version=1\nnode.id=1\ncluster.id=a\n",
            "/two/meta.properties": b"version=1\nnode.id=1\ncluster.id=b\n",
        }
    )
    with pytest.raises(DirectoryRefused, match="/two belongs to cluster b, not a"):
        opened(disk, ["/one", "/two"], cluster_id=None)


def test_full_disk_at_the_stop_keeps_no_other_directory_from_stopping() -> None:
    disk = FakeDisk()
    store = opened(disk)
    for number in range(len(PATHS)):
        append(store.create("orders", number, UUID(int=1), LogSettings(), NOW), b"a")
    disk.fail("write", error=errno.ENOSPC)
    with pytest.raises(DiskFull):
        store.close()
    assert [directory.opening.clean for directory in opened(disk).directories] == [
        False,
        *[True] * (len(PATHS) - 1),
    ]


def test_partition_that_found_no_room_leaves_nothing_behind() -> None:
    """Else the next attempt, in another directory, would make it a twin that no start accepts."""
    for nth in range(1, 4):
        disk = FakeDisk()
        store = opened(disk)
        before = disk.tree()
        disk.fail("write", nth, errno.ENOSPC)
        try:
            store.create("orders", 0, UUID(int=1), LogSettings(), NOW)
        except DiskFull:
            assert disk.tree() == before
            assert not any(disk.is_directory(f"{path}/orders-0") for path in PATHS)
            assert store.get("orders", 0) is None
        else:
            assert nth > 1
