"""R2, R3: logs that are shortened, at their end or at their start, and crash on the way."""

import contextlib
from random import Random

import pytest

from tests.log.log_of import NOW, TOPIC_ID, append, batch, contents, open_directory
from trivium.log.directory import LogDirectory
from trivium.log.faults import Corrupt
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.testing.disk import FakeDisk, PowerLoss

SMALL = LogSettings(segment_bytes=420, index_interval_bytes=90)


def with_records(
    disk: FakeDisk, count: int = 20, *, durable: bool = True
) -> tuple[LogDirectory, PartitionLog]:
    directory = open_directory(disk, "/data", SMALL)
    log = directory.create("orders", 0, TOPIC_ID, SMALL, NOW)
    for number in range(count):
        append(log, b"value-%d" % number)
    if durable:
        log.sync()
        directory.write_checkpoints()
    return directory, log


def values(count: int) -> list[tuple[int, bytes | None]]:
    return [(number, b"value-%d" % number) for number in range(count)]


def test_power_loss_during_a_truncation_leaves_a_sound_log() -> None:
    random = Random(1)
    for nth in range(1, 60):
        disk = FakeDisk()
        directory, _log = with_records(disk)
        disk.stop_at(nth)
        done = False
        with contextlib.suppress(PowerLoss):
            directory.truncate("orders", 0, 7)
            done = True
        again = open_directory(disk.crash(random), "/data", SMALL).logs["orders", 0]
        assert again.corruption is None, f"crash before change {nth}: {again.corruption}"
        assert 7 <= again.log_end_offset <= (7 if done else 20)
        assert contents(again) == values(again.log_end_offset)
    assert done, "the truncation makes more changes than this test tries"


def test_what_was_cut_never_comes_back_behind_newer_records() -> None:
    padding = b"x" * (511 - len(batch(b"0")))
    for seed in range(200):
        disk = FakeDisk()
        directory = open_directory(disk, "/data")
        log = directory.create("orders", 0, TOPIC_ID, LogSettings(), NOW)
        for number in range(4):
            append(log, b"%d" % number + padding)
        log.sync()
        directory.truncate("orders", 0, 1)
        append(log, b"n" + padding)
        found = contents(open_directory(disk.crash(Random(seed)), "/data").logs["orders", 0])
        assert found in ([(0, b"0" + padding)], [(0, b"0" + padding), (1, b"n" + padding)])


def test_truncation_behind_damage_is_refused_and_cuts_nothing() -> None:
    disk = FakeDisk()
    directory, log = with_records(disk)
    disk.flip("/data/orders-0/00000000000000000000.log", 150, 1)
    before = disk.tree()
    with pytest.raises(Corrupt) as damage:
        directory.truncate("orders", 0, log.segments[1].base_offset - 1)
    assert disk.tree() == before
    directory.truncate("orders", 0, damage.value.offset)
    assert contents(log) == values(damage.value.offset)
    assert append(log, b"yes") == damage.value.offset


def test_records_deleted_before_they_were_durable_are_no_loss_after_a_power_loss() -> None:
    for seed in range(20):
        disk = FakeDisk()
        directory, log = with_records(disk, durable=False)
        log.advance_log_start(18)
        directory.write_checkpoints()
        again = open_directory(disk.crash(Random(seed)), "/data", SMALL).logs["orders", 0]
        assert again.corruption is None
        assert contents(again) == values(20)[18:]
