"""The fake disk does what the real one does, and loses what a real one may lose (R2, R4, R5)."""

import errno
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.log.files import Files, RealFiles
from trivium.testing.disk import FakeDisk, FakeFile, Killed, PowerLoss

SEEDS = range(200)


def outcomes(disk: FakeDisk, path: str) -> set[bytes | None]:
    """Everything that a power loss now may leave at a path, None for no file."""
    return {disk.crash(Random(seed)).tree().get(path) for seed in SEEDS}


def written(disk: FakeDisk, path: str, data: bytes, *, sync: bool = True) -> FakeFile:
    file = disk.open(path, create=True)
    file.write(data, 0)
    if sync:
        file.sync()
    return file


# -- it does what the real one does


@pytest.fixture(params=["real", "fake"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Files, str]:
    """Both implementations of the port, each with an empty directory."""
    if request.param == "real":
        return RealFiles(), str(tmp_path)
    disk = FakeDisk()
    disk.make_directory("/data")
    return disk, "/data"


def test_file_written_beyond_its_end_reads_zeros_between(anywhere: tuple[Files, str]) -> None:
    files, root = anywhere
    file = files.open(f"{root}/a", create=True)
    file.write(b"xy", 0)
    file.write(memoryview(b"z"), 5)
    assert (file.size(), file.read(100, 0), file.read(2, 4)) == (6, b"xy\0\0\0z", b"\0z")
    assert file.read(5, 6) == b""
    file.truncate(1)
    file.truncate(3)
    assert file.read(9, 0) == b"x\0\0"
    file.sync()
    file.close()
    assert files.size(f"{root}/a") == 3
    assert files.open(f"{root}/a").read(9, 0) == b"x\0\0"


def test_names_are_listed_renamed_and_removed(anywhere: tuple[Files, str]) -> None:
    files, root = anywhere
    for name in ("b", "a"):
        files.open(f"{root}/{name}", create=True).write(name.encode(), 0)
    files.make_directory(f"{root}/c")
    files.make_directory(f"{root}/c")
    assert list(files.list(root)) == ["a", "b", "c"]
    assert (files.is_directory(f"{root}/c"), files.is_directory(f"{root}/a")) == (True, False)
    files.rename(f"{root}/a", f"{root}/b")
    assert files.open(f"{root}/b").read(9, 0) == b"a"
    files.open(f"{root}/c/d", create=True).close()
    files.rename(f"{root}/c", f"{root}/e")
    assert files.exists(f"{root}/e/d")
    files.remove(f"{root}/e/d")
    files.remove_directory(f"{root}/e")
    files.sync_directory(root)
    assert list(files.list(root)) == ["b"]


@pytest.mark.parametrize(
    ("action", "error"),
    [
        (lambda files, root: files.open(f"{root}/none"), FileNotFoundError),
        (lambda files, root: files.open_to_read(f"{root}/none"), FileNotFoundError),
        (lambda files, root: files.open(f"{root}/none/a", create=True), FileNotFoundError),
        (lambda files, root: files.size(f"{root}/none"), FileNotFoundError),
        (lambda files, root: files.list(f"{root}/none"), FileNotFoundError),
        (lambda files, root: files.remove(f"{root}/none"), FileNotFoundError),
        (lambda files, root: files.rename(f"{root}/none", f"{root}/a"), FileNotFoundError),
        (lambda files, root: files.sync_directory(f"{root}/none"), FileNotFoundError),
        (lambda files, root: files.remove_directory(f"{root}/none"), FileNotFoundError),
        (lambda files, root: files.open(root), IsADirectoryError),
        (lambda files, root: files.make_directory(f"{root}/file"), FileExistsError),
        (lambda files, root: files.list(f"{root}/file"), NotADirectoryError),
        (lambda files, root: files.remove_directory(root), OSError),
        (lambda files, root: files.rename(f"{root}/full", f"{root}/file"), NotADirectoryError),
        (lambda files, root: files.rename(f"{root}/file", f"{root}/full"), IsADirectoryError),
        (lambda files, root: files.open_to_read(f"{root}/file").write(b"x", 0), OSError),
        (lambda files, root: files.open_to_read(f"{root}/file").truncate(0), OSError),
    ],
)
def test_calls_that_cannot_be_fail_alike(
    anywhere: tuple[Files, str], action: Callable[[Files, str], object], error: type[OSError]
) -> None:
    files, root = anywhere
    files.open(f"{root}/file", create=True).close()
    files.make_directory(f"{root}/full")
    files.open(f"{root}/full/inside", create=True).close()
    with pytest.raises(error):
        action(files, root)


def test_file_that_is_removed_stays_readable_while_open(anywhere: tuple[Files, str]) -> None:
    files, root = anywhere
    file = files.open(f"{root}/a", create=True)
    file.write(b"kept", 0)
    files.remove(f"{root}/a")
    assert file.read(4, 0) == b"kept"
    file.close()
    file.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        file.read(4, 0)


def test_lock_excludes_until_released(anywhere: tuple[Files, str]) -> None:
    files, root = anywhere
    lock = files.lock(f"{root}/.lock")
    assert lock is not None
    assert files.lock(f"{root}/.lock") is None
    lock.release()
    assert files.lock(f"{root}/.lock") is not None


# -- it loses what a real one may lose


def test_synced_file_with_a_synced_name_survives_every_power_loss() -> None:
    disk = FakeDisk()
    written(disk, "/a", b"x" * 2000)
    disk.sync_directory("/")
    assert outcomes(disk, "/a") == {b"x" * 2000}


def test_synced_file_without_a_synced_name_may_vanish() -> None:
    disk = FakeDisk()
    written(disk, "/a", b"data")
    assert outcomes(disk, "/a") == {b"data", None}


def test_unsynced_bytes_may_be_there_gone_zero_torn_or_out_of_order() -> None:
    disk = FakeDisk({"/a": b"o" * 1024})
    disk.open("/a").write(b"n" * 2048, 0)
    found = {data for data in outcomes(disk, "/a") if data is not None}
    assert b"o" * 1024 in found
    assert b"n" * 2048 in found
    assert any(data[:512] == b"o" * 512 and data[512:1024] == b"n" * 512 for data in found), "out of order"
    assert any(data[1024:] == bytes(1024) for data in found), "the size has moved, the data has not"
    assert any(set(data[:512]) == set(b"no") for data in found), "torn within a sector"
    assert all(set(data) <= set(b"no\0") for data in found)


def test_sector_written_twice_may_show_the_first_of_both() -> None:
    disk = FakeDisk({"/a": b"o" * 512})
    file = disk.open("/a")
    file.write(b"1" * 512, 0)
    file.write(b"2" * 512, 0)
    assert {b"o" * 512, b"1" * 512, b"2" * 512} <= outcomes(disk, "/a")


def test_unsynced_truncation_may_not_have_happened() -> None:
    disk = FakeDisk({"/a": b"x" * 100})
    disk.open("/a").truncate(10)
    assert {b"x" * 10, b"x" * 100} <= outcomes(disk, "/a")
    disk.open("/a").sync()
    assert outcomes(disk, "/a") == {b"x" * 10}


@given(st.lists(st.tuples(st.integers(1, 900), st.booleans()), min_size=1, max_size=8), st.integers(0, 2**32))
def test_synced_prefix_of_an_appended_file_is_never_harmed(
    appends: list[tuple[int, bool]], seed: int
) -> None:
    """What every log relies on: appending to a sector does not endanger what it already holds."""
    disk, random = FakeDisk({"/a": b""}), Random(seed)
    file, data, synced = disk.open("/a"), b"", b""
    for number, (size_bytes, sync) in enumerate(appends, 1):
        file.write(bytes([number]) * size_bytes, len(data))
        data += bytes([number]) * size_bytes
        if sync:
            file.sync()
            synced = data
    for _ in range(20):
        found = disk.crash(random).tree()["/a"]
        assert found.startswith(synced)
        assert len(found) <= len(data)
        assert all(byte in (0, data[at]) for at, byte in enumerate(found))


def test_directory_changes_happen_in_order_up_to_any_point() -> None:
    disk = FakeDisk({"/d/a": b"a", "/d/b": b"b"})
    disk.rename("/d/a", "/d/c")
    disk.remove("/d/b")
    disk.open("/d/e", create=True).close()
    found = {tuple(disk.crash(Random(seed)).list("/d")) for seed in SEEDS}
    assert found == {("a", "b"), ("b", "c"), ("c",), ("c", "e")}
    disk.sync_directory("/d")
    assert {tuple(disk.crash(Random(seed)).list("/d")) for seed in SEEDS} == {("c", "e")}


def test_directory_made_without_a_sync_of_its_parent_may_vanish_with_all_in_it() -> None:
    disk = FakeDisk()
    disk.make_directory("/d")
    written(disk, "/d/a", b"data")
    disk.sync_directory("/d")
    assert outcomes(disk, "/d/a") == {b"data", None}
    disk.sync_directory("/")
    assert outcomes(disk, "/d/a") == {b"data"}


def test_rename_over_a_file_shows_the_old_or_the_new_one() -> None:
    disk = FakeDisk({"/a": b"old"})
    written(disk, "/a.tmp", b"new")
    disk.rename("/a.tmp", "/a")
    assert outcomes(disk, "/a") == {b"old", b"new"}


def test_rename_of_an_unsynced_file_may_show_it_empty() -> None:
    disk = FakeDisk({"/a": b"old"})
    written(disk, "/a.tmp", b"new", sync=False)
    disk.rename("/a.tmp", "/a")
    assert b"" in outcomes(disk, "/a")


def test_crash_leaves_the_disk_and_is_told_by_its_seed() -> None:
    disk = FakeDisk({"/a": b"x" * 4000})
    disk.open("/a").write(b"y" * 4000, 1000)
    before = disk.tree()
    assert disk.crash(Random(7)).tree() == disk.crash(Random(7)).tree()
    assert disk.tree() == before


def test_crash_after_a_crash_loses_nothing_more() -> None:
    disk = FakeDisk({"/a": b"x" * 1000})
    disk.open("/a").write(b"y" * 1000, 500)
    once = disk.crash(Random(3))
    assert all(once.crash(Random(seed)).tree() == once.tree() for seed in SEEDS)


def test_kill_keeps_what_was_written_and_what_is_in_doubt() -> None:
    disk = FakeDisk({"/a": b"old"})
    assert disk.lock("/.lock") is not None
    disk.open("/a").write(b"new", 0)
    next_process = disk.kill()
    assert next_process.tree()["/a"] == b"new"
    assert next_process.lock("/.lock") is not None, "a lock dies with its process"
    assert {b"old", b"new"} <= outcomes(next_process, "/a")
    next_process.open("/a").sync()
    assert outcomes(next_process, "/a") == {b"new"}
    assert {b"old", b"new"} <= outcomes(disk, "/a"), "the first disk is as it was"


# -- it fails when told


def test_failed_sync_is_not_made_good_by_the_next() -> None:
    """R4: the pages are clean and lost; a second sync succeeds and proves nothing."""
    disk = FakeDisk({"/a": b"old"})
    file = disk.open("/a")
    file.write(b"new!", 0)
    disk.fail("sync")
    with pytest.raises(OSError, match="Input/output error"):
        file.sync()
    file.sync()
    assert file.read(9, 0) == b"new!"
    assert b"old" in outcomes(disk, "/a")
    assert b"old" in outcomes(disk.kill(), "/a")
    file.write(b"NEW!", 0)
    file.sync()
    assert outcomes(disk, "/a") == {b"NEW!"}, "only writing again makes the pages dirty again"


def test_failed_sync_then_append_may_leave_a_hole() -> None:
    disk = FakeDisk({"/a": b""})
    file = disk.open("/a")
    file.write(b"1" * 512, 0)
    disk.fail("sync")
    with pytest.raises(OSError, match="Input/output error"):
        file.sync()
    file.write(b"2" * 512, 512)
    file.sync()
    assert bytes(512) + b"2" * 512 in outcomes(disk, "/a")


def test_failed_directory_sync_is_not_made_good_by_the_next() -> None:
    disk = FakeDisk()
    written(disk, "/a", b"data")
    disk.fail("sync_directory")
    with pytest.raises(OSError, match="Input/output error"):
        disk.sync_directory("/")
    disk.sync_directory("/")
    assert outcomes(disk, "/a") == {b"data", None}


@pytest.mark.parametrize("kind", ["write", "read", "truncate", "rename", "remove", "create", "open"])
def test_call_that_is_to_fail_fails_once_at_its_turn(kind: str) -> None:
    disk = FakeDisk({"/a": b"data", "/b": b"data"})

    def once(number: int) -> None:
        file = disk.open("/a")
        file.write(b"x", 0)
        file.read(1, 0)
        file.truncate(4)
        disk.rename("/b", "/c")
        disk.rename("/c", "/b")
        disk.open(f"/new{number}", create=True).close()
        disk.remove(f"/new{number}")

    once(0)
    disk.fail(kind, disk.faults.counts[kind] + 1, errno.EIO)
    once(1)
    with pytest.raises(OSError, match="Input/output error"):
        once(2)
    once(3)


def test_full_disk_takes_what_fits_and_refuses_the_rest() -> None:
    """R5: as an operating system does, byte by byte."""
    disk = FakeDisk({"/a": b"12345", "/b": b"123"})
    disk.fill(free_bytes=4)
    file = disk.open("/a")
    file.write(b"abcde", 0)
    with pytest.raises(OSError, match="No space left") as refusal:
        file.write(b"ABCDEF", 5)
    assert refusal.value.errno == errno.ENOSPC
    assert file.read(99, 0) == b"abcdeABCD"
    with pytest.raises(OSError, match="No space left"):
        disk.open("/b").truncate(4)
    disk.remove("/b")
    file.write(b"EFG", 9)
    with pytest.raises(OSError, match="No space left"):
        file.write(b"H", 12)
    disk.fill(free_bytes=None)
    file.write(b"H" * 100, 12)


@pytest.mark.parametrize("exception", [PowerLoss, Killed])
def test_end_comes_before_the_change_and_lasts(exception: type[BaseException]) -> None:
    disk = FakeDisk({"/a": b"old"})
    disk.stop_at(2, exception)
    file = disk.open("/a")
    file.write(b"1", 3)
    file.read(4, 0)
    with pytest.raises(exception):
        file.write(b"2", 4)
    with pytest.raises(exception):
        file.read(1, 0)
    with pytest.raises(exception):
        disk.remove("/a")
    assert not issubclass(exception, Exception)
    assert disk.kill().tree() == {"/a": b"old1"}


def test_end_halfway_leaves_half_a_write() -> None:
    disk = FakeDisk({"/a": b""})
    disk.stop_at(1, Killed, halfway=True)
    with pytest.raises(Killed):
        disk.open("/a").write(b"12345678", 0)
    assert disk.kill().tree() == {"/a": b"1234"}


def test_flip_turns_one_bit_on_the_medium_too() -> None:
    disk = FakeDisk({"/a": b"\0\0"})
    disk.flip("/a", 1, 3)
    assert disk.tree()["/a"] == b"\0\x08"
    assert outcomes(disk, "/a") == {b"\0\x08"}


def test_calls_are_logged_and_counted() -> None:
    disk = FakeDisk()
    written(disk, "/a", b"data").close()
    assert [(call.kind, call.path, call.size_bytes) for call in disk.faults.calls] == [
        ("create", "/a", 0),
        ("write", "/a", 4),
        ("sync", "/a", 0),
    ]
    assert disk.faults.counts["write"] == 1
    assert disk.faults.changes == 3


@pytest.mark.parametrize("path", ["/../a", "/a/../../b", ".."])
def test_path_that_climbs_is_refused(path: str) -> None:
    with pytest.raises(OSError, match="Invalid argument"):
        FakeDisk().exists(path)
