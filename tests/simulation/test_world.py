"""R13, R14, R15, R19 in the seeded world: thousands of short histories; ``make sim N=...`` plays millions.

A failure says how to see its history again.
"""

import operator
from typing import Any

import pytest

from tests.simulation.planted_bugs import BUGS, Plant
from trivium.messages.schema import Request
from trivium.testing.world import world
from trivium.testing.world.carriage import BYTES_EVERY
from trivium.testing.world.histories import history, play_all
from trivium.testing.world.network import Link, Weather
from trivium.testing.world.profiles import PROFILES, idempotence

OPERATIONS = 40
"""Short histories find as much as long ones, and more of them fit into a test."""
SEEDS_AT_ONCE = 50
PIECES = {
    "idempotence": 24,
    "transactions": 10,
    "classic_groups": 10,
    "consumer_groups": 6,
    "batches": 6,
    "real_log": 3,
}
"""So many times as many seeds: about as long for each profile."""
SEEDS_FOR_A_BUG = 150
FOUND_ONCE = [("classic_groups", 1244), ("consumer_groups", 1351), ("real_log", 2030)]
"""What ``make sim`` has found: a late SyncGroup that did not count as a sign of life, a fair weather that
brought what the profile's own never brings, and a network on which a request overtook another one.
"""


@pytest.mark.parametrize(
    ("profile", "piece"), [(profile, piece) for profile, count in PIECES.items() for piece in range(count)]
)
def test_histories_of_any_seed_are_sound(profile: str, piece: int) -> None:
    seeds = range(piece * SEEDS_AT_ONCE, (piece + 1) * SEEDS_AT_ONCE)
    tally = play_all(profile, seeds, OPERATIONS)
    assert not tally.broken, "\n".join((*tally.broken[0].wrong, tally.broken[0].command))


@pytest.mark.parametrize(("profile", "seed"), FOUND_ONCE)
def test_history_that_was_broken_once_is_sound(profile: str, seed: int) -> None:
    assert not history(profile, seed).wrong


@pytest.mark.parametrize("profile", PROFILES)
def test_seed_gives_the_same_history_every_time(profile: str) -> None:
    assert history(profile, 7) == history(profile, 7)
    assert history(profile, 7) != history(profile, 8)


@pytest.mark.parametrize("profile", PROFILES)
def test_seed_gives_the_same_history_by_bytes_and_by_messages(
    profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = [seed for seed in range(1, 9) if seed % BYTES_EVERY]
    by_messages = [history(profile, seed, OPERATIONS) for seed in seeds]
    monkeypatch.setattr(world, "BYTES_EVERY", 1)
    assert [history(profile, seed, OPERATIONS) for seed in seeds] == by_messages


@pytest.mark.parametrize(
    ("profile", "plant"),
    [(profile, plant) for profile, bugs in BUGS.items() for plant in bugs],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_planted_bug_is_found(profile: str, plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    for seed in range(SEEDS_FOR_A_BUG):
        try:
            if history(profile, seed, OPERATIONS).wrong:
                return
        except (AssertionError, LookupError):
            # It has broken an invariant of the broker itself.
            return
    raise AssertionError(f"{plant.__name__} is not noticed in {SEEDS_FOR_A_BUG} histories")


def test_every_profile_has_bugs_that_it_finds() -> None:
    assert set(BUGS) == set(PIECES) == set(PROFILES)


def test_requests_of_one_connection_arrive_in_order_also_where_the_network_holds_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on any TCP connection; what was held must not be overtaken by what arrives in the same moment."""
    asked: dict[Link, list[Request]] = {}
    delivered: dict[Link, list[Request]] = {}
    ask, deliver = Link.ask, Link._deliver

    def noting_ask(link: Link, request: Request, *words: Any) -> None:
        asked.setdefault(link, []).append(request)
        ask(link, request, *words)

    def noting_deliver(link: Link, request: Request, version: int) -> None:
        delivered.setdefault(link, []).append(request)
        deliver(link, request, version)

    monkeypatch.setattr(Link, "ask", noting_ask)
    monkeypatch.setattr(Link, "_deliver", noting_deliver)
    monkeypatch.setattr(idempotence, "Weather", lambda: Weather(stall=0.3, cut=0.0))
    for seed in range(10):
        idempotence.play(seed, OPERATIONS)
    assert delivered
    for link, requests in delivered.items():
        assert all(map(operator.is_, requests, asked[link]))
