"""How many histories of the seeded world one core plays in a second (``trivium.testing.world``).

Of processor time, so that a busy machine does not count; the best of some rounds, because noise only adds.
Requests are what clients ask of the broker in a history, retries and heartbeats among them.
"""

from trivium.testing.world.histories import OPERATIONS, play_all
from trivium.testing.world.profiles import PROFILES

ROUNDS = 3
HISTORIES = 14
LEVEL = 100
"""Histories a second that are wanted."""


def main() -> None:
    print(f"{f'histories of {OPERATIONS} operations':32}{'a second':>10}{'wanted':>9}{'us/request':>12}")
    for profile in PROFILES:
        play_all(profile, range(2))
        tallies = [play_all(profile, range(HISTORIES)) for _ in range(ROUNDS)]
        assert not any(tally.broken for tally in tallies)
        best = min(tallies, key=lambda tally: tally.cpu_seconds)
        rate, request_us = best.histories / best.cpu_seconds, best.cpu_seconds / best.requests * 1e6
        print(f"{profile:32}{rate:>10.1f}{f'>= {LEVEL}':>9}{request_us:>12.0f}")


if __name__ == "__main__":
    main()
