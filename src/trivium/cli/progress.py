"""How far long work has come, on standard error, and only where somebody watches a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

REFRESHES_PER_SECOND = 4


@contextmanager
def progress(
    title: str, total: int | None, unit: str, *, is_typed: bool = False
) -> Iterator[Callable[[int], None]]:
    """Gives a function to call with how much more is done; ``total`` is None where nobody knows the end.

    ``is_typed``: the work is what somebody types, and a bar would stand between the lines.
    """
    if is_typed or not sys.stderr.isatty():
        yield lambda more: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} " + unit),
        TimeElapsedColumn(),
    ]
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, refresh_per_second=REFRESHES_PER_SECOND) as bar:
        task = bar.add_task(title, total=total)
        yield lambda more: bar.advance(task, more)
