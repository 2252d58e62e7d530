"""Whose directory it is, how it is opened and closed, and the names in it (S14)."""

from pathlib import Path
from uuid import UUID

import pytest

from tests.log.log_of import NOW, TOPIC_ID, append, batch, contents, open_directory
from trivium.log.directory import LogDirectory
from trivium.log.faults import DirectoryRefused
from trivium.log.files import RealFiles
from trivium.log.overlay import OverlayFiles
from trivium.log.settings import LogSettings
from trivium.records.legacy import convert_down
from trivium.testing.disk import FakeDisk
from trivium.wire.errors import EncodeError


def reopened(disk: FakeDisk, cluster_id: str | None = "test-cluster", node_id: int = 1) -> LogDirectory:
    return LogDirectory.open(
        disk,
        "/data",
        node_id=node_id,
        cluster_id=cluster_id,
        new_id=lambda: UUID(int=1),
        settings_for=lambda _topic: LogSettings(),
        now_ms=NOW,
    )


def test_new_directory_is_claimed_for_the_cluster() -> None:
    disk = FakeDisk()
    directory = open_directory(disk, "/var/lib/trivium/data")
    assert (directory.meta.cluster_id, directory.meta.node_id) == ("test-cluster", 1)
    assert b"cluster.id=test-cluster\n" in disk.tree()["/var/lib/trivium/data/meta.properties"]


def test_directory_in_use_is_refused() -> None:
    disk = FakeDisk()
    open_directory(disk, "/data")
    with pytest.raises(DirectoryRefused, match="in use by another broker"):
        open_directory(disk, "/data")


def test_directory_in_use_is_refused_on_a_real_disk_too(tmp_path: Path) -> None:
    path = str(tmp_path / "data")
    first = open_directory(RealFiles(), path)
    with pytest.raises(DirectoryRefused, match="in use by another broker"):
        open_directory(RealFiles(), path)
    first.close()
    open_directory(RealFiles(), path).close()


def test_foreign_directory_is_refused_and_left_alone() -> None:
    disk = FakeDisk({"/data/holiday.jpg": b"sand"})
    with pytest.raises(DirectoryRefused, match=r"holiday\.jpg"):
        open_directory(disk, "/data")
    assert disk.tree()["/data/holiday.jpg"] == b"sand"


@pytest.mark.parametrize(
    ("meta", "sentence"),
    [
        (b"version=2\nnode.id=1\ncluster.id=test-cluster\n", "has version 2: only version 1 is known"),
        (b"version=0\nbroker.id=1\n", "migrate it to KRaft first"),
        (b"node.id=1\n", "has no version: it is empty, damaged"),
        (b"version=1\nnode.id=1\ncluster.id=other\n", "belongs to cluster other, not test-cluster"),
        (b"version=1\nnode.id=7\ncluster.id=test-cluster\n", "belongs to node 7, this is node 1"),
    ],
)
def test_directory_of_another_kind_is_refused_in_one_sentence(meta: bytes, sentence: str) -> None:
    with pytest.raises(DirectoryRefused, match=sentence):
        open_directory(FakeDisk({"/data/meta.properties": meta}), "/data")


def test_refused_directory_is_not_locked() -> None:
    disk = FakeDisk({"/data/meta.properties": b"version=9\n"})
    for _ in range(2):
        with pytest.raises(DirectoryRefused, match="version 9"):
            open_directory(disk, "/data")


def test_clean_stop_leaves_a_mark_and_opening_takes_it_away() -> None:
    disk = FakeDisk()
    open_directory(disk, "/data").close()
    assert "/data/.kafka_cleanshutdown" in disk.tree()
    again = reopened(disk)
    assert again.opening.clean
    assert "/data/.kafka_cleanshutdown" not in disk.tree()
    assert not reopened(disk.kill()).opening.clean


def test_mark_of_a_clean_stop_goes_also_when_a_damaged_checkpoint_makes_it_worthless() -> None:
    """Left in place it would vouch for whatever the next crash leaves."""
    disk = FakeDisk()
    directory = open_directory(disk, "/data")
    append(directory.create("orders", 0, TOPIC_ID, LogSettings(), NOW), b"a")
    directory.close()
    disk = FakeDisk(disk.tree() | {"/data/log-start-offset-checkpoint": b"damaged"})
    again = open_directory(disk, "/data")
    assert not again.opening.clean
    again.write_checkpoints()
    assert not open_directory(disk.kill(), "/data").opening.clean


def test_deleted_partition_leaves_nothing_behind() -> None:
    disk = FakeDisk()
    directory = open_directory(disk, "/data")
    append(directory.create("orders", 0, TOPIC_ID, LogSettings(), NOW), b"a")
    directory.delete("orders", 0, UUID(int=5))
    assert not [path for path in disk.tree() if "orders" in path]
    assert contents(directory.create("orders", 0, UUID(int=8), LogSettings(), NOW)) == []


