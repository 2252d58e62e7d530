"""Histories by profile and seed: played, checked, and many of them in all cores."""

import gc
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from time import process_time
from typing import Final, NamedTuple

from trivium.testing.history.checker import check
from trivium.testing.history.operation import Assign, Operation
from trivium.testing.world.profiles import play_of

OPERATIONS: Final = 200
"""Of one history, unless somebody wants more; the reads at the end come on top."""
SEEDS_AT_ONCE: Final = 10
"""Handed to a process at a time."""


class History(NamedTuple):
    profile: str
    seed: int
    operations: Sequence[Operation]
    wrong: Sequence[str]
    """Sentences; a sound history has none."""
    requests: int
    """What clients have asked of the broker, the second and third time and heartbeats among it."""
    asked_for: int = OPERATIONS
    """So many operations clients were to begin; a part of what makes a history what it is."""

    @property
    def rebalances(self) -> int:
        """Generations of groups of which a member has heard."""
        acts = (operation.act for operation in self.operations if operation.is_ok)
        return len({(act.group, act.generation) for act in acts if isinstance(act, Assign)})

    @property
    def command(self) -> str:
        """How to see it again."""
        length = "" if self.asked_for == OPERATIONS else f" --operations {self.asked_for}"
        return f"python -m trivium.testing.world --profile {self.profile} --seed {self.seed}{length} -v"


class Tally(NamedTuple):
    """What came of some histories."""

    histories: int = 0
    operations: int = 0
    requests: int = 0
    rebalances: int = 0
    cpu_seconds: float = 0.0
    broken: Sequence[History] = ()

    def __add__(self, other: object) -> "Tally":
        assert isinstance(other, Tally)
        return Tally(
            self.histories + other.histories,
            self.operations + other.operations,
            self.requests + other.requests,
            self.rebalances + other.rebalances,
            self.cpu_seconds + other.cpu_seconds,
            [*self.broken, *other.broken],
        )


def history(profile: str, seed: int, operations: int = OPERATIONS) -> History:
    played = play_of(profile)(seed, operations)
    found = played.world.story.operations
    wrong = [*played.wrong, *map(str, check(found).anomalies)]
    return History(profile, seed, found, wrong, played.world.network.requests, operations)


def play_all(profile: str, seeds: Iterable[int], operations: int = OPERATIONS) -> Tally:
    begun = process_time()
    histories, count, requests, rebalances, broken = 0, 0, 0, 0, []
    with _little_garbage_collection():
        for seed in seeds:
            played = history(profile, seed, operations)
            histories += 1
            count += len(played.operations)
            requests += played.requests
            rebalances += played.rebalances
            if played.wrong:
                broken.append(played)
            gc.collect()
    return Tally(histories, count, requests, rebalances, process_time() - begun, broken)


def play_in_processes(
    profile: str, seeds: Sequence[range], processes: int, operations: int = OPERATIONS
) -> Iterator[Tally]:
    """The same in many processes; a tally for each few seeds, in their order."""
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(partial(play_all, profile, operations=operations), seeds)


def in_pieces(seeds: range) -> list[range]:
    return [seeds[at : at + SEEDS_AT_ONCE] for at in range(0, len(seeds), SEEDS_AT_ONCE)]


@contextmanager
def _little_garbage_collection() -> Iterator[None]:
    """Looking for cycles all the time takes a quarter of it. A world is small: whoever plays looks once after
    each, at nothing older, while it still lies in the processor's cache.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_enabled:
            gc.enable()
