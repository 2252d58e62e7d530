"""A file replaced as a whole is the old or the new one after every crash (R2, R3); errors are final (R4)."""

import errno
from collections.abc import Callable
from random import Random

import pytest

from trivium.log import whole_file
from trivium.log.files import Files
from trivium.testing.disk import FakeDisk, Killed, PowerLoss

OLD, NEW = b"o" * 700, b"n" * 1300
PATH = "/data/checkpoint"
SEEDS = range(25)

Replace = Callable[[Files, str, bytes], None]


def fresh() -> FakeDisk:
    return FakeDisk({PATH: OLD})


def changes_of_a_replacement() -> int:
    disk = fresh()
    whole_file.replace(disk, PATH, NEW)
    return disk.faults.changes


def survivors(replace: Replace, stop_at: int | None) -> set[bytes]:
    """What a reader may find after the power went at that change, or right after the replacement."""
    disk = fresh()
    if stop_at is not None:
        disk.stop_at(stop_at, halfway=True)
        with pytest.raises(PowerLoss):
            replace(disk, PATH, NEW)
    else:
        replace(disk, PATH, NEW)
    return {whole_file.read(disk.crash(Random(seed)), PATH) for seed in SEEDS}


def test_replace_then_read_gives_the_new_content() -> None:
    disk = fresh()
    whole_file.replace(disk, PATH, NEW)
    assert whole_file.read(disk, PATH) == NEW
    assert list(disk.list("/data")) == ["checkpoint"]


def test_replace_that_returned_survives_power_loss() -> None:
    assert survivors(whole_file.replace, None) == {NEW}


def test_replace_interrupted_by_power_loss_leaves_old_or_new() -> None:
    for point in range(1, changes_of_a_replacement() + 1):
        assert survivors(whole_file.replace, point) <= {OLD, NEW}


def test_replace_interrupted_by_a_kill_leaves_old_or_new_and_can_be_repeated() -> None:
    for point in range(1, changes_of_a_replacement() + 1):
        disk = fresh()
        disk.stop_at(point, Killed, halfway=True)
        with pytest.raises(Killed):
            whole_file.replace(disk, PATH, NEW)
        disk = disk.kill()
        assert whole_file.read(disk, PATH) in (OLD, NEW)
        whole_file.replace(disk, PATH, b"shorter")
        assert {whole_file.read(disk.crash(Random(seed)), PATH) for seed in SEEDS} == {b"shorter"}


@pytest.mark.parametrize("kind", ["create", "write", "truncate", "sync", "rename", "sync_directory"])
@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
def test_replace_with_a_failing_call_raises_and_leaves_old_or_new(kind: str, error: int) -> None:
    disk = fresh()
    disk.fail(kind, error=error)
    with pytest.raises(OSError, match=r"Input/output error|No space left"):
        whole_file.replace(disk, PATH, NEW)
    assert {whole_file.read(disk.crash(Random(seed)), PATH) for seed in SEEDS} <= {OLD, NEW}


def test_replace_on_a_full_disk_leaves_the_old_content() -> None:
    """R5."""
    disk = fresh()
    disk.fill(free_bytes=len(NEW) - 1)
    with pytest.raises(OSError, match="No space left"):
        whole_file.replace(disk, PATH, NEW)
    assert whole_file.read(disk, PATH) == OLD
    disk.fill(free_bytes=len(NEW))
    disk.remove(f"{PATH}.tmp")
    whole_file.replace(disk, PATH, NEW)


def replace_in_place(files: Files, path: str, data: bytes) -> None:
    file = files.open(path)
    file.truncate(0)
    file.write(data, 0)
    file.sync()


def replace_without_sync(files: Files, path: str, data: bytes) -> None:
    files.open(f"{path}.tmp", create=True).write(data, 0)
    files.rename(f"{path}.tmp", path)
    files.sync_directory("/data")


def replace_without_directory_sync(files: Files, path: str, data: bytes) -> None:
    file = files.open(f"{path}.tmp", create=True)
    file.write(data, 0)
    file.sync()
    files.rename(f"{path}.tmp", path)


@pytest.mark.parametrize("careless", [replace_in_place, replace_without_sync, replace_without_directory_sync])
def test_the_tests_above_catch_a_careless_replacement(careless: Replace) -> None:
    """Check the checker: each of the three usual mistakes is seen at some point."""
    disk = fresh()
    careless(disk, PATH, NEW)
    torn = any(survivors(careless, point) - {OLD, NEW} for point in range(1, disk.faults.changes + 1))
    forgotten = survivors(careless, None) != {NEW}
    assert torn or forgotten
