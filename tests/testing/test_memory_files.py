"""Files in memory do what the operating system does, errors included."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from trivium.log.files import File, Files, RealFiles
from trivium.testing.memory_files import MemoryFiles
from trivium.testing.mortal_files import MortalFiles


@pytest.fixture(params=["memory", "real", "mortal"])
def files(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    monkeypatch.chdir(tmp_path)
    made: dict[str, Callable[[], Files]] = {"memory": MemoryFiles, "real": RealFiles, "mortal": MortalFiles}
    return made[request.param]()


def written(files: Files, path: str, data: bytes = b"12345678") -> File:
    file = files.open(path, create=True)
    file.write(data, 0)
    return file


def error_of(call: Callable[[], object]) -> int | None:
    try:
        call()
    except OSError as error:
        return error.errno
    return None


def test_a_file_keeps_what_was_written_where_it_was_written(files: Files) -> None:
    file = written(files, "a")
    file.write(b"xy", 2)
    file.write(memoryview(b"end"), 10)
    assert file.size() == 13
    assert file.read(100, 0) == b"12xy5678\0\0end"
    assert file.read(3, 4) == b"567"
    assert file.read(5, 13) == b""


def test_a_truncated_file_is_cut_or_filled(files: Files) -> None:
    file = written(files, "a")
    file.truncate(4)
    file.truncate(6)
    assert file.read(10, 0) == b"1234\0\0"


def test_an_open_file_outlives_its_name(files: Files) -> None:
    file = written(files, "a")
    files.remove("a")
    file.write(b"!", 8)
    assert not files.exists("a")
    assert file.read(10, 0) == b"12345678!"


def test_a_file_that_is_renamed_replaces_the_other(files: Files) -> None:
    written(files, "old")
    written(files, "new", b"before")
    files.rename("old", "new")
    files.rename("new", "./new")
    assert files.list(".") == ["new"]
    assert files.size("new") == 8


def test_a_directory_that_is_renamed_takes_its_files_along(files: Files) -> None:
    files.make_directory("d")
    written(files, "d/b")
    written(files, "d/a")
    files.make_directory("empty")
    files.rename("d", "empty")
    assert files.list("empty") == ["a", "b"]
    assert not files.exists("d")
    assert files.is_directory("empty")
    assert not files.is_directory("empty/a")


def test_a_directory_is_made_once_and_removed_when_it_is_empty(files: Files) -> None:
    files.make_directory("d")
    files.make_directory("d")
    written(files, "d/a")
    assert error_of(lambda: files.remove_directory("d")) == errno.ENOTEMPTY
    files.remove("d/a")
    files.sync_directory("d")
    files.remove_directory("d")
    assert not files.exists("d")


def test_what_is_not_there_is_an_error(files: Files) -> None:
    missing: list[Callable[[], object]] = [
        lambda: files.open("a"),
        lambda: files.open_to_read("a"),
        lambda: files.size("a"),
        lambda: files.list("a"),
        lambda: files.remove("a"),
        lambda: files.remove_directory("a"),
        lambda: files.rename("a", "b"),
        lambda: files.sync_directory("a"),
        lambda: files.space("a"),
        lambda: files.make_directory("a/b"),
    ]
    assert [error_of(call) for call in missing] == [errno.ENOENT] * len(missing)


def test_files_and_directories_do_not_take_each_others_place(files: Files) -> None:
    written(files, "f")
    files.make_directory("d")
    files.make_directory("full")
    written(files, "full/a")
    assert error_of(lambda: files.make_directory("f")) == errno.EEXIST
    assert error_of(lambda: files.rename("f", "d")) == errno.EISDIR
    assert error_of(lambda: files.rename("d", "f")) == errno.ENOTDIR
    assert error_of(lambda: files.rename("d", "full")) == errno.ENOTEMPTY
    assert error_of(lambda: files.open("d", create=True)) == errno.EISDIR
    assert error_of(lambda: files.list("f")) == errno.ENOTDIR


def test_a_closed_file_and_one_opened_to_be_read_are_not_written_to(files: Files) -> None:
    file = written(files, "a")
    reading = files.open_to_read("a")
    assert reading.read(8, 0) == b"12345678"
    assert error_of(lambda: reading.write(b"x", 0)) == errno.EBADF
    file.close()
    file.close()
    assert error_of(file.size) == errno.EBADF
    assert error_of(lambda: file.write(b"x", 0)) == errno.EBADF


def test_a_lock_is_held_once(files: Files) -> None:
    lock = files.lock("lock")
    assert lock is not None
    assert files.lock("lock") is None
    lock.release()
    again = files.lock("lock")
    assert again is not None
    again.release()


def test_space_is_less_than_there_is(files: Files) -> None:
    written(files, "a")
    space = files.space(".")
    assert 0 < space.usable_bytes < space.total_bytes


@pytest.mark.parametrize("make", [MemoryFiles, MortalFiles])
def test_killed_files_leave_content_and_no_lock(
    make: Callable[[], MemoryFiles | MortalFiles], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = make()
    assert files.lock("lock") is not None
    written(files, "a")
    successor = files.kill()
    assert successor.lock("lock") is not None
    assert successor.open_to_read("a").read(8, 0) == b"12345678"
    successor.kill()
