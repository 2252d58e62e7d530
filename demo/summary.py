"""The end of the tour: a table of what was found, and a plot, in the terminal."""

from collections.abc import Sequence

from demo.shop import Counted
from rich import box
from rich.console import Console
from rich.table import Table

_BAR_COLUMNS = 48
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def show_summary(console: Console, found: Sequence[Counted]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("where")
    for heading in ("found", "expected", "twice"):
        table.add_column(heading, justify="right")
    for each in found:
        table.add_row(each.place, f"{each.found:,}", f"{each.expected:,}", f"{each.twice:,}")
    console.print(table)


def show_plot(console: Console, points: Sequence[tuple[str, float]], title: str) -> None:
    """A bar for each point, to an eighth of a character."""
    console.print(title, style="bold")
    most = max((value for _, value in points), default=1.0)
    for label, value in points:
        whole, rest = divmod(round(value / most * _BAR_COLUMNS * 8), 8)
        bar = "█" * whole + _EIGHTHS[rest].strip()
        console.print(f"{label} [green]{bar:<{_BAR_COLUMNS}}[/] {value:>10,.2f}")
