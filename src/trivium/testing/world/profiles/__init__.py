"""What clients do in a world, and what must be true of it in the end: one module for each kind of promise.

A profile makes its world from a seed, lets its clients do so many operations, lets everything come to rest,
and says what is wrong beside what the checker finds.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final, NamedTuple, Protocol

from trivium.testing.world.world import World


class Played(NamedTuple):
    """A history that is over."""

    world: World
    wrong: list[str]
    """What only the profile can see."""


class Play(Protocol):
    def __call__(self, seed: int, operations: int) -> Played: ...


PROFILES: Final[Mapping[str, str]] = {
    "idempotence": "R13: each record once and in order, over retries, late requests and loss of power",
    "transactions": "R14: all or nothing, fenced, and ended in time",
    "classic_groups": "R15: members join, leave, pause and die; each partition has one owner, offsets stay",
    "consumer_groups": "R15: the same in the protocol of KIP-848",
    "batches": "R14, R19: many transactions, one commit, once for each batch of a query",
    "real_log": "R2, R13-R15: all of these on the real log, and a disk that forgets what was not synced",
}
OF_GROUPS: Final = ("classic_groups", "consumer_groups")
"""Whose histories have rebalances."""


def play_of(name: str) -> Callable[[int, int], Played]:
    """A profile by its name; the others are not loaded."""
    play: Callable[[int, int], Played] = import_module(f"{__name__}.{name}").play
    return play
