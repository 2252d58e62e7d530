"""``python -m trivium.testing.world``: one history, shown step by step; or many, counted.

    --profile transactions --seed 7 -v      what happened in history 7, and what is wrong with it
    --profile batches --histories 100000    so many, from --seed on, in all cores

Ends with status 1 if something is wrong.
"""

import os
import sys
from time import monotonic

import click
from rich.console import Console
from rich.progress import Progress

from trivium.testing.history.lines import to_line
from trivium.testing.world.histories import OPERATIONS, History, history, play_in_processes
from trivium.testing.world.profiles import PROFILES

BROKEN_SHOWN_MAX = 5


@click.command(help="Play histories of the seeded world.")
@click.option(
    "--profile",
    type=click.Choice([*PROFILES, "all"]),
    default="all",
    help="What its clients do.",
    show_default=True,
)
@click.option("--seed", default=0, help="The history, or the first of several.", show_default=True)
@click.option("--histories", default=1, type=click.IntRange(1), help="How many.", show_default=True)
@click.option("--operations", default=OPERATIONS, type=click.IntRange(1), help="Of each.", show_default=True)
@click.option("--processes", default=os.cpu_count() or 1, type=click.IntRange(1), help="At the same time.")
@click.option("-v", "--verbose", is_flag=True, help="Show every operation.")
def main(profile: str, seed: int, histories: int, operations: int, processes: int, verbose: bool) -> None:
    names = list(PROFILES) if profile == "all" else [profile]
    is_sound = True
    for name in names:
        if histories == 1:
            is_sound &= _play_one(name, seed, operations, verbose)
        else:
            is_sound &= _play_many(name, seed, histories, operations, processes)
    sys.exit(0 if is_sound else 1)


def _play_one(profile: str, seed: int, operations: int, verbose: bool) -> bool:
    played = history(profile, seed, operations)
    if verbose:
        for operation in played.operations:
            click.echo(to_line(operation), nl=False)
    click.echo(f"{profile}, seed {seed}: {len(played.operations)} operations")
    _tell(played)
    return not played.wrong


def _play_many(profile: str, seed: int, histories: int, operations: int, processes: int) -> bool:
    begun = monotonic()
    count, broken = 0, 0
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(profile, total=histories)
        for tally in play_in_processes(profile, range(seed, seed + histories), processes, operations):
            progress.advance(task, tally.histories)
            count += tally.operations
            for each in tally.broken:
                broken += 1
                if broken <= BROKEN_SHOWN_MAX:
                    _tell(each)
    seconds = monotonic() - begun
    click.echo(
        f"{profile}: {histories:,} histories from seed {seed} on, {count:,} operations, {broken:,} broken; "
        f"{histories / seconds:.0f} histories a second"
    )
    return not broken


def _tell(played: History) -> None:
    for sentence in played.wrong:
        click.echo(f"  {sentence}")
    if played.wrong:
        click.echo(f"  again: {played.command}")


if __name__ == "__main__":
    main()
