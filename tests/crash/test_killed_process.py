"""R3: a process that is killed at any change of a real disk leaves a directory that recovers.

The victim is a real process on real files, killed by SIGKILL before or halfway through its n-th change. What
it had been told by then is known from the same life on the fake disk, ended at the same change: one seed,
one history, on both disks.
"""

import contextlib
import os
import signal
from pathlib import Path
from random import Random

import pytest

from tests.crash.history import Life
from trivium.log.files import RealFiles
from trivium.testing.disk import FakeDisk, Killed
from trivium.testing.saboteur import Saboteur

POINTS = int(os.environ.get("TRIVIUM_CRASH_KILLS", "6"))
STEPS = 80


def run_victim(seed: int, root: str, kill_at: int, *, halfway: bool) -> int:
    """Live in a child process until it is killed; returns how it ended."""
    child = os.fork()
    if child == 0:
        try:
            Life(seed, Saboteur(RealFiles(), kill_at, halfway=halfway), root).run(STEPS)
        finally:
            os._exit(0)
    _pid, status = os.waitpid(child, 0)
    return status


def model_of(seed: int, kill_at: int | None, *, halfway: bool) -> tuple[Life, int]:
    """The same life on the fake disk; also how many changes it made."""
    disk = FakeDisk()
    if kill_at is not None:
        disk.stop_at(kill_at, Killed, halfway=halfway)
    life = Life(seed, disk)
    with contextlib.suppress(Killed):
        life.run(STEPS)
    return life, disk.faults.changes


@pytest.mark.parametrize("seed", range(4))
def test_process_killed_at_any_change_recovers(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    changes = model_of(seed, None, halfway=False)[1]
    for number, kill_at in enumerate(sorted(random.sample(range(2, changes), POINTS))):
        halfway = random.random() < 0.5
        root = str(tmp_path / f"data-{number}")
        status = run_victim(seed, root, kill_at, halfway=halfway)
        assert os.WIFSIGNALED(status)
        assert os.WTERMSIG(status) == signal.SIGKILL
        life, _changes = model_of(seed, kill_at, halfway=halfway)
        life.root = root
        life.check(RealFiles(), killed=True).close()
        life.check(RealFiles(), killed=True).close()


def test_fake_disk_and_real_disk_live_the_same_life(tmp_path: Path) -> None:
    """The fake disk is a fair stand-in: the same history leaves the same bytes."""
    disk, root = FakeDisk(), str(tmp_path / "data")
    Life(3, disk).run(STEPS)
    real = Saboteur(RealFiles(), None)
    Life(3, real, root).run(STEPS)
    assert real.changes == disk.faults.changes
    on_disk = {
        f"/data/{path.relative_to(root)}": path.read_bytes()
        for path in Path(root).rglob("*")
        if path.is_file()
    }
    assert on_disk == disk.tree()
