"""Histories by profile and seed: played, checked, and many of them in all cores.

Nothing here asks for CPython: a seed gives the same history under PyPy, whose compiler pays in long runs.
"""

import gc
import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import count
from time import process_time
from typing import Final, NamedTuple

from trivium.testing.history.checker import check
from trivium.testing.history.operation import Assign, Operation
from trivium.testing.world.profiles import play_of

OPERATIONS: Final = 200
"""Of one history, unless somebody wants more; the reads at the end come on top."""
SEEDS_AT_ONCE: Final = 10
"""Handed to a process at a time."""
PIECES_AHEAD: Final = 4
"""Of each process, so many times as many seeds wait for it."""
COUNTS_REFERENCES: Final = sys.implementation.name == "cpython"
"""Whether only cycles are garbage that has to be looked for."""


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
    histories, seen, requests, rebalances, broken = 0, 0, 0, 0, []
    with _little_garbage_collection():
        for seed in seeds:
            played = history(profile, seed, operations)
            histories += 1
            seen += len(played.operations)
            requests += played.requests
            rebalances += played.rebalances
            if played.wrong:
                broken.append(played)
            if COUNTS_REFERENCES:
                gc.collect()
    return Tally(histories, seen, requests, rebalances, process_time() - begun, broken)


def play_in_processes(
    profile: str, seeds: Iterable[range], processes: int, operations: int = OPERATIONS
) -> Generator[Tally]:
    """The same in many processes; a tally for each few seeds, in their order. Seeds may have no end: whoever
    has enough tallies closes the iterator. Processes stay the same, so that a compiler learns once.
    """
    with ProcessPoolExecutor(processes) as pool:
        begun: deque[Future[Tally]] = deque()
        try:
            for piece in seeds:
                begun.append(pool.submit(play_all, profile, piece, operations))
                if len(begun) >= PIECES_AHEAD * processes:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def in_pieces(seeds: range) -> Iterator[range]:
    return (seeds[at : at + SEEDS_AT_ONCE] for at in range(0, len(seeds), SEEDS_AT_ONCE))


def pieces_from(seed: int) -> Iterator[range]:
    """Without end."""
    return (range(at, at + SEEDS_AT_ONCE) for at in count(seed, SEEDS_AT_ONCE))


@contextmanager
def _little_garbage_collection() -> Iterator[None]:
    """Looking for cycles all the time takes a quarter of it. A world is small: whoever plays looks once after
    each, at nothing older, while it still lies in the processor's cache. Where nobody counts references the
    collector is left alone.
    """
    if not COUNTS_REFERENCES:
        yield
        return
    was_enabled = gc.isenabled()
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_enabled:
            gc.enable()
