"""``python -m trivium.testing.world``: one history, shown step by step; or many, counted.

Ends with status 1 if something is wrong.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import closing
from typing import Final

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from trivium.testing.history.lines import to_line
from trivium.testing.world.histories import (
    OPERATIONS,
    History,
    Tally,
    history,
    in_pieces,
    pieces_from,
    play_in_processes,
)
from trivium.testing.world.profiles import OF_GROUPS, PROFILES

BROKEN_SHOWN_MAX: Final = 5
ALL: Final = "all"
EXAMPLES: Final = """\b
Examples:
  --profile transactions --seed 7 -v      what happened in history 7, and what is wrong with it
  --histories 1000                        so many of each profile, in all cores
  --rebalances 100000                     groups of both protocols, until so many rebalances
"""


@click.command(help="Play histories of the seeded world: one seed, one history.", epilog=EXAMPLES)
@click.option(
    "--profile",
    type=click.Choice([*PROFILES, ALL]),
    default=ALL,
    help="What its clients do.",
    show_default=True,
)
@click.option("--seed", default=0, help="The history, or the first of several.", show_default=True)
@click.option("--histories", default=1, type=click.IntRange(1), help="How many.", show_default=True)
@click.option("--rebalances", type=click.IntRange(1), help="Instead: of groups, until there were so many.")
@click.option("--operations", default=OPERATIONS, type=click.IntRange(1), help="Of each.", show_default=True)
@click.option("--processes", default=os.cpu_count() or 1, type=click.IntRange(1), help="At the same time.")
@click.option("-v", "--verbose", is_flag=True, help="Show every operation.")
def main(
    profile: str,
    seed: int,
    histories: int,
    rebalances: int | None,
    operations: int,
    processes: int,
    verbose: bool,
) -> None:
    if rebalances is not None:
        if profile not in (ALL, *OF_GROUPS):
            raise click.UsageError(
                f"{profile} has no groups to rebalance: name {' or '.join(OF_GROUPS)}, or no profile."
            )
        names = OF_GROUPS if profile == ALL else [profile]
        share = -(-rebalances // len(names))
        tallies = {name: _rebalance(name, seed, share, operations, processes) for name in names}
    else:
        names = list(PROFILES) if profile == ALL else [profile]
        if histories == 1:
            played = [_play_one(name, seed, operations, verbose) for name in names]
            sys.exit(any(each.wrong for each in played))
        seeds = range(seed, seed + histories)
        tallies = {name: _play_many(name, seeds, operations, processes) for name in names}
    _sum_up(tallies)
    sys.exit(any(tally.broken for tally in tallies.values()))


def _play_one(profile: str, seed: int, operations: int, verbose: bool) -> History:
    played = history(profile, seed, operations)
    if verbose:
        for operation in played.operations:
            click.echo(to_line(operation), nl=False)
    click.echo(f"{profile}, seed {seed}: {len(played.operations)} operations")
    _tell(played)
    return played


def _play_many(profile: str, seeds: range, operations: int, processes: int) -> Tally:
    total = Tally()
    with _progress() as progress:
        task = progress.add_task(profile, total=len(seeds))
        for tally in play_in_processes(profile, in_pieces(seeds), processes, operations):
            total = _counted(total, tally)
            progress.advance(task, tally.histories)
    return total


def _rebalance(profile: str, seed: int, rebalances: int, operations: int, processes: int) -> Tally:
    """Histories until so many rebalances; the last few may bring some more."""
    total = Tally()
    tallies = play_in_processes(profile, pieces_from(seed), processes, operations)
    with _progress() as progress, closing(tallies):
        task = progress.add_task(f"{profile}: rebalances", total=rebalances)
        while total.rebalances < rebalances:
            total = _counted(total, next(tallies))
            progress.update(task, completed=min(total.rebalances, rebalances))
    return total


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _counted(total: Tally, tally: Tally) -> Tally:
    for number, each in enumerate(tally.broken, len(total.broken)):
        if number < BROKEN_SHOWN_MAX:
            _tell(each)
    return total + tally


def _tell(played: History) -> None:
    for sentence in played.wrong:
        click.echo(f"  {sentence}")
    if played.wrong:
        click.echo(f"  again: {played.command}")


def _sum_up(tallies: Mapping[str, Tally]) -> None:
    """A line for each profile. A second is one of processor time: as many histories one core plays in it."""
    click.echo(
        f"{'profile':16}{'histories':>11}{'operations':>12}{'requests':>12}{'rebalances':>12}"
        f"{'broken':>8}{'histories/s per core':>22}"
    )
    for name, tally in tallies.items():
        click.echo(
            f"{name:16}{tally.histories:>11,}{tally.operations:>12,}{tally.requests:>12,}"
            f"{tally.rebalances:>12,}{len(tally.broken):>8,}{tally.histories / tally.cpu_seconds:>22.1f}"
        )


if __name__ == "__main__":
    main()
