"""R2: what ``acks=all`` promised survives the loss of everything that was not synced.
R3: a crash at any change of the disk recovers, also a crash during that recovery.
"""

import contextlib
import os
from random import Random

import pytest

from tests.crash.history import Life
from trivium.testing.disk import FakeDisk, Killed, PowerLoss

SEEDS = int(os.environ.get("TRIVIUM_CRASH_SEEDS", "8"))
STEPS = 120


def life_until(
    seed: int, nth: int, exception: type[BaseException], *, halfway: bool
) -> tuple[Life, FakeDisk]:
    """Live until the n-th change of the disk, which does not happen; or to the natural end."""
    disk = FakeDisk()
    disk.stop_at(nth, exception, halfway=halfway)
    life = Life(seed, disk)
    with contextlib.suppress(exception):
        life.run(STEPS)
    return life, disk


def changes_of(seed: int) -> int:
    disk = FakeDisk()
    Life(seed, disk).run(STEPS)
    return disk.faults.changes


@pytest.mark.parametrize("seed", range(SEEDS))
def test_power_loss_at_any_change_loses_nothing_durable(seed: int) -> None:
    random = Random(seed)
    changes = changes_of(seed)
    for nth in sorted(random.sample(range(1, changes), min(60, changes - 1))):
        life, disk = life_until(seed, nth, PowerLoss, halfway=random.random() < 0.5)
        crashed = disk.crash(random)
        try:
            life.check(crashed, killed=False)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, crash before change {nth}: {error}") from error
        settled = crashed.kill()
        life.check(settled, killed=False)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_kill_at_any_change_loses_nothing_appended(seed: int) -> None:
    random = Random(seed)
    changes = changes_of(seed)
    for nth in sorted(random.sample(range(1, changes), min(40, changes - 1))):
        life, disk = life_until(seed, nth, Killed, halfway=random.random() < 0.5)
        try:
            life.check(disk.kill(), killed=True)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, kill before change {nth}: {error}") from error


@pytest.mark.parametrize("seed", range(SEEDS))
def test_crash_during_recovery_recovers(seed: int) -> None:
    random = Random(1000 + seed)
    changes = changes_of(seed)
    for nth in sorted(random.sample(range(1, changes), min(15, changes - 1))):
        life, disk = life_until(seed, nth, PowerLoss, halfway=True)
        crashed = disk.crash(random)
        for again in range(1, 12, 2):
            trial = crashed.kill()
            trial.stop_at(again, PowerLoss, halfway=True)
            life.files = trial
            try:
                life.open()
            except PowerLoss:
                crashed = trial.crash(random)
        life.check(crashed.kill(), killed=False)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_life_after_many_crashes_goes_on(seed: int) -> None:
    """Crash, recover, live on, crash again: errors of recovery add up where one crash hides them."""
    random = Random(2000 + seed)
    disk = FakeDisk()
    life = Life(seed, disk)
    for _ in range(12):
        disk.stop_at(random.randrange(10, 200), PowerLoss, halfway=random.random() < 0.5)
        try:
            life.run(60)
        except PowerLoss:
            disk = disk.crash(random)
        else:
            disk = disk.kill()
        life.check(disk, killed=False)
        disk = disk.kill()
        life.files = disk