def test_partition_made_again_owes_nothing_to_the_one_that_was_deleted() -> None:
    """A checkpoint that still speaks of the old one would call the new one damaged after a crash."""
    disk = FakeDisk()
    directory = open_directory(disk, "/data")
    append(directory.create("orders", 0, TOPIC_ID, LogSettings(), NOW), b"a", b"b", b"c")
    directory.logs["orders", 0].sync()
    directory.write_checkpoints()
    directory.delete("orders", 0, UUID(int=5))
    append(directory.create("orders", 0, UUID(int=8), LogSettings(), NOW), b"new")
    log = reopened(disk.kill()).logs["orders", 0]
    assert log.corruption is None
    assert contents(log) == [(0, b"new")]


def test_partition_that_is_there_is_not_made_again() -> None:
    directory = open_directory(FakeDisk(), "/data")
    append(directory.create("orders", 0, TOPIC_ID, LogSettings(), NOW), b"a")
    with pytest.raises(ValueError, match="there already"):
        directory.create("orders", 0, TOPIC_ID, LogSettings(), NOW)
    assert contents(directory.logs["orders", 0]) == [(0, b"a")]


def test_directory_of_a_partition_is_listed_twice_when_it_is_opened_after_a_crash() -> None:
    """For its segments, and for the snapshots of its producers: a broker may have thousands of partitions."""
    disk = FakeDisk()
    directory = open_directory(disk, "/data")
    append(directory.create("orders", 0, TOPIC_ID, LogSettings(), NOW), b"a")
    left = disk.kill()
    assert contents(reopened(left).logs["orders", 0]) == [(0, b"a")]
    listed = [call.path for call in left.faults.calls if call.kind == "list"]
    assert listed.count("/data/orders-0") == 2


def test_interrupted_deletion_is_finished_at_the_next_open() -> None:
    name = "orders-0." + "0" * 32 + "-delete"
    disk = FakeDisk(
        {
            "/data/meta.properties": b"version=1\nnode.id=1\ncluster.id=test-cluster\n",
            f"/data/{name}/00000000000000000000.log": b"",
        }
    )
    directory = reopened(disk)
    assert directory.logs == {}
    assert directory.opening.notes == ["finished deleting orders-0"]
    assert not disk.exists(f"/data/{name}")


def test_stray_and_future_directories_are_left_alone() -> None:
    meta = b"version=1\nnode.id=1\ncluster.id=test-cluster\n"
    names = [f"orders-0.{'0' * 32}-{fate}" for fate in ("stray", "future")]
    disk = FakeDisk({"/data/meta.properties": meta} | {f"/data/{name}/x.log": b"?" for name in names})
    assert reopened(disk).logs == {}
    assert all(disk.exists(f"/data/{name}/x.log") for name in names)


@pytest.mark.parametrize("topic", ["..", "a/b", "../up", "", "x" * 250, "tab\t", "ümlaut", "nul\0"])
def test_topic_name_cannot_leave_the_directory(topic: str) -> None:
    disk = FakeDisk()
    directory = open_directory(disk, "/data")
    before = disk.tree()
    with pytest.raises(EncodeError):
        directory.create(topic, 0, TOPIC_ID, LogSettings(), NOW)
    assert disk.tree() == before
    assert directory.logs == {}


def test_records_older_than_kafka_0_11_are_named_and_never_cut() -> None:
    """Sound bytes in a format that we do not read are no torn tail, even where nothing was promised."""
    disk = FakeDisk()
    log = open_directory(disk, "/data").create("orders", 0, TOPIC_ID, LogSettings(), NOW)
    append(log, b"new")
    path = "/data/orders-0/00000000000000000000.log"
    old = convert_down(batch(b"old"), 1)
    tree = disk.tree()
    tree[path] += (1).to_bytes(8) + old[8:]
    disk = FakeDisk(tree)
    log = reopened(disk).logs["orders", 0]
    assert contents(log) == [(0, b"new")]
    assert log.corruption is not None
    assert "corrupt from offset 1" in str(log.corruption)
    assert "before Kafka 0.11" in str(log.corruption)
    assert disk.tree()[path] == tree[path]


def test_overlay_recovers_without_changing_a_byte() -> None:
    disk = FakeDisk()
    log = open_directory(disk, "/data").create("orders", 0, TOPIC_ID, LogSettings(), NOW)
    append(log, b"a")
    append(log, b"b")
    tree = disk.tree()
    tree["/data/orders-0/00000000000000000000.log"] += b"torn"
    disk = FakeDisk(tree)
    below = disk.tree()
    opened = LogDirectory.open(
        OverlayFiles(disk),
        "/data",
        node_id=-1,
        cluster_id=None,
        new_id=lambda: UUID(int=1),
        settings_for=lambda _topic: LogSettings(),
        now_ms=NOW,
    )
    assert contents(opened.logs["orders", 0]) == [(0, b"a"), (1, b"b")]
    assert opened.opening.recoveries[0].cut_bytes == 4
    assert append(opened.logs["orders", 0], b"only in memory") == 2
    opened.close()
    assert disk.tree() == below
    assert not [call for call in disk.faults.calls if call.kind not in ("open", "read", "list")]
