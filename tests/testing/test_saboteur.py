"""The saboteur: a process on the real disk is gone at exactly the change it was told (R3)."""

import subprocess
import sys
from pathlib import Path

import pytest

from trivium.log.files import RealFiles
from trivium.testing.saboteur import Saboteur

SCRIPT = """
import os, sys
from trivium.log.files import RealFiles
from trivium.log import whole_file
from trivium.testing.saboteur import Saboteur

root, point = sys.argv[1], 0
while True:
    point += 1
    child = os.fork()
    if child == 0:
        whole_file.replace(Saboteur(RealFiles(), point, halfway=True), f"{root}/{point}", b"12345678")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status == 0:
        break
    print(point, os.WTERMSIG(status))
"""


def test_process_is_killed_at_every_change_and_leaves_what_was_done(tmp_path: Path) -> None:
    """create, truncate, write, sync, rename, sync of the directory: six points, then it gets through."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split("\n") == [f"{point} 9" for point in range(1, 7)] + [""]
    found = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert found == {
        "2.tmp": b"",
        "3.tmp": b"1234",
        "4.tmp": b"12345678",
        "5.tmp": b"12345678",
        "6": b"12345678",
        "7": b"12345678",
    }


class Stopped(BaseException):
    pass


def stop() -> None:
    raise Stopped


@pytest.mark.parametrize("point", range(1, 11))
def test_every_kind_of_change_is_counted(tmp_path: Path, point: int) -> None:
    def life(files: Saboteur) -> None:
        files.make_directory(f"{tmp_path}/d")
        file = files.open(f"{tmp_path}/d/a", create=True)
        file.write(b"data", 0)
        file.sync()
        file.truncate(2)
        assert (file.size(), file.read(9, 0)) == (2, b"da")
        file.close()
        files.open(f"{tmp_path}/d/a", create=True).close()
        files.open_to_read(f"{tmp_path}/d/a").close()
        files.rename(f"{tmp_path}/d/a", f"{tmp_path}/d/b")
        assert (files.exists(f"{tmp_path}/d/b"), files.size(f"{tmp_path}/d/b")) == (True, 2)
        files.sync_directory(f"{tmp_path}/d")
        assert (files.is_directory(f"{tmp_path}/d"), list(files.list(f"{tmp_path}/d"))) == (True, ["b"])
        files.remove(f"{tmp_path}/d/b")
        files.remove_directory(f"{tmp_path}/d")
        lock = files.lock(f"{tmp_path}/.lock")
        assert lock is not None
        lock.release()

    counting = Saboteur(RealFiles(), None)
    life(counting)
    assert counting.changes == 10
    (tmp_path / ".lock").unlink()
    sabotaged = Saboteur(RealFiles(), point, kill=stop)
    with pytest.raises(Stopped):
        life(sabotaged)
    assert sabotaged.changes == point
