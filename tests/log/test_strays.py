"""Directories that the metadata does not know, or knows otherwise: left alone, in nobody's way (R3, R7)."""

from random import Random
from uuid import UUID

import pytest

from tests.log.log_of import NOW, append, contents
from trivium.log.directory import LogDirectory
from trivium.log.settings import LogSettings
from trivium.log.store import Identity, LogStore
from trivium.log.survey import TopicIdOf
from trivium.testing.disk import FakeDisk, PowerLoss

OLD, NEW = UUID(int=7), UUID(int=8)


def opened(disk: FakeDisk, topic_id_of: TopicIdOf | None) -> LogDirectory:
    return LogDirectory.open(
        disk,
        "/data",
        node_id=1,
        cluster_id="test",
        new_id=lambda: UUID(int=1),
        settings_for=lambda _topic: LogSettings(),
        now_ms=NOW,
        topic_id_of=topic_id_of,
    )


def knows(**topics: UUID) -> TopicIdOf:
    return lambda topic, _partition: topics.get(topic)


@pytest.fixture
def disk() -> FakeDisk:
    """With a partition of topic ``orders``, of the old id, and three records in it."""
    disk = FakeDisk()
    directory = opened(disk, None)
    append(directory.create("orders", 0, OLD, LogSettings(), NOW), b"a", b"b", b"c")
    directory.close()
    return disk


def test_partition_that_is_expected_is_served(disk: FakeDisk) -> None:
    directory = opened(disk, knows(orders=OLD))
    assert contents(directory.logs["orders", 0]) == [(0, b"a"), (1, b"b"), (2, b"c")]
    assert directory.opening.strays == []


def test_partition_that_nobody_knows_is_left_byte_for_byte(disk: FakeDisk) -> None:
    before = {path: data for path, data in disk.tree().items() if "/orders-0/" in path}
    directory = opened(disk, knows())
    assert directory.logs == {}
    assert directory.opening.strays == ["orders-0"]
    directory.close()
    assert {path: data for path, data in disk.tree().items() if "/orders-0/" in path} == before


def test_checkpoints_of_a_stray_are_kept_for_its_return(disk: FakeDisk) -> None:
    directory = opened(disk, knows())
    directory.write_checkpoints()
    directory.close()
    again = opened(disk, knows(orders=OLD))
    assert again.logs["orders", 0].recovery_point == 3


def test_topic_made_again_is_not_served_the_records_of_its_namesake(disk: FakeDisk) -> None:
    directory = opened(disk, knows(orders=NEW))
    log = directory.create("orders", 0, NEW, LogSettings(), NOW, set_aside_as=UUID(int=99))
    assert contents(log) == []
    assert append(log, b"new") == 0
    aside = f"/data/orders-0.{UUID(int=99).hex}-stray/00000000000000000000.log"
    assert len(disk.tree()[aside]) > 0
    log.sync()
    again = opened(disk.kill(), knows(orders=NEW))
    assert contents(again.logs["orders", 0]) == [(0, b"new")]
    assert again.opening.strays == []


@pytest.mark.parametrize("nth", range(1, 40))
def test_power_loss_while_a_namesake_is_set_aside_mixes_nothing_up(disk: FakeDisk, nth: int) -> None:
    disk = FakeDisk(disk.tree())
    disk.stop_at(nth, PowerLoss)
    durable = False
    try:
        directory = opened(disk, knows(orders=NEW))
        log = directory.create("orders", 0, NEW, LogSettings(), NOW, lazily=True)
        append(log, b"new")
        log.sync()
        durable = True
    except PowerLoss:
        pass
    again = opened(disk.crash(Random(nth)), knows(orders=NEW))
    found = contents(again.logs["orders", 0]) if ("orders", 0) in again.logs else []
    assert found in ([[(0, b"new")]] if durable else [[], [(0, b"new")]])


@pytest.mark.parametrize("damage", [b"", b"version: 0\ntopic_id: AAAA", None])
def test_partition_that_has_lost_its_id_is_told(disk: FakeDisk, damage: bytes | None) -> None:
    """A crash before the first sync may leave it so; Kafka would not open such a directory."""
    tree = disk.tree()
    path = "/data/orders-0/partition.metadata"
    whole = tree.pop(path)
    if damage is not None:
        tree[path] = damage
    disk = FakeDisk(tree)
    assert opened(disk, knows(orders=OLD)).topic_ids["orders", 0] == OLD
    assert disk.tree()[path] == whole


def test_new_partition_costs_no_sync_until_its_first() -> None:
    disk = FakeDisk()
    directory = opened(disk, None)
    before = len(disk.faults.calls)
    log = directory.create("orders", 0, OLD, LogSettings(), NOW, lazily=True)
    append(log, b"a")
    assert not [call for call in disk.faults.calls[before:] if "sync" in call.kind]
    log.sync()
    for seed in range(10):
        again = opened(disk.crash(Random(seed)), knows(orders=OLD))
        assert contents(again.logs["orders", 0]) == [(0, b"a")]


# -- several directories ---------------------------------------------------------------------------


def store_on(disk: FakeDisk) -> LogStore:
    ids = iter(range(100, 1000))
    return LogStore.open(
        disk,
        ["/one", "/two"],
        Identity(1, "test"),
        new_id=lambda: UUID(int=next(ids)),
        settings_for=lambda _topic: LogSettings(),
        now_ms=NOW,
        topic_id_of=knows(orders=OLD),
    )


def test_partition_in_two_directories_stays_where_it_is_longer() -> None:
    disk = FakeDisk()
    store = store_on(disk)
    append(store.create("orders", 0, OLD, LogSettings(), NOW, among=["/one"]), b"a")
    store.close()
    short = {path.replace("/one/", "/two/"): data for path, data in disk.tree().items() if "orders" in path}
    store = store_on(disk)
    log = store.get("orders", 0)
    assert log is not None
    append(log, b"b")
    store.close()
    disk = FakeDisk(disk.tree() | short)
    store = store_on(disk)
    log = store.get("orders", 0)
    assert log is not None
    assert contents(log) == [(0, b"a"), (1, b"b")]
    assert store.home("orders", 0).path == "/one"
    assert [path for path in disk.tree() if path.startswith("/two/orders-0.") and "-stray/" in path]
    store.close()
    assert store_on(disk).home("orders", 0).path == "/one"
